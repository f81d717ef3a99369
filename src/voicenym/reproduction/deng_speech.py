"""Deng et al. 2023 on speech: verifiers, adversaries A1 to A3, de-noisers, epsilon, speed."""

from __future__ import annotations

from collections.abc import Sequence

from voicenym.attack.denoisers import denoisers
from voicenym.reproduction.bench import IGNORANT, LAZY, Bench, Measurement
from voicenym.reproduction.listening import normalised_means, opinions
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
from voicenym.reproduction.published_checks import average_check
from voicenym.reproduction.published_figures import PublishedPanel, panels_of
from voicenym.reproduction.table_rows import attacked, compared, filled, mean, original, useful
from voicenym.verification.voice_statistics import VoiceStatistics

PAPER = "deng-2023"
CLOAK = "vcloak:epsilon=0.1"
UNTARGETED = f"{CLOAK},untargeted=true"
SYSTEMS = {"NSF": "b1a", "HFGAN": "ssl-select", "McAdams": "mcadams", "VoiceMask": "vtln"}

COMMERCIAL = "iFlytek's recogniser of speakers is a commercial service"
GIVE = {
    "XV": "give --verifier FOLDER of x-vectors, of voicenym train verifier",
    "GMM": "give --verifier gmm-ubm:FOLDER, of voicenym train ubm",
    "IV": "give --verifier ivector:FOLDER, of voicenym train ivector",
    "IF": COMMERCIAL,
    "DP": "give --verifier FOLDER of a DeepSpeaker, of voicenym train verifier",
}
WITH_KEY = "key-holder (A3 of V-Cloak)"


def _panel(table: str) -> PublishedPanel:
    return panels_of(PAPER, table)[0]


def _named(bench: Bench, system: str = "mcadams") -> list[str]:
    """Names of the verifiers in a measurement."""
    found = bench.measured(system)
    if isinstance(found, str):
        return []
    return list(dict.fromkeys(a.verifier for a in found.evaluation.unprotected
                              if a.attacker == "unprotected"
                              and a.verifier != VoiceStatistics().name))  # fmt: skip


def _beside(verifier: str) -> str:
    """The paper's verifier of the same kind; empty for none."""
    kinds = {"EP": "ecapa", "XV": "x-vector", "GMM": "gmm", "IV": "i-vector"}
    return next((k for k, word in kinds.items() if word in verifier.lower()), "")


def speed(bench: Bench) -> Ours:
    """Table 1: real-time coefficients."""
    panel = _panel("table-1")
    rows, named = [], []
    systems = {**SYSTEMS, "V-CLOAK": CLOAK}
    for name, system in systems.items():
        rate = useful(bench, system, "RTF")
        named.append((name, rate))
        reason = "a property of the method, not measured"
        figures = filled(panel.columns, {"real-time coefficient": rate}, reason)
        rows.append(OurRow(f"ours {system}", figures, name))
    cloak = dict(named)["V-CLOAK"]
    fastest = all_of([exceeds(rate, cloak) for name, rate in named if name != "V-CLOAK"])
    finding = compared("V-Cloak is the fastest of the compared systems", fastest, *named, digits=3)
    notes = ("one core; times depend on the machine and its load",)
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 3),), (finding,), notes)


def data_sets(bench: Bench) -> Ours:
    """Table 2: speakers, utterances and durations of the speech at hand."""
    panel = _panel("table-2")
    found = bench.recordings
    seconds = [len(recording.samples()) / 16_000 for recording in found]
    people = len({recording.speaker for recording in found})
    figures = tuple(map(Figure, (float(people), float(len(found)), min(seconds), max(seconds))))
    return Ours((OurPanel(panel.title, panel.columns, (OurRow("ours", figures),), 1),))


def verifiers(bench: Bench) -> Ours:
    """Table 3: EER of the verifiers on original speech."""
    panel = _panel("table-3")
    rows = []
    for name in _named(bench):
        kind = _beside(name)
        beside = next((label for label in panel.labels if f"({kind})" in label), "")
        rows.append(OurRow(f"ours, {name}", (original(bench, "EER", "", name),), beside))
    rows += _lacking(bench, panel, ("XV", "GMM", "IV", "IF"), 1)
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 2),))


def _lacking(
    bench: Bench, panel: PublishedPanel, kinds: Sequence[str], columns: int
) -> list[OurRow]:
    """Rows of the paper's verifiers without one here."""
    there = {_beside(name) for name in _named(bench)}
    return [
        OurRow(f"ours, {kind}", (absent(GIVE[kind]),) * columns,
               next((label for label in panel.labels if kind in label), ""))
        for kind in kinds if kind not in there
    ]  # fmt: skip


def unlinkability(bench: Bench) -> Ours:
    """Table 4: EER under adversary A3."""
    panel = _panel("table-4")
    average = average_check(panel, "AVG", ("EP", "XV", "GMM", "IV", "IF"), (0.2,) * 5)
    if bench.speech is None:
        return Ours(findings=(average,))
    rows = []
    for name in _named(bench):
        found = {"B0": original(bench, "EER", "", name)}
        for column, system in SYSTEMS.items():
            found[column] = attacked(bench, system, LAZY, "EER", "", name)
        found["V-CLOAK untargeted"] = attacked(bench, UNTARGETED, LAZY, "EER", "", name)
        found["V-CLOAK targeted without key"] = attacked(bench, CLOAK, LAZY, "EER", "", name)
        with_key = bench.measured(CLOAK, (LAZY, WITH_KEY))
        found["V-CLOAK targeted with key"] = (
            absent(with_key) if isinstance(with_key, str)
            else with_key.figure(WITH_KEY, "EER", "", name)
        )  # fmt: skip
        rows.append(OurRow(f"ours, {name}", filled(panel.columns, found), _beside(name)))
    rows += _lacking(bench, panel, ("XV", "GMM", "IV", "IF"), len(panel.columns))
    first = rows[0].figures
    without, free = (first[panel.columns.index(f"V-CLOAK {kind}")]
                           for kind in ("targeted without key", "untargeted"))  # fmt: skip
    findings = (
        average,
        compared("A3: targets protect more than no target, without the key",
                 exceeds(without, free), ("targeted", without), ("untargeted", free)),
    )  # fmt: skip
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 1),), findings)


def separate(bench: Bench) -> Ours:
    """Table 5: MMR, WMR and EER of verifiers trained on other data, adversary A1."""
    panel = _panel("table-5")
    claim = "The printed WMR of a verifier is the same for every system"
    same = all(
        len({row.texts[i] for i in range(2, len(panel.columns), 3)}) == 1 for row in panel.rows
    )
    evidence = "it is a property of the threshold, not of a system"
    findings = [
        average_check(panel, "AVG", ("EP", "XV", "DP"), (1 / 3,) * 3),
        Finding(claim, same, evidence, arithmetic=True),
    ]
    if bench.speech is None:
        return Ours(findings=tuple(findings))
    rows = []
    for name in _named(bench):
        found = {"B0 EER": original(bench, "EER", "", name)}
        for column, system in {**SYSTEMS, "V-CLOAK": CLOAK}.items():
            for metric in ("MMR", "WMR", "EER"):
                found[f"{column} {metric}"] = attacked(bench, system, IGNORANT, metric, "", name)
        rows.append(OurRow(f"ours, {name}", filled(panel.columns, found), _beside(name)))
    rows += _lacking(bench, panel, ("XV", "DP"), len(panel.columns))
    figures = dict(zip(panel.columns, rows[0].figures, strict=True))
    mmr = {n: figures[f"{n} MMR"] for n in (*SYSTEMS, "V-CLOAK")}
    claim = "A1: V-Cloak has the highest MMR"
    findings.append(compared(claim, _highest(mmr), *mmr.items()))
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 1),), tuple(findings))


def comparison(bench: Bench) -> Ours:
    """Figure 6: MMR, EER and WER under adversary A1, means over verifiers."""
    panel = _panel("figure-6")
    names = _named(bench)
    clean = mean([original(bench, "EER", "", name) for name in names])
    nothing = (absent("no anonymization"), clean, original(bench, "WER"))
    rows = [OurRow("ours B0", nothing, "B0")]
    found = {}
    for label, system in {**SYSTEMS, "V-CLOAK": CLOAK}.items():
        means = (
            mean([attacked(bench, system, IGNORANT, metric, "", name) for name in names])
            for metric in ("MMR", "EER")
        )
        found[label] = (*means, useful(bench, system, "WER"))
        beside = "V-CLOAK, epsilon 0.1" if label == "V-CLOAK" else label
        rows.append(OurRow(f"ours {system}", found[label],
                           beside if beside in panel.labels else ""))  # fmt: skip
    verdict = _highest({name: figures[1] for name, figures in found.items()})
    claims = (
        compared("A1: V-Cloak has the highest mean EER", verdict,
                 *((n, f[1]) for n, f in found.items())),
        compared("V-Cloak loses fewer words than VoiceMask",
                 exceeds(found["VoiceMask"][2], found["V-CLOAK"][2]),
                 ("VoiceMask", found["VoiceMask"][2]), ("V-Cloak", found["V-CLOAK"][2])),
    )  # fmt: skip
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 1),), claims)


def _highest(found: dict[str, Figure]) -> bool | None:
    """Whether V-Cloak's figure is the highest; undecided where another one is missing."""
    cloak = found["V-CLOAK"]
    return all_of([exceeds(cloak, figure) for n, figure in found.items() if n != "V-CLOAK"])


def cleaned(bench: Bench) -> Ours:
    """Figure 7: adversary A2, six de-noisers."""
    names = tuple(denoisers())
    rows: list[OurRow] = []
    worst: dict[str, Figure] = {}
    for label, system in {"V-CLOAK": CLOAK, **SYSTEMS}.items():
        found = bench.measured(system, (IGNORANT, "de-noising"), denoisers=names)
        if isinstance(found, str):
            rows.append(OurRow(label, (absent(found),) * 2))
            continue
        rows.append(OurRow(f"ours {label}", _two(found, IGNORANT), label))
        own = [f"de-noising ({name})" for name in names]
        rows += [OurRow(f"ours {label}, {name}", _two(found, f"de-noising ({name})"),
                        "V-CLOAK, MP3" if (label, name) == ("V-CLOAK", "mp3") else "")
                 for name in names]  # fmt: skip
        worst[label] = min((found.figure(a, "EER") for a in own), key=lambda f: f.value or 0.0)
        if label == "V-CLOAK":
            most = min(own, key=lambda a: found.figure(a, "EER").value or 0.0)
            claim = "MP3 is the de-noiser that helps most against V-Cloak"
            evidence = f"the lowest EER is that of {most}: {worst[label].value:.1f} %"
            harm = Finding(claim, "mp3" in most, evidence)
    findings = [harm] if "V-CLOAK" in worst else []
    if len(worst) > 1:
        claim = "V-Cloak has the highest EER of the worst de-noiser"
        findings.append(compared(claim, _highest(worst), *worst.items()))
    panel = _panel("figure-7")
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 1),), tuple(findings))


def _two(found: Measurement, attacker: str) -> tuple[Figure, ...]:
    return tuple(found.figure(attacker, metric) for metric in ("MMR", "EER"))


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
        compared("A larger epsilon has a higher MMR", exceeds(mmr[-1], mmr[0]),
                 ("least epsilon", mmr[0]), ("largest", mmr[-1])),
    )  # fmt: skip
    columns = ("EER, %, A1", "EER, %, A3 without key", "WER, %")
    panels = (
        OurPanel(panel.title, panel.columns, tuple(rows), 1),
        OurPanel("more by epsilon", columns, tuple(more), 1),
    )
    return Ours(panels, findings)


def users(bench: Bench) -> Ours:
    """Figure 9: listeners on similarity, acceptability, naturalness and intelligibility."""
    questions = ("similarity", "acceptability", "naturalness", "intelligibility")
    columns = ("ratings", "mean", "standard deviation")
    panels = [opinions(bench, question, columns, question) for question in questions]
    panels.append(normalised_means(bench, [(question, "") for question in questions]))
    return Ours(tuple(panels))
