"""Figures of a report onto the systems' cards, and into a README's table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import voicenym.systems
from voicenym.benchmark.results import Evaluation, Measured, SystemResults
from voicenym.errors import VoicenymError
from voicenym.system import available

FIGURES = Path(next(iter(voicenym.systems.__path__))) / "figures.json"
BEGIN, END = "<!-- figures: voicenym cards --update -->", "<!-- end of figures -->"
ORIGINAL = "original"
UTILITY = (
    "WER",
    "CER",
    "DNSMOS",
    "rho_F0",
    "rho_F0 by chance",
    "G_VD",
    "DeID",
    "D_KS",
    "SNR",
    "RTF",
)


def write(evaluation: Evaluation, file: Path = FIGURES) -> Path:
    """Put the figures of a report's systems on their cards; other systems keep theirs.

    Raises:
        VoicenymError: the report is of systems that are not ours.
    """
    names = [system.name for system in evaluation.systems]
    foreign = sorted(set(names) - set(available()))
    if foreign:
        raise VoicenymError(f"{foreign[0]} is no system of voicenym and has no card")
    cards: dict[str, list[dict[str, Any]]] = {}
    if file.is_file():
        cards = json.loads(file.read_text("utf-8"))
    for system in evaluation.systems:
        cards[system.name] = rows(system, evaluation)
    cards[ORIGINAL] = [
        *(
            _row("EER", f"{a.attacker}, {a.verifier}", a.eer, evaluation)
            for a in evaluation.unprotected
        ),
        *(
            _row(metric, "original", evaluation.utility[metric], evaluation)
            for metric in UTILITY
            if metric in evaluation.utility
        ),
    ]
    temporary = file.with_suffix(".tmp")
    temporary.write_text(json.dumps(cards, indent=1, sort_keys=True) + "\n", "utf-8")
    temporary.replace(file)
    return file


def rows(system: SystemResults, evaluation: Evaluation) -> list[dict[str, Any]]:
    """Fields of :class:`voicenym.system.Figure`: the strongest attacker first."""
    strongest = system.strongest
    others = sorted(
        (a for a in system.attacks if a is not strongest),
        key=lambda a: (a.holds_key, a.eer.value),
    )
    found = [
        _row("EER", f"{a.attacker}, {a.verifier}", a.eer, evaluation) for a in (strongest, *others)
    ]
    for metric in UTILITY:
        if metric in system.utility:
            found.append(_row(metric, "anonymized", system.utility[metric], evaluation))
    return found


def _row(metric: str, condition: str, m: Measured, evaluation: Evaluation) -> dict[str, Any]:
    def short(value: float | None) -> float | None:
        return None if value is None else float(f"{value:.4g}")

    return {
        "metric": metric,
        "condition": condition,
        "value": short(m.value),
        "low": short(m.low),
        "high": short(m.high),
        "unit": m.unit,
        "data": f"{evaluation.data}, {evaluation.speakers} speakers",
        "date": evaluation.date,
    }


def write_readme(path: Path, evaluation: Evaluation) -> None:
    """Replace the table between the two marks of a README.

    Raises:
        VoicenymError: the marks are not there.
    """
    text = path.read_text("utf-8")
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if not pattern.search(text):
        raise VoicenymError(f"{path}: has no place for the table; put {BEGIN} and {END} into it")
    table = f"{BEGIN}\n{markdown(evaluation)}\n{END}"
    path.write_text(pattern.sub(lambda _: table, text), "utf-8")


def markdown(evaluation: Evaluation) -> str:
    """The table: systems, the strongest attacker first."""

    def cell(m: Measured | None, digits: int = 1) -> str:
        if m is None:
            return "not measured"
        text = f"{m.value:.{digits}f}"
        if m.low is not None and m.high is not None:
            text += f" ({m.low:.{digits}f}–{m.high:.{digits}f})"
        return text

    head = "| system | EER %, strongest attacker | which | EER %, ignorant | WER % | DNSMOS | RTF |"
    lines = [head, "| --- | --- | --- | --- | --- | --- | --- |"]
    bare = min(evaluation.unprotected, key=lambda a: a.eer.value)
    lines.append(
        f"| (original) | {cell(bare.eer)} | no protection | | "
        f"{cell(evaluation.utility.get('WER'))} | {cell(evaluation.utility.get('DNSMOS'), 2)} | |"
    )
    for system in sorted(evaluation.systems, key=lambda s: -s.strongest.eer.value):
        ignorant = min(
            (a for a in system.attacks if a.attacker == "ignorant"), key=lambda a: a.eer.value
        )
        speed = system.utility.get("RTF")
        lines.append(
            f"| `{system.name}` | {cell(system.strongest.eer)} | {system.strongest.attacker} | "
            f"{cell(ignorant.eer)} | {cell(system.utility.get('WER'))} | "
            f"{cell(system.utility.get('DNSMOS'), 2)} | "
            f"{'not measured' if speed is None else f'{speed.value:.4f}'} |"
        )
    lines.append(
        f"\n{evaluation.data}, {evaluation.speakers} speakers, {evaluation.date}; 95 % intervals "
        "over speakers; 50 % is chance."
    )
    return "\n".join(lines)
