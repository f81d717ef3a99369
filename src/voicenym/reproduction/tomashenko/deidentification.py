"""Figure 23 of the supplement to Tomashenko et al. 2022: de-identification and other metrics."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from voicenym.reproduction.bench import IGNORANT, Bench
from voicenym.reproduction.outcome import Finding, OurPanel, all_of, exceeds
from voicenym.reproduction.panel_drawings import scatter
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.published_figures import PublishedPanel, published
from voicenym.reproduction.table_rows import compared, useful
from voicenym.reproduction.tomashenko.challenge_speech import counterparts, one
from voicenym.reproduction.tomashenko.metric_correlations import (
    Points,
    correlations,
    flat,
    of_bench,
)

PAPER = "tomashenko-2022"
OTHERS = ("G_VD", "EER", "min C_llr")
DERIVED, SIGNAL, ALONE = ("A2", "B1", "M1", "O1", "S2"), ("B2", "D1", "I1"), "K2"
"""Primary systems derived from B1, those of signal processing, and the one that is neither."""
NEAR_PERFECT = 90.0
"""DeID in percent that stands for the paper's "near-to-perfect"."""


def _panels(metric: str, part: int) -> PublishedPanel:
    """Panel of a metric on development (0) or test data (1)."""
    every = published(PAPER)
    if metric in ("G_VD", "DeID"):
        return next(p for p in every[f"table-{8 + part}"] if p.title.startswith(metric))
    return next(p for p in every[f"table-{2 + part}"] if p.title.startswith(metric)
                and p.title.endswith("ignorant"))  # fmt: skip


def theirs(metric: str) -> dict[str, dict[str, tuple[float, float]]]:
    """The paper's points ``(metric, DeID in %)`` by system and data set, where both are legible."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for part, name in enumerate(("dev", "test")):
        panel, deid = _panels(metric, part), _panels("DeID", part)
        for label in deid.labels:
            for system in deid.columns:
                if system not in panel.columns:
                    continue
                x, y = panel.number(label, system), deid.number(label, system)
                if x is not None and y is not None:
                    found.setdefault(system, {})[f"{label} {name}"] = x, y
    return found


def figure(bench: Bench) -> Ours:
    """Figure 23: DeID against G_VD, EER and min C_llr, those two of the ignorant attacker."""
    points = {metric: theirs(metric) for metric in OTHERS}
    printed = {metric: {system: list(own.values()) for system, own in every.items()}
               for metric, every in points.items()}  # fmt: skip
    own = {metric: {name: [(x, 100.0 * y) for x, y in points]
                    for name, points in of_bench(bench, IGNORANT, (metric, "DeID")).items()}
           for metric in OTHERS}  # fmt: skip
    rows = [correlations(f"DeID, {metric}", *_r(printed[metric]), flat(own[metric]))
            for metric in OTHERS]  # fmt: skip
    columns = ("theirs, r", "theirs, pairs", "ours, r", "ours, pairs")
    findings = [*stated(points["G_VD"])]
    if bench.speech is not None:
        findings += _here(bench)
    drawings = [("theirs.svg", scatter(printed, "DeID, %"))]
    if any(own.values()):
        drawings.append(("ours.svg", scatter(own, "DeID, %")))
    panel = OurPanel("Pearson's r", columns, tuple(rows), 3)
    return Ours((panel,), tuple(findings), (), tuple(drawings))


def _r(points: Points) -> tuple[float, int]:
    pairs = np.array(flat(points))
    return float(np.corrcoef(*pairs.T)[0, 1]), len(pairs)


def stated(points: Mapping[str, Mapping[str, tuple[float, float]]]) -> list[Finding]:
    """Claims of section 3.7 in the printed numbers.

    Args:
        points: ``(G_VD, DeID)`` by system and data set.
    """
    least = {name: min(y for _, y in points[name].values()) for name in (*DERIVED, *SIGNAL, ALONE)}
    worst = min(DERIVED, key=lambda name: least[name])
    distinct = {
        where: all(points[s][where][0] > points[d][where][0]
                   for s in SIGNAL for d in DERIVED if where in points[s] and where in points[d])
        for where in dict.fromkeys(where for own in points.values() for where in own)
    }  # fmt: skip
    both = [
        name
        for name in (*DERIVED, *SIGNAL, ALONE)
        if least[name] >= NEAR_PERFECT
        and all(points[name][where][0] > x for d in DERIVED if d != name
                for where, (x, _) in points[d].items() if where in points[name])
    ]  # fmt: skip
    return [
        Finding(
            f"Methods derived from B1 ({', '.join(DERIVED)}) have a DeID of {NEAR_PERFECT:g} % or "
            "more in every data set",
            least[worst] >= NEAR_PERFECT,
            f"the least is that of {worst}, {least[worst]:.1f} %",
            arithmetic=True,
        ),
        Finding(
            f"Signal processing ({', '.join(SIGNAL)}) keeps voices more distinct (G_VD) than those "
            "in every data set",
            all(distinct.values()),
            f"so in {sum(distinct.values())} of {len(distinct)} sets",
            arithmetic=True,
        ),
        Finding(
            f"K2 alone has a DeID of {NEAR_PERFECT:g} % or more and more distinct voices than "
            "every method derived from B1, in every data set",
            both == [ALONE],
            f"these have both: {', '.join(both) or 'none'}; the least DeID of K2 is "
            f"{least[ALONE]:.1f} %",
            arithmetic=True,
        ),
    ]


def _here(bench: Bench) -> list[Finding]:
    """The same of our counterparts that the budget measures."""
    names = [n for n in (*DERIVED, *SIGNAL) if n in counterparts(bench)[0]]
    found = {metric: {n: one(bench, n, partial(useful, bench, metric=metric)) for n in names}
             for metric in ("DeID", "G_VD")}  # fmt: skip
    pairs = [(d, s) for d in DERIVED for s in SIGNAL if d in names and s in names]
    return [
        compared(
            "Here: methods derived from B1 de-identify more (DeID) than signal processing",
            all_of([exceeds(found["DeID"][d], found["DeID"][s]) for d, s in pairs]),
            *found["DeID"].items(),
            digits=2,
        ),
        compared(
            "Here: signal processing keeps voices more distinct (G_VD) than methods derived from "
            "B1",
            all_of([exceeds(found["G_VD"][s], found["G_VD"][d]) for d, s in pairs]),
            *found["G_VD"].items(),
            digits=2,
        ),
    ]
