"""Deng et al. 2023 on speech: speed, data sets, levels of epsilon, and the user study."""

from __future__ import annotations

import os
from collections.abc import Iterator

from voicenym.metrics.listening_ranks import mann_whitney
from voicenym.reproduction import joint_figures
from voicenym.reproduction.bench import IGNORANT, LAZY, Bench
from voicenym.reproduction.deng.deng_systems import CLOAK, OURS, PAPER, SYSTEMS
from voicenym.reproduction.listening import ORIGINAL, normalised_means, opinions, spreads
from voicenym.reproduction.outcome import Figure, Finding, OurPanel, OurRow, above, all_of, exceeds
from voicenym.reproduction.panel_drawings import boxes, curves
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.published_figures import PublishedPanel, panels_of
from voicenym.reproduction.table_rows import attacked, compared, filled, useful

CLOAKS = ("v-cloak", "vcloak")
"""Names of V-Cloak in a file of answers."""
LEVEL = 0.01
"""Of significance; the paper names none."""


def _panel(table: str) -> PublishedPanel:
    return panels_of(PAPER, table)[0]


def speed(bench: Bench) -> Ours:
    """Table 1: real-time coefficients."""
    panel = _panel("table-1")
    rows, named = [], []
    systems = {**SYSTEMS, OURS: CLOAK}
    for name, system in systems.items():
        rate = useful(bench, system, "RTF")
        named.append((name, rate))
        reason = "a property of the method, not measured"
        figures = filled(panel.columns, {"real-time coefficient": rate}, reason)
        rows.append(OurRow(f"ours {system}", figures, name))
    cloak = dict(named)[OURS]
    fastest = all_of([exceeds(rate, cloak) for name, rate in named if name != OURS])
    finding = compared("V-Cloak is the fastest of the compared systems", fastest, *named, digits=3)
    notes = (f"processor time, which other work of the machine lengthens a little: {_load()}",)
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 3),), (finding,), notes)


def _load() -> str:
    """Load of the machine, for a note."""
    if not hasattr(os, "getloadavg"):
        return "its load is unknown here"
    return f"a load of {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end"


def data_sets(bench: Bench) -> Ours:
    """Table 2: speakers, utterances and durations of the speech at hand."""
    panel = _panel("table-2")
    found = bench.recordings
    seconds = [len(recording.samples()) / 16_000 for recording in found]
    people = len({recording.speaker for recording in found})
    figures = tuple(map(Figure, (float(people), float(len(found)), min(seconds), max(seconds))))
    return Ours((OurPanel(panel.title, panel.columns, (OurRow("ours", figures),), 1),))


def levels(bench: Bench) -> Ours:
    """Figure 8: SNR, MMR, EER and WER by epsilon."""
    panel = _panel("figure-8")
    rows, more, snr, mmr = [], [], [], []
    for epsilon in bench.budget.epsilons:
        system = f"vcloak:epsilon={epsilon:g}"
        snr.append(useful(bench, system, "SNR"))
        mmr.append(attacked(bench, system, IGNORANT, "MMR"))
        beside = f"{epsilon:g}" if f"{epsilon:g}" in panel.labels else ""
        rows.append(OurRow(f"ours {epsilon:g}", (snr[-1], mmr[-1]), beside))
        attacks = (attacked(bench, system, attacker, "EER") for attacker in (IGNORANT, LAZY))
        more.append(OurRow(f"ours {epsilon:g}", (*attacks, useful(bench, system, "WER"))))
    findings = (
        compared("A smaller epsilon has a higher SNR", exceeds(snr[0], snr[-1]),
                 ("least epsilon", snr[0]), ("largest", snr[-1])),
        *(_rises(bench, metric) for metric in ("MMR", "EER")),
    )  # fmt: skip
    columns = ("EER, %, A1", "EER, %, A3 without key", "WER, %")
    panels = (
        OurPanel(panel.title, panel.columns, tuple(rows), 1),
        OurPanel("more by epsilon", columns, tuple(more), 1),
    )
    labels = [f"{epsilon:g}" for epsilon in bench.budget.epsilons]
    drawings = []
    for place, name in enumerate(("SNR, dB", "MMR, %")):
        shown = tuple(OurRow(row.label, (row.figures[place],)) for row in rows)
        drawing = curves(OurPanel("", (name,), shown), labels, "epsilon", name)
        drawings.append((f"{name[:3].lower()}.svg", drawing))
    return Ours(panels, findings, (), tuple(drawings))


def _rises(bench: Bench, metric: str) -> Finding:
    """Whether a metric under A1 is higher with the largest epsilon than with the least one."""
    ends = [bench.measured(f"vcloak:epsilon={bench.budget.epsilons[i]:g}") for i in (0, -1)]
    low, high = (
        None if isinstance(one, str)
        else joint_figures.attack(one, metric, IGNORANT, one.results.attacks[0].verifier)
        for one in ends
    )  # fmt: skip
    size = bench.budget.replicates
    gap = joint_figures.difference(high, low, size)
    named = [(name, joint_figures.percent_of_trials(drawn, size))
             for name, drawn in (("least epsilon", low), ("largest", high))
             if drawn is not None]  # fmt: skip
    claim = f"A larger epsilon has a higher {metric}"
    return compared(claim, above(gap, 0.0), *named, ("difference", gap))


def users(bench: Bench) -> Ours:
    """Figure 9: listeners on similarity, acceptability, naturalness and intelligibility."""
    questions = ("similarity", "acceptability", "naturalness", "intelligibility")
    columns = ("ratings", "mean", "standard deviation")
    panels = [opinions(bench, question, columns, question) for question in questions]
    panels.append(normalised_means(bench, [(question, "") for question in questions]))
    parts = spreads(bench, [(question, "") for question in questions], ranks=False)
    drawings = (("boxes.svg", boxes(parts, "score")),) if parts else ()
    return Ours(tuple(panels), tuple(_preferred(bench)), (), drawings)


def _preferred(bench: Bench) -> Iterator[Finding]:
    """Claims of section 5.9: V-Cloak has the highest scores of similarity and acceptability.

    Decided by two-sided Mann-Whitney tests at 1 %, as the listening tests of the challenge are.
    """
    for question in ("similarity", "acceptability"):
        scores = spreads(bench, [(question, "")], ranks=True).get(question, {})
        cloak = next((name for name in scores if name.lower() in CLOAKS), "")
        others = {name: own for name, own in scores.items()
                  if name not in (cloak, *ORIGINAL)}  # fmt: skip
        if not cloak or not others:
            continue
        tests = {name: mann_whitney(scores[cloak], own) for name, own in others.items()}
        verdicts = [
            None if test.p > LEVEL else bool(scores[cloak].mean() > others[name].mean())
            for name, test in tests.items()
        ]
        evidence = "; ".join(f"against {name}: p = {test.p:.2g}, mean rank "
                             f"{scores[cloak].mean():.2f} and {others[name].mean():.2f}"
                             for name, test in tests.items())  # fmt: skip
        yield Finding(f"Listeners give V-Cloak the highest {question}", all_of(verdicts), evidence)
