"""Systems of several reports side by side, and which differences are more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from voicenym.evaluation.results import Evaluation, Measured
from voicenym.evaluation.saved_scores import Kept
from voicenym.metrics.bootstrap_draws import Drawn
from voicenym.metrics.paired import differences as drawn_differences
from voicenym.metrics.paired import two_sided

NINETY_FIVE = 1.959964
LEVEL = 0.05
LEAST = 0.001
"""Smaller chances are not told apart: intervals are no truer than that."""
COLUMNS = (("WER", "WER %", 1), ("DNSMOS", "DNSMOS", 2), ("G_VD", "G_VD dB", 1))
PAIRED, UNPAIRED = "paired", "unpaired"
NOTHING = Kept(np.empty((0, 2), dtype=str), {})
Named = tuple[str, Evaluation] | tuple[str, Evaluation, Kept | None]
"""A report: its name, what was found, and what was kept of its trials."""


@dataclass(frozen=True)
class Difference:
    """Of a figure of two systems.

    Args:
        first, second: names.
        points: second minus first, in percentage points.
        p: two-sided, of no difference, corrected for the number of pairs (:func:`holm`).
        interval: of the points; None where it is not known.
        paired: tested on speakers whom both systems were tried on, drawn for both at once.
    """

    first: str
    second: str
    points: float
    p: float
    interval: tuple[float, float] | None = None
    paired: bool = False


@dataclass(frozen=True)
class Compared:
    """A system's figure, and where it came from.

    Args:
        name: of the system, with its report.
        figure: in percent.
        drawn: the same as a share, to be drawn again; None where its trials were not kept.
    """

    name: str
    figure: Measured
    drawn: Drawn | None = None


def differences(
    measured: Sequence[Compared], replicates: int = 1000, seed: int = 0
) -> list[Difference]:
    """All pairs: those that share their speakers by a paired bootstrap, the others by intervals.

    Intervals are taken as independent and normal; systems that were tried on the same people
    differ less by chance than that, so that it errs toward "no difference". Of figures without
    interval nothing is said.

    Args:
        measured: systems, each with its figure.
        replicates, seed: of the bootstrap.
    """
    paired = _paired(measured, replicates, seed)
    raw = []
    for (i, first), (j, second) in combinations(enumerate(measured), 2):
        found = paired.get((i, j)) or _unpaired(first, second)
        if found is not None and not math.isnan(found.p):
            raw.append(found)
    chances = holm([difference.p for difference in raw])
    return [replace(found, p=p) for found, p in zip(raw, chances, strict=True)]


def holm(chances: Sequence[float]) -> list[float]:
    """Chances corrected for their number: the smallest by all, the next by one less, never falling.

    Holm, "A simple sequentially rejective multiple test procedure" (Scand. J. Statistics 6, 1979).

    Example:
        >>> holm([0.5, 0.01, 0.02])
        [0.5, 0.03, 0.04]
    """
    order = sorted(range(len(chances)), key=lambda i: chances[i])
    corrected, running = [0.0] * len(chances), 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, chances[i] * (len(chances) - rank)))
        corrected[i] = running
    return corrected


def _paired(
    measured: Sequence[Compared], replicates: int, seed: int
) -> dict[tuple[int, int], Difference]:
    """Pairs by their places, of systems whose figures depend on the very same speakers."""
    groups: dict[bytes, list[int]] = {}
    for place, system in enumerate(measured):
        if system.drawn is not None and len(system.drawn.speakers) > 1:
            told = "\0".join(map(str, system.drawn.speakers.tolist()))
            groups.setdefault(told.encode(), []).append(place)
    found = {}
    for places in groups.values():
        figures = [drawn for i in places if (drawn := measured[i].drawn) is not None]
        for (a, b), d in drawn_differences(figures, replicates=replicates, seed=seed).items():
            i, j = places[a], places[b]
            low, high = d.interval
            # what the report says, to its last digit
            points = measured[j].figure.value - measured[i].figure.value
            found[i, j] = Difference(
                measured[i].name, measured[j].name, points, d.p, (100 * low, 100 * high), True
            )
    return found


def _unpaired(first: Compared, second: Compared) -> Difference | None:
    errors = _error(first.figure), _error(second.figure)
    gap = second.figure.value - first.figure.value
    if errors[0] is None or errors[1] is None or math.isnan(gap):
        return None
    spread = math.hypot(errors[0], errors[1])
    interval = gap - NINETY_FIVE * spread, gap + NINETY_FIVE * spread
    return Difference(first.name, second.name, gap, two_sided(gap, spread), interval)


def compare(reports: Sequence[Named], replicates: int = 1000) -> str:
    """A table for a terminal, and the differences below it.

    Args:
        reports: evaluations with their names, and what was kept of them, where something was.
        replicates: of the bootstrap.
    """
    heads = ["system", "EER %", "strongest attacker", *(head for _, head, _ in COLUMNS)]
    rows = [heads]
    rates: list[Compared] = []
    words: list[Compared] = []
    for report, evaluation, *more in reports:
        kept = more[0] if more and more[0] is not None else NOTHING
        for system in evaluation.systems:
            name = _plain(f"{report}: {system.name}")
            top = system.strongest
            rates.append(Compared(name, top.eer, kept.eer(system.name)))
            if "WER" in system.utility:
                heard = kept.wer(system.name)
                words.append(Compared(name, system.utility["WER"], heard))
            utility = [_cell(system.utility.get(metric), digits) for metric, _, digits in COLUMNS]
            rows.append([name, _cell(top.eer, 1), _plain(top.attacker), *utility])
    lines = _aligned(rows)
    lines.insert(1, "-" * max(map(len, lines)))
    data = {_plain(report[1].data) for report in reports}
    if len(data) > 1:
        lines += ["", f"Different data ({'; '.join(sorted(data))}): compare with care."]
    found = [
        ("the strongest attackers' EER", differences(rates, replicates)),
        ("WER", differences(words, replicates)),
    ]
    for what, pairs in found:
        if pairs:
            lines += ["", f"Differences of {what}, in points, with 95 % intervals:", ""]
            lines += _aligned([_said(difference) for difference in pairs])
    if any(pairs for _, pairs in found):
        lines += ["", *_explained([d for _, pairs in found for d in pairs], found)]
    return "\n".join(lines)


def _explained(
    every: Sequence[Difference], found: Sequence[tuple[str, Sequence[Difference]]]
) -> list[str]:
    counts = [str(len(pairs)) for _, pairs in found if pairs]
    lines = [
        "In brackets: 95 % intervals. p: two-sided, with Holm's correction for "
        f"{' and '.join(counts)} pairs."
    ]
    if any(d.paired for d in every):
        lines.append("paired: both were tried on the same people, who are drawn for both at once.")
    if not all(d.paired for d in every):
        lines += [
            "unpaired: from the two intervals, as if they were independent. The people are not the "
            "same, or",
            "the report was written without its scores (scores.npz); differences may be real where "
            "none is shown.",
        ]
    return lines


def _said(found: Difference) -> list[str]:
    p = f"p < {LEAST:g}" if found.p < LEAST else f"p = {found.p:.3f}"
    verdict = "differ" if found.p < LEVEL else "no difference shown"
    limits = ""
    if found.interval is not None and not any(map(math.isnan, found.interval)):
        limits = f"[{found.interval[0]:+.1f}, {found.interval[1]:+.1f}]"
    how = PAIRED if found.paired else UNPAIRED
    points = f"{found.points:+.1f}"
    return [f"{found.second} against {found.first}", points, limits, p, how, verdict]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]


def _error(m: Measured) -> float | None:
    """Standard error, from half of the interval's width."""
    if m.low is None or m.high is None:
        return None
    error = (m.high - m.low) / (2.0 * NINETY_FIVE)
    return error if math.isfinite(error) else None


def _plain(text: str) -> str:
    """A name without signs that a terminal obeys."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _cell(m: Measured | None, digits: int) -> str:
    if m is None:
        return "not measured"
    text = _number(m.value, digits)
    if m.low is None or m.high is None:
        return text
    return f"{text} [{_number(m.low, digits)}, {_number(m.high, digits)}]"


def _number(value: float, digits: int) -> str:
    if math.isnan(value):
        return "unknown"
    return f"{round(value, digits) + 0.0:.{digits}f}" if math.isfinite(value) else str(value)
