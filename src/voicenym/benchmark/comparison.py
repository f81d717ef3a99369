"""Systems of several reports side by side, and which differences are more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

from voicenym.benchmark.results import Evaluation, Measured

NINETY_FIVE = 1.959964
LEVEL = 0.05
LEAST = 0.001
"""Smaller chances are not told apart: intervals are no truer than that."""
COLUMNS = (("WER", "WER %", 1), ("DNSMOS", "DNSMOS", 2), ("G_VD", "G_VD dB", 1))


@dataclass(frozen=True)
class Difference:
    """Of two systems' headline EERs.

    Args:
        first, second: names.
        points: second minus first, in percentage points.
        p: two-sided, of no difference, corrected for the number of pairs (Holm 1979).
    """

    first: str
    second: str
    points: float
    p: float


def differences(measured: Sequence[tuple[str, Measured]]) -> list[Difference]:
    """All pairs, from their 95 % intervals, taken as independent and normal.

    Systems that were tried on the same trials differ less by chance than this takes them to, so
    that it errs toward "no difference". Of figures without interval nothing is said.

    Args:
        measured: names, and figures with intervals.
    """
    raw = []
    for (first, a), (second, b) in combinations(measured, 2):
        errors = _error(a), _error(b)
        gap = b.value - a.value
        if errors[0] is None or errors[1] is None or math.isnan(gap):
            continue
        spread = math.hypot(errors[0], errors[1])
        z = abs(gap) / spread if spread > 0 else (math.inf if gap else 0.0)
        raw.append((first, second, gap, 2.0 * NormalDist().cdf(-z) if z < math.inf else 0.0))
    order = sorted(range(len(raw)), key=lambda i: raw[i][3])
    corrected, running = [0.0] * len(raw), 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, raw[i][3] * (len(raw) - rank)))
        corrected[i] = running
    return [Difference(*pair[:3], p) for pair, p in zip(raw, corrected, strict=True)]


def compare(evaluations: Sequence[tuple[str, Evaluation]]) -> str:
    """A table for a terminal, and the differences below it.

    Args:
        evaluations: with the names of their reports.
    """
    heads = ["system", "EER %", "strongest attacker", *(head for _, head, _ in COLUMNS)]
    rows = [heads]
    headline = []
    for report, evaluation in evaluations:
        for system in evaluation.systems:
            name = _plain(f"{report}: {system.name}")
            top = system.strongest
            headline.append((name, top.eer))
            utility = [_cell(system.utility.get(metric), digits) for metric, _, digits in COLUMNS]
            rows.append([name, _cell(top.eer, 1), _plain(top.attacker), *utility])
    lines = _aligned(rows)
    lines.insert(1, "-" * max(map(len, lines)))
    data = {_plain(evaluation.data) for _, evaluation in evaluations}
    if len(data) > 1:
        lines += ["", f"Different data ({'; '.join(sorted(data))}): compare with care."]
    found = differences(headline)
    if found:
        lines += [
            "",
            "In brackets: 95 % intervals. Differences of the strongest attackers' EER, in points:",
            "",
        ]
        lines += _aligned([_said(difference) for difference in found])
        lines += [
            "",
            f"p: two-sided, from the 95 % intervals, with Holm's correction for {len(found)} pairs;"
            " systems are",
            "taken as independent, so that differences may be real where none is shown. On the same"
            " trials a",
            "paired test would be possible, and would find smaller ones.",
        ]
    return "\n".join(lines)


def _said(found: Difference) -> list[str]:
    p = f"p < {LEAST:g}" if found.p < LEAST else f"p = {found.p:.3f}"
    verdict = "differ" if found.p < LEVEL else "no difference shown"
    return [f"{found.second} against {found.first}", f"{found.points:+.1f}", p, verdict]


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
