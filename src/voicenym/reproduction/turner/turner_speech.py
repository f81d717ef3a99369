"""Turner et al. 2022 on speech: verification, words, additional metrics, forced dissimilarity."""

from __future__ import annotations

from voicenym.metrics.intervals.bootstrap_draws import Drawn
from voicenym.reproduction import joint_figures, published_checks
from voicenym.reproduction.bench import IGNORANT, LAZY, Bench, Measurement
from voicenym.reproduction.counterparts import MIXTURE, SELECTION
from voicenym.reproduction.outcome import (
    Figure,
    Finding,
    OurPanel,
    OurRow,
    above,
    absent,
    all_of,
    exceeds,
    negated,
)
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.published_figures import PublishedPanel, panels_of
from voicenym.reproduction.table_rows import (
    SEXES,
    attacked,
    compared,
    filled,
    original,
    useful,
    with_difference,
)

PAPER = "turner-2022"
SCENES = (("O-A", IGNORANT), ("A-A", LAZY))
ONE_SET = "one set of speech here, in the columns of the test sets"


def _panel(table: str) -> PublishedPanel:
    return panels_of(PAPER, table)[0]


def _of_scenes(bench: Bench, metrics: dict[str, str], columns: tuple[str, ...]) -> list[OurRow]:
    """Rows of a sex and a scenario: O-O, O-A, A-A, with differences to selection."""
    rows = []
    for sex in SEXES:
        found = {column: original(bench, metric, sex) for column, metric in metrics.items()}
        rows.append(OurRow(f"ours {sex} O-O", filled(columns, found, ONE_SET)))
        for scene, attacker in SCENES:
            found = {
                column: with_difference(
                    attacked(bench, MIXTURE, attacker, metric, sex),
                    attacked(bench, SELECTION, attacker, metric, sex),
                    1 if metric == "EER" else 2,
                )
                for column, metric in metrics.items()
            }
            rows.append(OurRow(f"ours {sex} {scene}", filled(columns, found, ONE_SET)))
    return rows


def verifiability(bench: Bench) -> Ours:
    """Table 1: EER and min C_llr by sex and scenario."""
    panel = _panel("table-1")
    metrics = {"test EER, %": "EER", "test min C_llr": "min C_llr"}
    rows = _of_scenes(bench, metrics, panel.columns)
    findings = [_rises(bench, "A-A", LAZY, True), _rises(bench, "O-A", IGNORANT, False)]
    findings += [*published_checks.baseline_of_brackets(), published_checks.largest_loss()]
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows)),), tuple(findings))


def _rises(bench: Bench, scene: str, attacker: str, up: bool) -> Finding:
    """Whether drawing from the mixture has a higher EER than selection, or a lower one."""
    figures, verdicts = [], []
    size = bench.budget.replicates
    for sex in SEXES:
        own = [_drawn(bench, system, attacker, sex) for system in (MIXTURE, SELECTION)]
        gap = joint_figures.difference(own[0], own[1], size)
        figures += [(f"{name} {sex}", joint_figures.percent(drawn, size))
                    for name, drawn in zip(("mixture", "selection"), own, strict=True)]  # fmt: skip
        figures.append((f"difference {sex}", gap))
        verdict = above(gap, 0.0)
        verdicts.append(verdict if up else negated(verdict))
    word = "higher" if up else "lower"
    claim = f"{scene}: the mixture's EER is {word} than the baseline's, for women and men"
    return compared(claim, all_of(verdicts), *figures)


def _drawn(bench: Bench, system: str, attacker: str, sex: str) -> Drawn | None:
    """EER of the first verifier as a function of drawn speakers."""
    found = bench.measured(system)
    if isinstance(found, str):
        return None
    return joint_figures.attack(found, "EER", attacker, found.results.attacks[0].verifier, sex)


def said(bench: Bench, system: str) -> Drawn | None:
    """Word errors of a system as a function of drawn speakers."""
    one = bench.measured(system)
    return None if isinstance(one, str) else joint_figures.words(one)


def numbers(bench: Bench) -> Ours:
    """Table 2: numbers of trials."""
    panel = _panel("table-2")
    trials = bench.trials
    sexes = {model.speaker: model.sex for model in trials.models}
    female = [sexes.get(recording.speaker) == "f" for recording in trials.recordings]
    rows = []
    for name, mask in (("target", trials.target), ("non-target", trials.nontarget)):
        women, every = int(mask[:, female].sum()), int(mask.sum())
        figures = tuple(Figure(float(n)) for n in (women, every - women, every))
        rows.append(OurRow(f"ours {name}", figures))
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 0),))


def words(bench: Bench) -> Ours:
    """Table 3: word error rates of originals and anonymized speech."""
    panel = _panel("table-3")
    before = original(bench, "WER")
    mixture, selection = (useful(bench, system, "WER") for system in (MIXTURE, SELECTION))
    rows = (
        OurRow("ours original", filled(panel.columns, {"test": before}, ONE_SET)),
        OurRow(
            "ours anonymized",
            filled(panel.columns, {"test": with_difference(mixture, selection)}, ONE_SET),
        ),
    )
    size = bench.budget.replicates
    more = joint_figures.difference(said(bench, MIXTURE), said(bench, SELECTION), size)
    found = bench.measured(MIXTURE)
    bare = None if isinstance(found, str) else joint_figures.words(found, "original")
    lost = joint_figures.difference(said(bench, MIXTURE), bare, size)
    findings = (
        compared("The mixture has more word errors than the baseline", above(more, 0.0),
                 ("mixture", mixture), ("selection", selection), ("difference", more)),
        compared("Anonymization costs words", above(lost, 0.0),
                 ("mixture", mixture), ("original", before), ("difference", lost)),
    )  # fmt: skip
    return Ours((OurPanel(panel.title, panel.columns, rows),), findings)


def additional(bench: Bench) -> Ours:
    """Table 4: ZEBRA and linkability, with categories."""
    panel = _panel("table-4")
    metrics = {"D_ECE, bit": "D_ECE", "worst case, log10(l)": "worst case", "D_sys": "D_sys"}
    rows = _of_scenes(bench, metrics, panel.columns)
    figures, verdicts = [], []
    for sex in SEXES:
        mixture, selection = (
            attacked(bench, system, LAZY, "D_sys", sex) for system in (MIXTURE, SELECTION)
        )
        figures += [(f"mixture {sex}", mixture), (f"selection {sex}", selection)]
        verdicts.append(exceeds(selection, mixture))
    claim = "A-A: the mixture is less linkable than the baseline"
    findings = (
        compared(claim, all_of(verdicts), *figures, digits=2),
        published_checks.tags_printed(),
    )
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows)),), findings)


def similarity(bench: Bench) -> Ours:
    """Table 5: de-identification and gain of voice distinctiveness."""
    panel = _panel("table-5")
    found = {}
    for sex in ("m", "f"):
        for metric, column in (("DeID", f"DeID {sex}"), ("G_VD", f"G_VD {sex}, dB")):
            mixture, selection = (
                useful(bench, system, metric, sex) for system in (MIXTURE, SELECTION)
            )
            found[column] = with_difference(mixture, selection, 2)
    rows = (OurRow("ours", filled(panel.columns, found)),)
    figures, verdicts = [], []
    for sex in SEXES:
        mixture, selection = (useful(bench, s, "G_VD", sex) for s in (MIXTURE, SELECTION))
        figures += [(f"mixture {sex}", mixture), (f"selection {sex}", selection)]
        verdicts.append(exceeds(mixture, selection))
    claim = "The mixture keeps voices more distinct than the baseline (G_VD), for women and men"
    return Ours(
        (OurPanel(panel.title, panel.columns, rows),),
        (compared(claim, all_of(verdicts), *figures),),
    )


def other_verifier(bench: Bench) -> Ours:
    """Figure 6: the same attacks with another kind of verifier."""
    wanted = [(metric, sex) for metric in ("EER", "min C_llr") for sex in SEXES]
    columns = tuple(f"{metric} {sex}" for metric, sex in wanted)
    rows = []
    found = bench.measured(MIXTURE)
    names = [] if isinstance(found, str) else _verifiers(found)
    for verifier in names:
        figures = tuple(original(bench, metric, sex, verifier) for metric, sex in wanted)
        rows.append(OurRow(f"{verifier}, O-O", figures))
        for scene, attacker in SCENES:
            figures = tuple(
                attacked(bench, MIXTURE, attacker, metric, sex, verifier) for metric, sex in wanted
            )
            rows.append(OurRow(f"{verifier}, {scene}", figures))
    notes: tuple[str, ...] = ()
    if len(names) < 2:
        reason = "give --verifier ivector:FOLDER, of voicenym train ivector"
        rows.append(OurRow("i-vectors", tuple(absent(reason) for _ in columns)))
        notes = ("one verifier only: nothing is compared",)
    return Ours((OurPanel("verifiers", columns, tuple(rows)),), (), notes)


def _verifiers(found: Measurement) -> list[str]:
    return list(dict.fromkeys(attack.verifier for attack in found.results.attacks))
