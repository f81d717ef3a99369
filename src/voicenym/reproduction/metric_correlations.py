"""Metric against metric: figures 17 to 22 of the supplement to Tomashenko et al. 2022."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from voicenym.reproduction import published_checks
from voicenym.reproduction.bench import Bench
from voicenym.reproduction.challenge_speech import attacker_of, counterparts
from voicenym.reproduction.outcome import Figure, Finding, OurPanel, OurRow, absent
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.table_rows import SEXES, attacked, useful

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
        rows, pairs = [], {}
        for attack in ATTACKS:
            theirs, count = published_checks.correlation(tables, first, second, (attack,))
            pairs[attack] = _pairs(bench, attacker_of(bench, attack), metrics)
            rows.append(_correlations(attack, theirs, count, pairs[attack]))
        findings = []
        if claim:
            theirs, count = published_checks.correlation(tables, first, second, attacks)
            words = f"{claim}, in the paper's numbers"
            findings.append(_finding(words, theirs, count, holds, arithmetic=True))
            own = [pair for attack in attacks for pair in pairs[attack]]
            ours = _correlations("", theirs, count, own).figures[2].value
            if ours is not None:
                findings.append(_finding(f"{claim}, here", ours, len(own), holds))
        return Ours((OurPanel("Pearson's r", columns, tuple(rows), 3),), tuple(findings))

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


def _correlations(
    label: str, theirs: float, count: int, pairs: Sequence[tuple[float, float]]
) -> OurRow:
    own = absent("needs --speech" if not pairs else "fewer than three systems")
    if len(pairs) > 2:
        x, y = np.array(pairs).T
        own = Figure(float(np.corrcoef(x, y)[0, 1]))
    return OurRow(label, (Figure(theirs), Figure(float(count)), own, Figure(float(len(pairs)))))


def _pairs(bench: Bench, attacker: str, metrics: tuple[str, str]) -> list[tuple[float, float]]:
    """Two metrics of every counterpart and sex; none without speech."""
    if bench.speech is None:
        return []
    found = []
    for system in counterparts(bench)[0].values():
        for sex in SEXES:
            values = []
            for metric in metrics:
                of_voices = metric in ("DeID", "G_VD")
                figure = (useful(bench, system, metric, sex) if of_voices
                          else attacked(bench, system, attacker, metric, sex))  # fmt: skip
                values.append(figure.value)
            if all(value is not None and math.isfinite(value) for value in values):
                found.append((float(values[0] or 0.0), float(values[1] or 0.0)))
    return found
