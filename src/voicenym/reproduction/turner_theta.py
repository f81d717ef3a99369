"""Turner et al. 2022, figures 7 and 8: forced dissimilarity by its threshold theta."""

from __future__ import annotations

from voicenym.metrics.bootstrap_draws import Drawn
from voicenym.reproduction import joint_figures
from voicenym.reproduction.bench import Bench
from voicenym.reproduction.counterparts import MIXTURE, SELECTION
from voicenym.reproduction.outcome import Figure, OurPanel, OurRow, above, all_of, exceeds, negated
from voicenym.reproduction.panel_drawings import curves
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.table_rows import SEXES, attacked, compared, original, useful
from voicenym.reproduction.turner_speech import SCENES


def _thetas(bench: Bench) -> list[tuple[str, str]]:
    """Labels and systems of a sweep, from no constraint to the strongest."""
    values = sorted(bench.budget.thetas, reverse=True)
    return [("none", MIXTURE), *((f"{v:g}", f"{MIXTURE}:theta={v:g}") for v in values)]


def forced(bench: Bench) -> Ours:
    """Figure 7: min C_llr by theta."""
    columns = tuple(f"{scene} {sex}" for scene, _ in SCENES for sex in SEXES)
    rows: list[OurRow] = []
    sweep: dict[str, tuple[Figure, ...]] = {}
    for label, system in _thetas(bench):
        figures = tuple(
            attacked(bench, system, attacker, "min C_llr", sex)
            for _, attacker in SCENES
            for sex in SEXES
        )
        sweep[label] = figures
        rows.append(OurRow(f"theta {label}", figures))
    base = tuple(
        attacked(bench, SELECTION, attacker, "min C_llr", sex)
        for _, attacker in SCENES
        for sex in SEXES
    )
    labels = list(sweep)
    drawing = curves(
        OurPanel("", columns, tuple(rows)), labels, "theta", "min C_llr", {"baseline": base}
    )
    rows.append(OurRow("baseline (selection)", base))
    free, least = sweep["none"], sweep[labels[-1]]
    named = [(f"{column}, {text}", figures[i]) for i, column in enumerate(columns)
             for text, figures in (("none", free), (f"theta {labels[-1]}", least))]  # fmt: skip
    falls = [exceeds(a, b) for a, b in zip(free, least, strict=True)]
    findings = (
        compared("O-A: min C_llr does not fall with a smaller theta",
                 all_of([negated(verdict) for verdict in falls[:2]]), *named[:4], digits=3),
        compared("A-A: min C_llr falls with a smaller theta", all_of(falls[2:]), *named[4:],
                 digits=3),
    )  # fmt: skip
    panel = OurPanel("min C_llr by theta", columns, tuple(rows), 3)
    return Ours((panel,), findings, (), (("figure-7.svg", drawing),))


def forced_words(bench: Bench) -> Ours:
    """Figure 8: word error rate by theta."""
    rows, found = [], []
    for label, system in _thetas(bench):
        found.append((f"theta {label}", useful(bench, system, "WER")))
        rows.append(OurRow(found[-1][0], (found[-1][1],)))
    before = original(bench, "WER")
    column = ("WER, %",)
    labels = [label.removeprefix("theta ") for label, _ in found]
    drawing = curves(
        OurPanel("", column, tuple(rows)), labels, "theta", column[0], {"original": (before,)}
    )
    rows.append(OurRow("original", (before,)))
    free, least = (_said(bench, system) for _, system in (_thetas(bench)[0], _thetas(bench)[-1]))
    gap = joint_figures.difference(least, free, bench.budget.replicates)
    finding = compared("Word errors rise with a smaller theta", above(gap, 0.0), found[0],
                       found[-1], ("difference", gap))  # fmt: skip
    panel = OurPanel("WER by theta", column, tuple(rows), 1)
    return Ours((panel,), (finding,), (), (("figure-8.svg", drawing),))


def _said(bench: Bench, system: str) -> Drawn | None:
    """Word errors of a system as a function of drawn speakers."""
    one = bench.measured(system)
    return None if isinstance(one, str) else joint_figures.words(one)
