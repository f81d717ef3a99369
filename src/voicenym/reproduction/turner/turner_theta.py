"""Turner et al. 2022, figures 7 and 8: forced dissimilarity by its threshold theta."""

from __future__ import annotations

from voicenym.reproduction import joint_figures
from voicenym.reproduction.bench import Bench
from voicenym.reproduction.counterparts import MIXTURE, SELECTION
from voicenym.reproduction.outcome import Figure, OurPanel, OurRow, above, absent, all_of, negated
from voicenym.reproduction.panel_drawings import curves
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.table_rows import SEXES, attacked, compared, original, useful
from voicenym.reproduction.turner.turner_speech import SCENES, said


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
    free, least = _thetas(bench)[0], _thetas(bench)[-1]
    named, falls = [], []
    for i, (scene, attacker) in enumerate(SCENES):
        for j, sex in enumerate(SEXES):
            gap = _fall(bench, free[1], least[1], attacker, sex)
            falls.append(above(gap, 0.0))
            place = 2 * i + j
            named += [(f"{scene} {sex}, none", sweep["none"][place]),
                      (f"theta {least[0]}", sweep[least[0]][place]), ("fall", gap)]  # fmt: skip
    half = len(named) // 2
    findings = (
        compared("O-A: min C_llr does not fall with a smaller theta",
                 all_of([negated(verdict) for verdict in falls[:2]]), *named[:half], digits=3),
        compared("A-A: min C_llr falls with a smaller theta", all_of(falls[2:]), *named[half:],
                 digits=3),
    )  # fmt: skip
    panel = OurPanel("min C_llr by theta", columns, tuple(rows), 3)
    return Ours((panel,), findings, (), (("curves.svg", drawing),))


def _fall(bench: Bench, free: str, least: str, attacker: str, sex: str) -> Figure:
    """The min C_llr without a constraint minus that with one, with its interval over speakers."""
    drawn = []
    for system in (free, least):
        found = bench.measured(system)
        if isinstance(found, str):
            return absent(found)
        verifier = found.results.attacks[0].verifier
        drawn.append(joint_figures.attack(found, "min C_llr", attacker, verifier, sex))
    if drawn[0] is None or drawn[1] is None:
        return absent(f"{attacker}: did not run")
    return joint_figures.contrast(drawn[0], drawn[1], bench.budget.replicates)


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
    free, least = (said(bench, system) for _, system in (_thetas(bench)[0], _thetas(bench)[-1]))
    gap = joint_figures.difference(least, free, bench.budget.replicates)
    finding = compared("Word errors rise with a smaller theta", above(gap, 0.0), found[0],
                       found[-1], ("difference", gap))  # fmt: skip
    panel = OurPanel("WER by theta", column, tuple(rows), 1)
    return Ours((panel,), (finding,), (), (("curves.svg", drawing),))
