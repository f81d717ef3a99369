"""Tomashenko et al. 2022 with listeners: tests, violins, objective and subjective."""

from __future__ import annotations

import numpy as np

from voicenym.reproduction import listening
from voicenym.reproduction.bench import IGNORANT, Bench
from voicenym.reproduction.outcome import Finding, OurPanel, OurRow, absent
from voicenym.reproduction.panel_drawings import boxes, scatter
from voicenym.reproduction.paper_table import Compute, Ours
from voicenym.reproduction.published_checks import interval_of_correlation, same_numbers
from voicenym.reproduction.published_figures import panels_of
from voicenym.reproduction.table_rows import SEXES, original, scoring, systems_row
from voicenym.reproduction.tomashenko.challenge_speech import PAPER, counterparts

KINDS = ("same", "different")
METRICS = ("EER, %", "ROCCH-EER, %")
"""Metrics of table 18 that are legible."""
ILLEGIBLE = "the paper's numbers of this metric are illegible in the text at hand"
RAW = "scores from 1 to 10 are no log-likelihood ratios"
QUESTIONS = (("naturalness", ""), ("intelligibility", ""), *(("similarity", k) for k in KINDS))


def similarity_tests(bench: Bench) -> Ours:
    """Table 16: tests of similarity scores."""
    panels = tuple(listening.pair_tests(bench, "similarity", kind) for kind in KINDS)
    return Ours(panels, (_symmetric("table-16"),))


def quality_tests(bench: Bench) -> Ours:
    """Table 17: tests of naturalness and intelligibility scores."""
    panels = tuple(listening.pair_tests(bench, name) for name in ("naturalness", "intelligibility"))
    return Ours(panels, (_symmetric("table-17"),))


def _symmetric(table: str) -> Finding:
    """Whether the printed p of two systems is the same in both orders."""
    pairs = []
    for panel in panels_of(PAPER, table):
        for i, first in enumerate(panel.labels):
            for second in panel.labels[i + 1 :]:
                a, b = panel.number(first, second), panel.number(second, first)
                pairs.append((f"{first}, {second}", a, b, 1e-9))
    return same_numbers("The printed p-values are symmetric", pairs)


def violins(bench: Bench) -> Ours:
    """Figure 24: normalised ranks by system and question."""
    parts = listening.spreads(bench, QUESTIONS, ranks=True)
    drawings = (("boxes.svg", boxes(parts, "normalised rank")),) if parts else ()
    return Ours((listening.normalised_means(bench, QUESTIONS),), (), (), drawings)


def objective_and_subjective(bench: Bench) -> Ours:
    """Table 18: metrics by a verifier and by listeners."""
    panels = []
    for panel in panels_of(PAPER, "table-18"):
        if panel.title.endswith("subjective") or bench.speech is None:
            continue
        metric = panel.title.split(",")[0]
        rows = tuple(
            systems_row(
                f"ours {sex}", panel.columns, *counterparts(bench),
                scoring(bench, IGNORANT, metric, sex),
                {"Orig": original(bench, metric, sex)},
            )
            for sex in SEXES
        )  # fmt: skip
        panels.append(OurPanel(panel.title, panel.columns, rows, 2))
    panels.append(listening.verification(bench))
    return Ours(
        tuple(panels), (_both_tables(), *(f for metric in METRICS for f in _correlated(metric)))
    )


def _both_tables() -> Finding:
    """Whether tables 3 and 18 print the same EER."""
    third = panels_of(PAPER, "table-3")[0]
    last = panels_of(PAPER, "table-18")[0]
    pairs = [
        (f"{label} {column}", third.number(label, column), last.number(label, column), 0.0051)
        for label in last.labels
        for column in last.columns
    ]
    return same_numbers("Tables 3 and 18 print the same EER of the ignorant attacker", pairs)


def _points(metric: str) -> dict[str, list[tuple[float, float]]]:
    """Objective and subjective figures of the printed data sets, by system."""
    panels = {panel.title: panel for panel in panels_of(PAPER, "table-18")}
    first, second = (panels[f"{metric}, {kind}"] for kind in ("objective", "subjective"))
    return {
        column: [
            (a, b)
            for label in first.labels
            if (a := first.number(label, column)) is not None
            and (b := second.number(label, column)) is not None
        ]
        for column in first.columns
    }


def _correlations(metric: str) -> list[tuple[str, float, int]]:
    """Correlations of objective and subjective figures in the printed numbers: names, r, pairs."""
    found = []
    for part, left_out in (("with originals", ""), ("anonymized alone", "Orig")):
        own = {column: pairs for column, pairs in _points(metric).items() if column != left_out}
        pairs = [pair for points in own.values() for pair in points]
        x, y = np.array(pairs).T
        name = f"{metric.split(',')[0]}, {part}"
        found.append((name, float(np.corrcoef(x, y)[0, 1]), len(pairs)))
    return found


def _correlated(metric: str) -> list[Finding]:
    """Whether objective and subjective figures rise together, in the printed numbers."""
    found = []
    for name, r, count in _correlations(metric):
        low, high = interval_of_correlation(r, count)
        claim = f"Objective and subjective {name}: positively correlated"
        holds = True if low > 0.0 else (False if high < 0.0 else None)
        evidence = f"r = {r:.2f} ({low:.2f} to {high:.2f}) of {count} pairs"
        found.append(Finding(claim, holds, evidence, arithmetic=True))
    return found


def printed(metric: str) -> Compute:
    """Computation of figure 27 or 28: the printed numbers of table 18 against each other."""

    def compute(bench: Bench) -> Ours:
        drawing = scatter({metric: _points(metric)}, "listeners", "objective")
        return Ours((), tuple(_correlated(metric)), (), (("theirs.svg", drawing),))

    return compute


def illegible(metric: str) -> Compute:
    """Computation of figure 29 or 30: a metric that is illegible in table 18 of the text at hand.

    With speech and answers, ours are the attacker's and the listeners' figures.
    """

    def compute(bench: Bench) -> Ours:
        if bench.speech is None:
            return Ours(notes=(ILLEGIBLE,))
        systems, _ = counterparts(bench)
        said = {row.label.removeprefix("listeners, "): row.figures[-1]
                for row in listening.verification(bench).rows}  # fmt: skip
        none = absent(listening.NO_ANSWERS if metric == "min C_llr" else RAW)
        rows = [OurRow("ours Orig", (original(bench, metric), said.get("original", none)))]
        rows += [
            OurRow(f"ours {name}", (scoring(bench, IGNORANT, metric, "")(system),
                                    said.get(system, none) if metric == "min C_llr" else none))
            for name, system in systems.items()
        ]  # fmt: skip
        panel = OurPanel(metric, ("objective", "listeners"), tuple(rows), 2)
        return Ours((panel,), (), (ILLEGIBLE,))

    return compute
