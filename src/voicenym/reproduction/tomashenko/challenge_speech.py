"""Tomashenko et al. 2022 on speech: the challenge's metrics on counterparts of its systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from voicenym.evaluation.figures import colours, det_curves, disclosure, linkabilities, similarities
from voicenym.reproduction.bench import IGNORANT, LAZY, Bench, Measurement
from voicenym.reproduction.counterparts import B2, OWN_RECOGNISER, of_challenge, without
from voicenym.reproduction.outcome import (
    Figure,
    Finding,
    OurPanel,
    OurRow,
    absent,
    all_of,
    exceeds,
)
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.published_figures import PublishedPanel, panels_of
from voicenym.reproduction.table_rows import (
    SEXES,
    attacked,
    compared,
    original,
    scoring,
    systems_row,
    useful,
)

PAPER = "tomashenko-2022"
SIGNAL = ("B2", "D1", "I1")
DRAWN = {"B1": "ssl-select", "B2": B2, "O1": "ssl-gmm"}
"""Systems that drawings show."""


def counterparts(bench: Bench) -> tuple[dict[str, str], dict[str, str]]:
    """Counterparts that the budget measures, and the reasons of the others."""
    names = bench.budget.challenge
    return of_challenge(names, bench.pipelines), without(names, bench.budget.name)


def given_notes(bench: Bench) -> tuple[str, ...]:
    """Says which systems are pipelines that the user gave."""
    names = " and ".join(name for name in OWN_RECOGNISER if name in bench.pipelines)
    return (f"{names}: b1b with a pipeline of one's own (--pipeline)",) if names else ()


def one(bench: Bench, name: str, figure: Callable[[str], Figure]) -> Figure:
    """A figure of one of the challenge's systems."""
    systems, reasons = counterparts(bench)
    return figure(systems[name]) if name in systems else absent(reasons[name])


def attacker_of(bench: Bench, title: str) -> str:
    """Name of the attacker that the end of a panel's title means."""
    for word, name in (("lazy-informed", LAZY), ("semi-informed", bench.informed)):
        if title.endswith(word):
            return name
    return IGNORANT


def _metric(title: str) -> str:
    names = {"EER": "EER", "C_llr": "C_llr", "min C_llr": "min C_llr", "D_ECE": "D_ECE",
             "worst case": "worst case", "D_sys": "D_sys", "G_VD": "G_VD", "DeID": "DeID",
             "ROCCH-EER": "ROCCH-EER"}  # fmt: skip
    return names[title.split(",")[0]]


def scores(table: str) -> Callable[[Bench], Ours]:
    """Computation of a table of metrics of trial scores: systems by sex, a panel a metric."""

    def compute(bench: Bench) -> Ours:
        panels = tuple(_of_scores(bench, panel) for panel in panels_of(PAPER, table))
        return Ours(panels, tuple(_claims(bench, table)), given_notes(bench))

    return compute


def _of_scores(bench: Bench, panel: PublishedPanel) -> OurPanel:
    metric, attacker = _metric(panel.title), attacker_of(bench, panel.title)
    rows = [
        systems_row(
            f"ours {sex}",
            panel.columns,
            *counterparts(bench),
            scoring(bench, attacker, metric, sex),
            {"Orig": original(bench, metric, sex)},
        )
        for sex in SEXES
    ]
    return OurPanel(panel.title, panel.columns, tuple(rows), panel.digits)


def _claims(bench: Bench, table: str) -> list[Finding]:
    """Claims on the table's metric, from the text of sections 3.1 to 3.6."""
    first = panels_of(PAPER, table)[0]
    if first.title.endswith("semi-informed"):
        claim = "the semi-informed attacker finds more than the lazy-informed one"
        return [_weaker(bench, LAZY, bench.informed, claim)]
    if first.title.startswith("EER"):
        claim = "the lazy-informed attacker finds more than the ignorant one"
        return [_weaker(bench, IGNORANT, LAZY, claim), _signal(bench)]
    return []


def _weaker(bench: Bench, weak: str, strong: str, words: str) -> Finding:
    """Whether one attacker has the higher EER on every counterpart."""
    against, undecided, held = [], [], 0
    for name, system in counterparts(bench)[0].items():
        a, b = (attacked(bench, system, attacker, "EER") for attacker in (weak, strong))
        verdict = exceeds(a, b)
        if verdict is None:
            undecided.append(name)
        elif not verdict:
            against.append(name)
        else:
            held += 1
    evidence = f"EER falls clearly on {held} systems"
    evidence += f"; rises on {', '.join(against)}" if against else ""
    evidence += f"; intervals overlap on {', '.join(undecided)}" if undecided else ""
    holds = False if against else (None if undecided else True)
    return Finding(f"On every system {words}", holds, evidence)


def _signal(bench: Bench) -> Finding:
    """Whether signal processing protects less than the x-vector family under the lazy attacker."""
    found = {n: one(bench, n, scoring(bench, LAZY, "EER", "")) for n in ("B1", "O1", *SIGNAL)}
    verdicts = [exceeds(found[n], found[s]) for n in ("B1", "O1") for s in SIGNAL]
    claim = "Lazy-informed: signal processing (B2, D1, I1) protects less than B1 and O1"
    return compared(claim, all_of(verdicts), *found.items())


def similarity(table: str) -> Callable[[Bench], Ours]:
    """Computation of a table of G_VD and DeID."""

    def compute(bench: Bench) -> Ours:
        panels = []
        for panel in panels_of(PAPER, table):
            metric = _metric(panel.title)
            rows = tuple(
                systems_row(
                    f"ours {sex}", panel.columns, *counterparts(bench),
                    _scaled(bench, metric, sex),
                    {},
                )
                for sex in SEXES
            )  # fmt: skip
            panels.append(OurPanel(panel.title, panel.columns, rows, panel.digits))
        lost = {n: one(bench, n, _scaled(bench, "G_VD", "")) for n in ("B1", *SIGNAL, "K2")}
        verdict = all_of([exceeds(lost[n], lost["B1"]) for n in SIGNAL])
        claim = "Signal processing (B2, D1, I1) keeps voices more distinct than B1"
        finding = compared(claim, verdict, *lost.items(), digits=2)
        return Ours(tuple(panels), (finding,), given_notes(bench))

    return compute


def _scaled(bench: Bench, metric: str, sex: str) -> Callable[[str], Figure]:
    """A metric of voices as a function of the system; DeID in percent."""
    scale = 100.0 if metric == "DeID" else 1.0

    def figure(system: str) -> Figure:
        found = useful(bench, system, metric, sex)
        if found.value is None:
            return found
        low, high = (None if v is None else scale * v for v in (found.low, found.high))
        return Figure(scale * found.value, low, high, found.text)

    return figure


def drawing(number: int, sex: str = "f") -> Callable[[Bench], Ours]:
    """Computation of figures 3 to 12: ECE profiles, linkability or similarity matrices."""

    def compute(bench: Bench) -> Ours:
        rows, drawings = [], []
        for name, system in DRAWN.items():
            found = bench.measured(system)
            if isinstance(found, str):
                rows.append(OurRow(name, (absent(found),) * 3))
                continue
            drawings.append((f"figure-{number}-{name}.svg", _drawn(found, number)))
            if number >= 8:
                figures = tuple(found.utility(m) for m in ("G_VD", "DeID", "M_aa own"))
            else:
                metrics = ("D_ECE", "worst case", "D_sys")
                figures = tuple(found.figure(LAZY, metric, sex) for metric in metrics)
            rows.append(OurRow(name, figures))
        columns = ("G_VD, dB", "DeID", "M_aa own") if number >= 8 else (
            "D_ECE, bit", "worst case, log10(l)", "D_sys")  # fmt: skip
        title = "similarity" if number >= 8 else f"lazy-informed, {sex}"
        return Ours((OurPanel(title, columns, tuple(rows), 2),), (), (), tuple(drawings))

    return compute


def _drawn(found: Measurement, number: int) -> str:
    evidence = found.evidence
    own = {name: s for name, s in evidence.scores[found.name].items()
           if name.startswith((IGNORANT, LAZY))}  # fmt: skip
    if number >= 8:
        return similarities({found.name: evidence.matrices[found.name]})
    if number == 7:
        return linkabilities(evidence.trials, own, colours(found.evaluation))
    return disclosure(evidence.trials, own, colours(found.evaluation))


def bars(attackers: Sequence[str]) -> Callable[[Bench], Ours]:
    """Computation of the bar charts of EER: a row a system, a column an attacker and sex."""

    def compute(bench: Bench) -> Ours:
        names = [bench.informed if a == "semi-informed" else a for a in attackers]
        columns = tuple(f"{a} {sex}" for a in attackers for sex in SEXES)
        rows = [OurRow("Orig", tuple(original(bench, "EER", sex) for _ in names for sex in SEXES))]
        rows += [
            OurRow(name, tuple(attacked(bench, system, a, "EER", sex)
                               for a in names for sex in SEXES))
            for name, system in counterparts(bench)[0].items()
        ]  # fmt: skip
        return Ours((OurPanel("EER, %", columns, tuple(rows), 1),))

    return compute


def det(bench: Bench) -> Ours:
    """DET curves of the lazy-informed attacker on our systems, beside those of listeners."""
    curves, last = {}, None
    for name, system in DRAWN.items():
        found = bench.measured(system) if bench.speech else "no speech"
        if not isinstance(found, str):
            last = found
            scores = found.evidence.scores[found.name]
            curves[name] = next(s for key, s in scores.items() if key.startswith(LAZY))
    if last is None:
        return Ours()
    palette = dict(zip(curves, colours(last.evaluation).values(), strict=False))
    return Ours(drawings=(("det.svg", det_curves(last.evidence.trials, curves, palette)),))
