"""Systems of several reports side by side, and which differences are more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

from voicenym.benchmark.results import Evaluation, Measured

NINETY_FIVE = 1.959964


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
    that it errs toward "no difference".

    Args:
        measured: names, and figures with intervals.
    """
    raw = []
    for (first, a), (second, b) in combinations(measured, 2):
        if None in (a.low, a.high, b.low, b.high):
            continue
        errors = [
            (m.high - m.low) / (2.0 * NINETY_FIVE)  # type: ignore[operator]
            for m in (a, b)
        ]
        spread = math.hypot(*errors)
        gap = b.value - a.value
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
    rows = [["system", "EER %, strongest attacker", "which", "WER %", "DNSMOS", "G_VD dB"]]
    headline = []
    for report, evaluation in evaluations:
        for system in evaluation.systems:
            name = f"{report}: {system.name}"
            headline.append((name, system.strongest.eer))
            utility = [system.utility.get(m) for m in ("WER", "DNSMOS", "G_VD")]
            cells = [_cell(m) for m in (system.strongest.eer, *utility)]
            rows.append([name, cells[0], system.strongest.attacker, *cells[1:]])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    lines.insert(1, "-" * len(lines[0]))
    data = {evaluation.data for _, evaluation in evaluations}
    if len(data) > 1:
        lines += ["", f"Different data ({'; '.join(sorted(data))}): compare with care."]
    lines += ["", "Differences of the strongest attackers' EER (95 % level, Holm's correction):"]
    for found in differences(headline):
        verdict = "differ" if found.p < 0.05 else "no difference shown"
        lines.append(
            f"  {found.second} against {found.first}: {found.points:+.1f} points, "
            f"p = {found.p:.3f}: {verdict}"
        )
    lines.append(
        "Systems are taken as independent; tried on the same recordings, smaller differences may "
        "be real."
    )
    return "\n".join(lines)


def _cell(m: Measured | None) -> str:
    if m is None:
        return "not measured"
    text = f"{m.value:.1f}"
    return text if m.low is None or m.high is None else f"{text} ({m.low:.1f}-{m.high:.1f})"
