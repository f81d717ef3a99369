"""Last lines of an evaluation: the data, each system's figures, and the path of the report."""

from __future__ import annotations

from pathlib import Path

from voicenym.errors import counted
from voicenym.evaluation.grades import ungraded
from voicenym.evaluation.reported_metrics import headline
from voicenym.evaluation.results import Evaluation, Measured, SystemResults, cell

PRICES = (("WER", " %", 1), ("DNSMOS", " of 5", 2))
"""Figures of utility that these lines show, with their unit and digits."""


def ending(evaluation: Evaluation, page: Path) -> list[str]:
    """Last lines in the form of those of ``voicenym anonymize`` and ``voicenym train``.

    Args:
        evaluation: the results.
        page: of its report.
    """
    lines = [
        f"evaluated: {counted(len(evaluation.systems), 'system')}, "
        f"{counted(evaluation.recordings, 'recording')} of "
        f"{counted(evaluation.speakers, 'speaker')}"
    ]
    without = min((attack.eer.value for attack in evaluation.unprotected), default=None)
    for system in evaluation.systems:
        lines += [
            f"{system.name}: {_protection(system, without)}",
            *_price(system, evaluation.utility),
        ]
    return [*lines, f"written to: {page}"]


def _protection(system: SystemResults, without: float | None) -> str:
    why = ungraded(system)
    unknown = f"{why}; treat the protection as unknown"
    if not system.attacked or system.strongest.broken:
        return unknown
    top = system.strongest
    bare = "" if without is None else f"{without:.1f} % without a system, "
    return (
        f"strongest attacker {top.attacker}, EER {cell(top.eer)} % ({bare}"
        f"{headline().chance:g} % is chance)" + (f"; {unknown}" if why else "")
    )


def _price(system: SystemResults, original: dict[str, Measured]) -> list[str]:
    prices = []
    for name, unit, digits in PRICES:
        if (figure := system.utility.get(name)) is not None:
            before = f" ({original[name].value:.{digits}f} before)" if name in original else ""
            prices.append(f"{name} {figure.value:.{digits}f}{unit}{before}")
    return [f"{system.name}: price {', '.join(prices)}"] if prices else []
