"""Deng et al. 2023, section 5.7: cloaks that were trained without a part of the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from voicenym.reproduction.bench import IGNORANT, Bench, Measurement
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
from voicenym.reproduction.published_figures import panels_of
from voicenym.reproduction.table_rows import compared, mean

FULL, WORDLESS = "full", "no-words"
GRAPHS, TRANSCRIPTS, FREE = "posteriorgram", "transcript", "no-throttle"
ABLATIONS = {
    FULL: "all losses",
    WORDLESS: "without L_ASR",
    GRAPHS: "L_ASR by posteriorgram",
    TRANSCRIPTS: "L_ASR by CTC of the transcript",
    "no-masking": "without L_PSY",
    "no-anonymity": "without L_ASV",
    FREE: "without Throttle",
}
"""Cloaks that ``--cloak NAME=FOLDER`` gives, by name, with their rows."""
EPSILON = 0.1
NONE = (
    "no network was given: voicenym train vcloak with weights of zero for a loss, then --cloak "
    f"{FULL}=FOLDER --cloak {WORDLESS}=FOLDER"
)


def ablations(bench: Bench) -> Ours:
    """Table 20 and section 5.7: A1, words and noise of cloaks trained without a part.

    Rates are means over every verifier; the cloaks have one epsilon.
    """
    if bench.speech is None or not bench.cloaks:
        return Ours(notes=(NONE,))
    published = panels_of("deng-2023", "table-20")[0]
    names = _verifiers(bench)
    found: dict[str, dict[str, tuple[Figure, ...]]] = {}
    rows: list[OurRow] = []
    more = []
    for name, label in ABLATIONS.items():
        if name not in bench.cloaks:
            continue
        measured = _measured(bench, bench.cloaks[name])
        own = {
            metric: tuple(_rate(measured, metric, voice) for voice in names)
            for metric in ("MMR", "EER")
        }
        found[name] = {**own, "WER": (_sound(measured, "WER"),)}
        if not rows:
            rows.append(OurRow("ours, originals", _originals(measured, names)))
        beside = published.labels[0] if name == WORDLESS else ""
        rows.append(OurRow(f"ours, {label}", tuple(map(mean, found[name].values())), beside))
        apart = (*found[name]["EER"], *found[name]["MMR"])
        more.append(OurRow(f"ours, {label}", (_sound(measured, "SNR"), *apart)))
    claims = (
        ("Without L_ASR, the EER is higher", "EER", WORDLESS, FULL),
        ("Without L_ASR, the MMR is higher", "MMR", WORDLESS, FULL),
        ("Without L_ASR, more words are lost", "WER", WORDLESS, FULL),
        ("CTC loses more words than the posteriorgram", "WER", TRANSCRIPTS, GRAPHS),
        ("Throttle raises the EER", "EER", FULL, FREE),
    )
    findings = tuple(
        _claimed(
            claim, (first, found[first][metric]), (second, found[second][metric]),
            names if metric != "WER" else [""],
        )
        for claim, metric, first, second in claims
        if first in found and second in found
    )  # fmt: skip
    columns = (
        "SNR, dB", *(f"{metric}, %, {name}" for metric in ("EER", "MMR") for name in names),
    )  # fmt: skip
    panels = (
        OurPanel(published.title, published.columns, tuple(rows), 1),
        OurPanel("by verifier", columns, tuple(more), 1),
    )
    return Ours(panels, findings, (_trained(bench.cloaks), f"epsilon is {EPSILON:g}"))


def _claimed(
    claim: str,
    first: tuple[str, tuple[Figure, ...]],
    second: tuple[str, tuple[Figure, ...]],
    verifiers: list[str],
) -> Finding:
    """Whether the first cloak's figures exceed the second's for every verifier.

    Means over verifiers have no intervals, and would decide by chance.
    """
    verdict = all_of([exceeds(a, b) for a, b in zip(first[1], second[1], strict=True)])
    figures = [
        (", ".join(x for x in (ABLATIONS[name], voice) if x), figure)
        for name, own in (first, second)
        for voice, figure in zip(verifiers, own, strict=True)
    ]
    return compared(claim, verdict, *figures)


def _measured(bench: Bench, folder: Path) -> Measurement | str:
    """Adversary A1 alone, with words and noise."""
    system = f"vcloak:epsilon={EPSILON:g},weights={folder}"
    words = {"recogniser": bench.recogniser, "sample": bench.budget.sample}
    return bench.measured(system, (IGNORANT,), **words)


def _rate(measured: Measurement | str, metric: str, voice: str) -> Figure:
    if isinstance(measured, str):
        return absent(measured)
    return measured.figure(IGNORANT, metric, "", voice)


def _sound(measured: Measurement | str, metric: str) -> Figure:
    return absent(measured) if isinstance(measured, str) else measured.utility(metric)


def _originals(measured: Measurement | str, names: list[str]) -> tuple[Figure, ...]:
    """EER and WER of original speech, which every measurement has."""
    if isinstance(measured, str):
        return (absent(measured),) * 3
    evaluation = measured.evaluation
    rates = [
        Figure.of(attack.figures.get("EER"))
        for attack in evaluation.unprotected
        if attack.attacker == "unprotected" and attack.verifier in names
    ]
    words = Figure.of(evaluation.utility.get("WER"), "not measured on original speech")
    return absent("no anonymization"), mean(rates), words


def _verifiers(bench: Bench) -> list[str]:
    """Names of the verifiers of a measurement, as it gives them."""
    from voicenym.verification.verifiers import verifier

    return [verifier(name).name for name in bench.verifiers]


def _trained(cloaks: Mapping[str, Path]) -> str:
    """Steps and words of the trainings, by the cards of the cloaks."""
    from voicenym.nets.cloak.cloak import Cloak

    cards = {name: Cloak.load(place)[1].get("card", {}) for name, place in cloaks.items()}
    steps = {str(card.get("steps", "unknown")) for card in cards.values()}
    kept = {name: card.get("words kept by", "unknown") for name, card in cards.items()}
    listed = "; ".join(f"{ABLATIONS[name]}: {what}" for name, what in kept.items())
    return f"steps of the trainings: {', '.join(sorted(steps))}; words in L_ASR: {listed}"
