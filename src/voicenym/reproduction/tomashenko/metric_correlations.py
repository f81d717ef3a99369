"""Metric against metric: figures 17 to 22 of the supplement to Tomashenko et al. 2022."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from voicenym.reproduction import published_checks
from voicenym.reproduction.bench import Bench
from voicenym.reproduction.outcome import Figure, Finding, OurPanel, OurRow, absent
from voicenym.reproduction.panel_drawings import scatter
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.table_rows import SEXES, attacked, useful
from voicenym.reproduction.tomashenko.challenge_speech import attacker_of, counterparts

Points = Mapping[str, Sequence[tuple[float, float]]]
"""Points of two metrics, by system."""
INFORMED = ("lazy-informed", "semi-informed")
ATTACKS = ("ignorant", *INFORMED)


def against(
    first: str,
    second: str,
    metrics: tuple[str, str],
    claim: str = "",
    holds: Callable[[float], bool] = lambda r: True,
    attacks: Sequence[str] = INFORMED,
) -> Callable[[Bench], Ours]:
    """Computation of the scatter plots of one metric against another.

    Args:
        first, second: beginnings of the titles of the paper's panels.
        metrics: the same in this package.
        claim: of the paper; empty for none.
        holds: whether the claim holds with a correlation.
        attacks: that the claim is about.
    """
    tables = [f"table-{n}" for n in range(2, 16)]

    def compute(bench: Bench) -> Ours:
        columns = ("theirs, r", "theirs, pairs", "ours, r", "ours, pairs")
        rows, pairs, own = [], {}, {}
        for attack in ATTACKS:
            theirs, count = published_checks.correlation(tables, first, second, (attack,))
            own[attack] = of_bench(bench, attacker_of(bench, attack), metrics)
            pairs[attack] = flat(own[attack])
            rows.append(correlations(attack, theirs, count, pairs[attack]))
        findings = []
        if claim:
            theirs, count = published_checks.correlation(tables, first, second, attacks)
            words = f"{claim}, in the paper's numbers"
            findings.append(_finding(words, theirs, count, holds, arithmetic=True))
            mine = [pair for attack in attacks for pair in pairs[attack]]
            ours = correlations("", theirs, count, mine).figures[2].value
            if ours is not None:
                findings.append(_finding(f"{claim}, here", ours, len(mine), holds))
        printed = {attack: published_checks.points(tables, first, second, (attack,))
                   for attack in ATTACKS}  # fmt: skip
        drawings = [("theirs.svg", scatter(printed, _axis(second), _axis(first)))]
        if any(own.values()):
            drawings.append(("ours.svg", scatter(own, _axis(second), _axis(first))))
        panel = OurPanel("Pearson's r", columns, tuple(rows), 3)
        return Ours((panel,), tuple(findings), (), tuple(drawings))

    return compute


def _finding(
    claim: str, r: float, count: int, holds: Callable[[float], bool], *, arithmetic: bool = False
) -> Finding:
    """A finding on a correlation, undecided where its interval holds both answers."""
    low, high = published_checks.interval_of_correlation(r, count)
    answers = {holds(low), holds(r), holds(high)}
    verdict = holds(r) if len(answers) == 1 else None
    evidence = f"r = {r:.3f} ({low:.3f} to {high:.3f}) of {count} pairs"
    return Finding(claim, verdict, evidence, arithmetic=arithmetic)


def correlations(
    label: str, theirs: float, count: int, pairs: Sequence[tuple[float, float]]
) -> OurRow:
    """Row of the paper's correlation and number of pairs, and of ours."""
    own = absent("needs --speech" if not pairs else "fewer than three systems")
    if len(pairs) > 2:
        x, y = np.array(pairs).T
        own = Figure(float(np.corrcoef(x, y)[0, 1]))
    return OurRow(label, (Figure(theirs), Figure(float(count)), own, Figure(float(len(pairs)))))


def of_bench(bench: Bench, attacker: str, metrics: tuple[str, str]) -> Points:
    """Two metrics of every counterpart, a point a sex, by the paper's name; none without speech."""
    if bench.speech is None:
        return {}
    found: dict[str, list[tuple[float, float]]] = {}
    for name, system in counterparts(bench)[0].items():
        for sex in SEXES:
            values = []
            for metric in metrics:
                of_voices = metric in ("DeID", "G_VD")
                figure = (useful(bench, system, metric, sex) if of_voices
                          else attacked(bench, system, attacker, metric, sex))  # fmt: skip
                values.append(figure.value)
            if all(value is not None and math.isfinite(value) for value in values):
                found.setdefault(name, []).append((values[0] or 0.0, values[1] or 0.0))
    return found


def flat(points: Points) -> list[tuple[float, float]]:
    """Points of all systems."""
    return [point for own in points.values() for point in own]


def _axis(metric: str) -> str:
    """Label of an axis, with the metric's unit."""
    return metric + {"EER": ", %", "D_ECE": ", bit", "worst case": ", log10(l)"}.get(metric, "")
