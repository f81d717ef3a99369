"""Table of the cards' figures in a README or another page."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.evaluation.card_figures import (
    FIGURES,
    ORIGINAL,
    WORDS,
    data_of,
    learned_from,
    nameless,
)
from voicenym.evaluation.reports import live_figures
from voicenym.evaluation.results import Evaluation

BEGIN, END = "<!-- figures: voicenym cards --update -->", "<!-- end of figures -->"

HEADING = (
    "| system | EER %, strongest attacker | which | EER %, ignorant | WER % | PER % | DNSMOS "
    "| RTF |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
)
"""Head of the table, a line each."""

Row = Mapping[str, Any]


def write_readme(path: Path, evaluation: Evaluation | None, file: Path = FIGURES) -> None:
    """Replaces the tables between the marks of a README or another page.

    Args:
        path: of the page, with the marks of this module, of :mod:`live_figures`, or both.
        evaluation: report with the data of the table; None for the data of the card of original
            speech.
        file: of the cards' figures, as of :func:`voicenym.evaluation.card_figures.write`.

    Raises:
        VoicenymError: the marks are missing.
    """
    text = path.read_text("utf-8")
    cards = json.loads(file.read_text("utf-8"))
    data = cards[ORIGINAL][0]["data"] if evaluation is None else data_of(evaluation)
    found = 0
    for begin, end in ((BEGIN, END), (live_figures.BEGIN, live_figures.END)):
        before, mark, after = text.partition(begin)
        _, closing, rest = after.partition(end)
        if mark and closing:
            table = markdown(cards, data) if begin == BEGIN else live_figures.markdown(cards)
            text = f"{before}{begin}\n{table}\n{end}{rest}"
            found += 1
    if not found:
        raise VoicenymError(f"{path}: has no place for the table; put {BEGIN} and {END} into it")
    path.write_text(text, "utf-8")


def markdown(cards: dict[str, list[dict[str, Any]]], data: str) -> str:
    """Table of all systems that were measured on the same data, the best protection first.

    Systems whose output of some speakers is silent were measured on the others; the table says so.

    Args:
        cards: figures by system, as :func:`voicenym.evaluation.card_figures.write` stores them.
        data: on which they were measured.
    """
    same = {
        name: rows
        for name, rows in cards.items()
        if rows and _speech(rows[0]["data"]) == _speech(data) and ":" not in name
    }
    bare = same.pop(ORIGINAL, [])
    best_first = sorted(same, key=lambda name: _strongest_rate(same[name]), reverse=True)
    dates = sorted({row["date"] for rows in same.values() for row in rows})
    when = dates[0] if len(set(dates)) == 1 else f"{dates[0]} to {dates[-1]}"
    return "\n".join(
        [
            *HEADING,
            *([_original_line(bare)] if bare else []),
            *(_system_line(name, same[name]) for name in best_first),
            f"\n{data}, {when}; 95 % intervals over speakers; 50 % is chance.",
            *(
                f"`{name}`: {rows[0]['data'].rpartition(', ')[2]}; recordings that it leaves "
                "silent are left out."
                for name, rows in same.items()
                if rows[0]["data"] != data
            ),
            *_learned(same),
            *_judges([bare, *same.values()]),
        ]
    )


def _original_line(rows: Sequence[Row]) -> str:
    return (
        f"| (original) | {_cell(_lowest(rows, 'EER'))} | no protection | | {_words(rows)} | "
        f"{_cell(_lowest(rows, 'DNSMOS'), 2)} | |"
    )


def _system_line(name: str, rows: Sequence[Row]) -> str:
    top, speed = _strongest(rows), _lowest(rows, "RTF")
    return (
        f"| `{name}` | {_cell(top)} | {'' if top is None else _attacker(top)} | "
        f"{_cell(_lowest(rows, 'EER', 'ignorant'))} | {_words(rows)} | "
        f"{_cell(_lowest(rows, 'DNSMOS'), 2)} | "
        f"{'not measured' if speed is None else format(speed['value'], '.4f')} |"
    )


def _cell(row: Row | None, digits: int = 1) -> str:
    """A figure with its interval."""
    if row is None:
        return "not measured"
    text = f"{row['value']:.{digits}f}"
    if row["low"] is not None and row["high"] is not None:
        text += f" ({row['low']:.{digits}f}–{row['high']:.{digits}f})"
    return text


def _lowest(rows: Sequence[Row], metric: str, start: str = "") -> Row | None:
    """The least figure of a metric, of conditions that begin so; None if there is none."""
    found = [r for r in rows if r["metric"] == metric and r["condition"].startswith(start)]
    return min(found, key=lambda r: float(r["value"]), default=None)


def _words(rows: Sequence[Row]) -> str:
    """Errors of words by a named recogniser, and of phones."""
    named = [row for row in rows if not nameless(row)]
    return f"{_cell(_lowest(named, 'WER'))} | {_cell(_lowest(named, 'PER'))}"


def _strongest_rate(rows: Sequence[Row]) -> float:
    """Equal error rate of the strongest attacker, for the order; -1 if none was measured."""
    row = _strongest(rows)
    return -1.0 if row is None else float(row["value"])


def _strongest(rows: Sequence[Row]) -> Row | None:
    """Figure of the strongest attacker without the key; None if no such attacker has one."""
    return next(iter(live_figures.rates_without_key(rows)), None)


def _attacker(row: Row) -> str:
    """Name of the attacker of a figure, without its verifier."""
    return str(row["condition"]).partition(",")[0]


def _speech(data: str) -> str:
    """What was measured on, without the number of speakers."""
    return re.sub(r", \d+ speakers$", "", data)


def _learned(cards: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Sentence on how many recordings the strongest attackers learned from."""
    top = {name: _strongest(rows) for name, rows in cards.items()}
    learned = {name: learned_from(row) for name, row in top.items() if row is not None}
    counts = {name: count for name, count in learned.items() if count}
    if not counts:
        return []
    usual = Counter(counts.values()).most_common(1)[0][0]
    others = [f"on `{name}` {count:,}" for name, count in sorted(counts.items()) if count != usual]
    also = f"; {', '.join(others)}" if others else ""
    return [
        f"Attackers that train learned from {usual:,} recordings of other people{also}. With more "
        "they find more."
    ]


def _judges(cards: Sequence[Sequence[Mapping[str, Any]]]) -> list[str]:
    """Recognisers of words and phones, and their data; a sentence if there are none."""
    found = []
    for metric, subject in (("WER", WORDS), ("PER", "phones")):
        judged = [r for rows in cards for r in rows if r["metric"] == metric and not nameless(r)]
        who = sorted({f"{r['condition'].partition(', ')[2]} on {r['data']}" for r in judged})
        if who:
            found.append(f"{metric} by {'; '.join(who)}.")
        elif subject == WORDS:
            found.append("Words not measured by a recogniser without knowledge of the texts.")
        else:
            found.append("Phones not measured.")
    return found
