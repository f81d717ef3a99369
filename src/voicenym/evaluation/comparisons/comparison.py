"""Systems of several reports side by side, with tests of their differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from voicenym.evaluation.comparisons.compared_attackers import by_access, lacking
from voicenym.evaluation.comparisons.saved_scores import SavedScores
from voicenym.evaluation.grades import ungraded
from voicenym.evaluation.reported_metrics import headline, metrics
from voicenym.evaluation.results import Evaluation, Measured
from voicenym.metrics.intervals.bootstrap_draws import Drawn
from voicenym.metrics.intervals.interval import FEW_PEOPLE
from voicenym.metrics.joint_figures.paired import differences as drawn_differences
from voicenym.metrics.joint_figures.paired import two_sided
from voicenym.metrics.metric import Metric
from voicenym.metrics.metric_inputs import TrialScores

NINETY_FIVE = 1.959964
LEVEL = 0.05
LEAST = 0.001
"""Smaller p values are printed as ``p < 0.001``: intervals are not more accurate than that."""
PAIRED, UNPAIRED = "paired", "unpaired"
NOTHING = SavedScores(np.empty((0, 2), dtype=str), {})
Named = tuple[str, Evaluation] | tuple[str, Evaluation, SavedScores | None]
"""A report: its name, its results, and its saved scores."""


@dataclass(frozen=True)
class Difference:
    """Difference of a figure between two systems.

    Args:
        first, second: names.
        points: second minus first, in percentage points.
        p: two-sided p value, corrected for the number of pairs (:func:`holm`).
        interval: of the points; None if unknown.
        paired: whether the test is paired: both systems have the same speakers in each draw.
        others: whether other attackers ran on one of them, or with more to learn from.
    """

    first: str
    second: str
    points: float
    p: float
    interval: tuple[float, float] | None = None
    paired: bool = False
    others: bool = False


@dataclass(frozen=True)
class Compared:
    """A system's figure, and its value for drawn speakers.

    Args:
        name: of the system, with its report.
        figure: in percent.
        drawn: the figure as a share for drawn speakers; None without saved scores.
    """

    name: str
    figure: Measured
    drawn: Drawn | None = None


def differences(
    measured: Sequence[Compared], replicates: int = 1000, seed: int = 0
) -> list[Difference]:
    """Differences of all pairs: by a paired bootstrap if the speakers are the same, else by
    intervals.

    The test by intervals assumes that they are independent and normal. Systems with the same
    speakers differ less by chance, so that this test is conservative. Figures without an interval
    are left out.

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
    """Holm's correction of p values for their number.

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
    """Tests of pairs of systems whose figures depend on the same speakers, by their places."""
    groups: dict[bytes, list[int]] = {}
    for place, system in enumerate(measured):
        if system.drawn is not None and len(system.drawn.speakers) >= FEW_PEOPLE:
            speakers = "\0".join(map(str, system.drawn.speakers.tolist()))
            groups.setdefault(speakers.encode(), []).append(place)
    found = {}
    for places in groups.values():
        figures = [drawn for i in places if (drawn := measured[i].drawn) is not None]
        for (a, b), d in drawn_differences(figures, replicates=replicates, seed=seed).items():
            i, j = places[a], places[b]
            low, high = d.interval
            # the difference of the reported figures, to the last digit
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


@dataclass(frozen=True)
class Comparison:
    """Systems of several reports side by side.

    Args:
        metrics: compared ones, the headline first.
        systems: a record each: ``system``, the strongest ``attacker``, and ``figures`` by metric;
            attackers' figures of graded systems only (:mod:`voicenym.evaluation.grades`).
        differences: of all pairs, by the tested figure.
        notes: sentences on the data and on the tests.
    """

    metrics: tuple[Metric[Any], ...]
    systems: tuple[dict[str, Any], ...]
    differences: dict[str, list[Difference]]
    notes: tuple[str, ...]


def compared(reports: Sequence[Named], replicates: int = 1000) -> Comparison:
    """Figures of the systems of several reports, and tests of their differences.

    Args:
        reports: evaluations with their names, and their saved scores where there are some.
        replicates: of the bootstrap.
    """
    first = headline()
    others = [metric for metric in metrics() if metric.display.compared and metric is not first]
    systems: list[dict[str, Any]] = []
    tested: dict[str, list[Compared]] = {}
    notes: list[str] = []
    of: dict[str, tuple[str, Evaluation]] = {}
    alike: list[tuple[str, Evaluation]] = []
    attacked: set[str] = set()
    for report, evaluation, *more in reports:
        saved = more[0] if more and more[0] is not None else NOTHING
        parts = by_access(_plain(report), evaluation)
        alike += parts
        for system in evaluation.systems:
            name = _plain(f"{report}: {system.name}")
            of[name] = next(part for part in parts if system in part[1].systems)
            if why := ungraded(system):
                who, figures = "not graded", system.utility
                notes.append(f"{name} is not graded, since {why}.")
            else:
                who = _plain(system.strongest.attacker)
                figures = {**system.utility, **system.strongest.figures}
            displayed = {m.name: figures[m.name] for m in (first, *others) if m.name in figures}
            systems.append({"system": name, "attacker": who, "figures": displayed})
            for metric in (first, *others):
                if metric.redraw is not None and metric.name in figures:
                    drawn = saved.drawn(metric, system.name)
                    entry = Compared(name, figures[metric.name], drawn)
                    tested.setdefault(_what(metric), []).append(entry)
                    attacked |= {_what(metric)} if metric.data is TrialScores else set()
    found = {what: differences(rates, replicates) for what, rates in tested.items()}
    found = {what: pairs for what, pairs in found.items() if pairs}
    for what in attacked & set(found):
        found[what] = [
            replace(pair, others=bool(lacking([of[pair.first], of[pair.second]])))
            for pair in found[what]
        ]
    notes += lacking(alike).values()
    data = {_plain(report[1].data) for report in reports}
    if len(data) > 1:
        notes.append(f"Different data ({'; '.join(sorted(data))}): compare with care.")
    return Comparison((first, *others), tuple(systems), found, (*notes, *_explained(found)))


def compare(reports: Sequence[Named], replicates: int = 1000) -> str:
    """Comparison as one text, with lines as wide as its tables.

    Args:
        reports: evaluations with their names, and their saved scores where there are some.
        replicates: of the bootstrap.
    """
    found = compared(reports, replicates)
    first, *others = found.metrics
    rows = [["system", first.column, "strongest attacker", *(m.column for m in others)]]
    for system in found.systems:
        top, *more = (figure(system, metric) for metric in found.metrics)
        rows.append([system["system"], top, system["attacker"], *more])
    lines = _aligned(rows)
    lines.insert(1, "-" * max(map(len, lines)))
    for what, pairs in found.differences.items():
        lines += ["", f"Differences of {what}, in points, with 95 % intervals:", ""]
        lines += _aligned([list(cells(pair).values()) for pair in pairs])
    return "\n".join([*lines, *(["", *found.notes] if found.notes else [])])


def figure(system: dict[str, Any], metric: Metric[Any]) -> str:
    """Text of a figure of a record of :attr:`Comparison.systems`, with its interval."""
    return _cell(system["figures"].get(metric.name), metric.display.digits)


def _what(metric: Metric[Any]) -> str:
    """Name of a tested figure; figures of trials are those of the strongest attackers."""
    return f"the strongest attackers' {metric.name}" if metric.data is TrialScores else metric.name


def _explained(found: dict[str, list[Difference]]) -> list[str]:
    every = [difference for pairs in found.values() for difference in pairs]
    if not every:
        return []
    counts = [str(len(pairs)) for pairs in found.values()]
    notes = [
        "In brackets: 95 % intervals. p: two-sided, with Holm's correction for "
        f"{' and '.join(counts)} pairs."
    ]
    if any(d.paired for d in every):
        notes.append(
            "paired: both systems were tried on the same speakers, who are drawn for both at once."
        )
    if not all(d.paired for d in every):
        notes.append(
            "unpaired: from the two intervals, as if they were independent, because the speakers "
            "differ or are fewer than five, or a report has no scores (scores.npz). This test may "
            "miss differences."
        )
    return notes


def cells(found: Difference) -> dict[str, str]:
    """Texts of a difference: the pair, points, interval, p, test, verdict."""
    limits = ""
    if found.interval is not None and not any(map(math.isnan, found.interval)):
        limits = f"[{found.interval[0]:+.1f}, {found.interval[1]:+.1f}]"
    return {
        "pair": f"{found.second} against {found.first}",
        "points": f"{found.points:+.1f}",
        "interval": limits,
        "p": f"p < {LEAST:g}" if found.p < LEAST else f"p = {found.p:.3f}",
        "test": PAIRED if found.paired else UNPAIRED,
        "verdict": ("different" if found.p < LEVEL else "no significant difference")
        + (", by other attackers" if found.others else ""),
    }


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
    """A name without control characters."""
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
