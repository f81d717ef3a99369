"""Miao et al. 2023 on speech: averages of the challenge, loss functions, drawings."""

from __future__ import annotations

from collections.abc import Callable

from voicenym.reproduction.bench import IGNORANT, LAZY, Bench
from voicenym.reproduction.counterparts import AAM, B2, LOH, ROH, SELECTION
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
from voicenym.reproduction.published_checks import (
    average_check,
    challenge_averages,
    same_numbers,
)
from voicenym.reproduction.published_figures import PublishedPanel, panels_of
from voicenym.reproduction.table_rows import (
    SEXES,
    attacked,
    compared,
    filled,
    original,
    useful,
)

PAPER = "miao-2023"
SYSTEMS = {
    "B1.a": "b1a", "B1.b": "b1b", "B2": B2, "S-Select": SELECTION,
    "S-ROH*": ROH, "S-ROH": ROH, "S-LOH*": LOH, "S-LOH": LOH,
}  # fmt: skip
OTHER_LOSS = (
    "no network trained with AAM+cos is bundled: voicenym train householder makes one, voicenym "
    "models assemble --base ssl a pipeline with it; then --pipeline {}=FOLDER"
)


def _panel(table: str) -> PublishedPanel:
    return panels_of(PAPER, table)[0]


def averages(table: str) -> Callable[[Bench], Ours]:
    """Computation of tables II and III: averages by system, our speech in the test columns."""

    def compute(bench: Bench) -> Ours:
        panel = _panel(table)
        checks = _both(table)
        if bench.speech is None:
            return Ours(findings=tuple(checks))
        reads: dict[str, Callable[[str], Figure]] = {
            "EER, %, ignorant": lambda s: attacked(bench, s, IGNORANT, "EER"),
            "EER, %, lazy-informed": lambda s: attacked(bench, s, LAZY, "EER"),
            "EER, %, semi-informed": lambda s: attacked(bench, s, bench.informed, "EER"),
            "WER, %, ASR_eval": lambda s: useful(bench, s, "WER"),
            "WER, %, retrained ASR_eval": lambda s: useful(bench, s, "WER retrained"),
            "G_VD, dB": lambda s: useful(bench, s, "G_VD"),
        }
        rows = []
        for label in panel.labels:
            found: dict[str, Figure] = {}
            for column in panel.columns:
                name, _, part = column.rpartition(" ")
                if part == "dev":
                    found[column] = absent(
                        "one set of speech here, in the columns of the test sets"
                    )
                elif name == "Original":
                    found[column] = _of_original(bench, label)
                else:
                    found[column] = _read(bench, name, reads[label])
            rows.append(OurRow(f"ours, {label}", filled(panel.columns, found), label))
        return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 2),),
                    (*_claims(bench), *checks))  # fmt: skip

    return compute


def _of_original(bench: Bench, label: str) -> Figure:
    if label.startswith("EER") and "semi" not in label:
        return original(bench, "EER")
    if label == "WER, %, ASR_eval":
        return original(bench, "WER")
    return Figure(0.0) if label.startswith("G_VD") else absent("defined on anonymized speech")


def _claims(bench: Bench) -> list[Finding]:
    """Claims of sections IV-B1 to IV-B3."""
    three = {"S-Select": SELECTION, "S-ROH*": ROH, "S-LOH*": LOH}
    informed = {n: attacked(bench, s, bench.informed, "EER") for n, s in three.items()}
    lost = {n: useful(bench, s, "G_VD") for n, s in three.items()}
    who = {"ignorant": IGNORANT, "lazy-informed": LAZY, "semi-informed": bench.informed}
    lazy = {n: attacked(bench, SELECTION, a, "EER") for n, a in who.items()}
    return [
        compared("Selection loses protection from the ignorant to the lazy-informed attacker",
                 exceeds(lazy["ignorant"], lazy["lazy-informed"]), *lazy.items()),
        compared("Semi-informed: ROH and LOH protect more than selection",
                 all_of([exceeds(informed[n], informed["S-Select"]) for n in ("S-ROH*", "S-LOH*")]),
                 *informed.items()),
        compared("ROH and LOH keep voices more distinct than selection (G_VD)",
                 all_of([exceeds(lost[n], lost["S-Select"]) for n in ("S-ROH*", "S-LOH*")]),
                 *lost.items(), digits=2),
        compared("LOH protects more than ROH against the lazy-informed attacker",
                 exceeds(attacked(bench, LOH, LAZY, "EER"), attacked(bench, ROH, LAZY, "EER")),
                 ("LOH", attacked(bench, LOH, LAZY, "EER")),
                 ("ROH", attacked(bench, ROH, LAZY, "EER"))),
    ]  # fmt: skip


def _both(table: str) -> list[Finding]:
    """Whether the averages are those of the appendix's tables."""
    panel = _panel(table)
    if table == "table-2":
        names = {"ROH AAM+cos": "S-ROH AAM+cos", "ROH w-AAM+cos": "S-ROH w-AAM+cos",
                 "LOH AAM+cos": "S-LOH AAM+cos", "LOH w-AAM+cos": "S-LOH w-AAM+cos"}  # fmt: skip
        details = {"EER, %, ignorant": "table-9", "EER, %, lazy-informed": "table-10",
                   "EER, %, semi-informed": "table-11"}  # fmt: skip
    else:
        names = {n: n for n in ("B1.a", "B1.b", "B2", "S-Select", "S-ROH*", "S-LOH*")}
        details = {"EER, %, ignorant": "table-12", "EER, %, lazy-informed": "table-13",
                   "EER, %, semi-informed": "table-14", "G_VD, dB": "table-15"}  # fmt: skip
    pairs = []
    for row, detail in details.items():
        other = _panel(detail)
        for theirs, here in names.items():
            for part in ("dev", "test"):
                average = other.number(f"weighted average {part}", theirs)
                printed = panel.number(row, f"{here} {part}")
                pairs.append((f"{row}, {here} {part}", printed, average, 0.0051))
    numbers = ", ".join(sorted(details.values(), key=lambda name: int(name[6:])))
    return [same_numbers(f"The printed averages are those of {numbers}", pairs)]


def by_set(table: str, attacker: str, metric: str = "EER") -> Callable[[Bench], Ours]:
    """Computation of the appendix's tables by data set and sex.

    Args:
        table: its name.
        attacker: ``ignorant``, ``lazy-informed``, ``semi-informed``; empty for voice metrics.
        metric: of the table.
    """

    def compute(bench: Bench) -> Ours:
        panel = _panel(table)
        who = bench.informed if attacker == "semi-informed" else attacker
        rows = []
        for sex in SEXES if bench.speech else ():
            found: dict[str, Figure] = {}
            for column in panel.columns:
                if column == "Orig.":
                    found[column] = original(bench, metric, sex)
                else:
                    found[column] = _read(bench, column, _by_sex(bench, who, metric, sex))
            rows.append(OurRow(f"ours {sex}", filled(panel.columns, found)))
        findings = challenge_averages(panel)
        if table == "table-13":
            findings.append(_same_loh())
        return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 2),), tuple(findings))

    return compute


def _by_sex(bench: Bench, who: str, metric: str, sex: str) -> Callable[[str], Figure]:
    """The figure of a system and a sex: of an attacker, or of the voices if ``who`` is empty."""
    if who:
        return lambda system: attacked(bench, system, who, metric, sex)
    return lambda system: useful(bench, system, metric, sex)


def _read(bench: Bench, column: str, read: Callable[[str], Figure]) -> Figure:
    """The figure of a column's system, such as ``B1.a``, ``S-LOH*``, ``ROH w-AAM+cos``.

    The column's second word, where there is one, is the loss of the Householder network.
    """
    name, _, loss = column.partition(" ")
    name = name if name in SYSTEMS else f"S-{name}"
    if loss != "AAM+cos":
        return read(SYSTEMS[name])
    if name not in bench.pipelines:
        return absent(OTHER_LOSS.format(name))
    return read(f"{AAM[name]}:weights={bench.pipelines[name]}")


def _same_loh() -> Finding:
    """Whether tables X and XIII print the same figures of LOH with w-AAM."""
    first, second = _panel("table-10"), _panel("table-13")
    pairs = [(label, first.number(label, "LOH w-AAM+cos"), second.number(label, "S-LOH*"), 1e-9)
             for label in first.labels]  # fmt: skip
    return same_numbers("Tables X and XIII print the same EER of LOH with w-AAM+cos", pairs)


def words(table: str) -> Callable[[Bench], Ours]:
    """Computation of the tables of word error rates."""

    def compute(bench: Bench) -> Ours:
        panel = _panel(table)
        metric = "WER retrained" if "retrained" in panel.title else "WER"
        rows = []
        if bench.speech:
            found: dict[str, Figure] = {}
            for column in panel.columns:
                if column in ("Orig.", "Original"):
                    found[column] = original(bench, "WER")
                else:
                    found[column] = _read(bench, column, lambda s: useful(bench, s, metric))
            rows.append(OurRow("ours", filled(panel.columns, found)))
        findings = tuple(
            average_check(
                panel, f"average {part}", (f"LibriSpeech-{part}", f"VCTK-{part}"), (0.5, 0.5)
            )
            for part in ("dev", "test")
        )
        return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 2),), findings)

    return compute


def stated(bench: Bench) -> Ours:
    """Tables I and VIII, which have words and no figures."""
    return Ours(notes=("a table of words: nothing to measure",))
