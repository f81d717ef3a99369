"""Claim meter: what each attacker's figures support, by the three tests of WP216.

The Article 29 Working Party's Opinion 05/2014 on Anonymisation Techniques (WP216) asks of any
technique whether it is still possible to single out an individual, to link records of an
individual, and to infer information on an individual. Here each test has measures that stand for
it; an attack that fails shows that this attacker failed, and no more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from voicenym.evaluation.reported_metrics import named
from voicenym.evaluation.reports.text_summary import figure
from voicenym.evaluation.results import AttackFigures, SystemResults, by_strength
from voicenym.metrics.metric import Measured

SINGLING_OUT, LINKABILITY, INFERENCE = "singling out", "linkability", "inference"
BETTER, NO_BETTER, UNKNOWN, NO_EVIDENCE = "remains", "not shown", "not measured", "no evidence"
"""Verdicts: the risk remains; this attacker did not show it; no figure; a figure of a broken
attacker."""
NO_INTERVAL = "no interval"


RANK_ONE = "rank-1"
LUCKY = ("found for sure", "D_ECE", "worst case")
"""Metrics that lie above guessing by luck alone, and are held against shuffled speakers."""


@dataclass(frozen=True)
class Measure:
    """A measure that stands for a test.

    Args:
        test: of WP216.
        metrics: names of its metrics; the risk remains if one of them lies beyond guessing.
        stands: why it stands for the test, and what it leaves out.
    """

    test: str
    metrics: tuple[str, ...]
    stands: str


MEASURES = (
    Measure(
        SINGLING_OUT,
        ("first of 1,000", "found for sure", RANK_ONE),
        "how often a search through many people ends with the speaker (the share that comes first "
        "among 1,000, extrapolated from the trials; the share of speakers found by all of their "
        "recordings, held against shuffled speakers; the share found among the enrolled)",
    ),
    Measure(
        LINKABILITY,
        ("EER", "D_sys"),
        "how well an attacker tells whether two recordings are of one speaker (equal error rate; "
        "global linkability after Gomez-Barrero et al. 2018)",
    ),
    Measure(
        INFERENCE,
        ("D_ECE", "worst case"),
        "how much a score tells about who speaks (expected disclosure in bits and worst case after "
        "ZEBRA, Nautsch et al. 2020), held against the same scores with shuffled speakers, since "
        "both are above 0 by luck; it says nothing of sex, age, health, or of what the words "
        "reveal",
    ),
)


@dataclass(frozen=True)
class Claim:
    """What the figures of one attacker support in one test.

    Args:
        attacker, verifier, knows: of the attacker.
        test: of WP216.
        verdict: one of the four above.
        figures: text by metric.
        sentence: what they support.
    """

    attacker: str
    verifier: str
    knows: str
    test: str
    verdict: str
    figures: dict[str, str]
    sentence: str


def claims(system: SystemResults) -> list[Claim]:
    """Claims of all attackers on a system, the strongest attacker first."""
    return [
        _claim(attack, measure) for attack in by_strength(system.attacks) for measure in MEASURES
    ]


def _claim(attack: AttackFigures, measure: Measure) -> Claim:
    there = {name: attack.figures[name] for name in measure.metrics if name in attack.figures}
    texts = {name: _text(attack, name, value) for name, value in there.items()}
    verdict = _verdict(attack, there)
    sentence = " ".join([_sentence(attack, measure.test, verdict), *_former(attack, there)])
    return Claim(
        attack.attacker, attack.verifier, attack.knows, measure.test, verdict, texts, sentence
    )


def _text(attack: AttackFigures, name: str, value: Measured) -> str:
    """A figure with its interval, and what guessing or luck reaches."""
    metric = named(name)
    if metric is None:
        return f"{value.value:g}"
    unit = f" {metric.unit}" if metric.unit else ""
    if (luck := _luck(attack, name)) is not None:
        text = figure(dataclasses.replace(metric, chance=None), value)
        return f"{text}, by luck up to {luck:.{metric.display.digits + 1}f}{unit}"
    text = figure(metric, value)
    guessing = _guessing(attack, name)
    if metric.chance is None and guessing is not None:
        text += f", chance {guessing:.1f}{unit}"
    return text


def _verdict(attack: AttackFigures, there: dict[str, Measured]) -> str:
    """The harshest of the measures that have a level of guessing."""
    if attack.broken:
        return NO_EVIDENCE
    found = []
    for name, value in there.items():
        metric, guessing, luck = named(name), _guessing(attack, name), _luck(attack, name)
        if luck is not None:
            found.append(value.value > luck)
        elif metric is not None and guessing is not None:
            found.append(_better_than_chance(value, guessing, metric.better == "higher"))
    return UNKNOWN if not found else BETTER if any(found) else NO_BETTER


def _guessing(attack: AttackFigures, name: str) -> float | None:
    """A metric's level of guessing on the attack's trials.

    In reports of earlier releases that of rank-1 is one in the mean number of candidates, which is
    too low where women and men differ in number.
    """
    if name in attack.chances:
        return attack.chances[name]
    if name == RANK_ONE and attack.targets:
        return 100.0 * attack.targets / (attack.targets + attack.nontargets)
    metric = named(name)
    return None if metric is None else metric.chance


def _luck(attack: AttackFigures, name: str) -> float | None:
    """What a metric reaches at most in 95 of 100 shuffles of the speakers; None for metrics whose
    interval covers luck, and in reports of earlier releases.
    """
    return attack.by_luck.get(name) if name in LUCKY else None


def _former(attack: AttackFigures, there: Container[str]) -> list[str]:
    """Sentence on levels of guessing that a report of an earlier release lacks."""
    lacking = [f"{name} with 0" for name in LUCKY if name in there and name not in attack.by_luck]
    if RANK_ONE in there and RANK_ONE not in attack.chances:
        lacking.append(f"{RANK_ONE} with one in the mean number of candidates")
    if attack.broken or not lacking:
        return []
    return [
        "The report is of an earlier release that did not measure what luck reaches: it compares "
        f"{' and '.join(lacking)}, which luck alone can exceed; evaluate again."
    ]


def _better_than_chance(value: Measured, chance: float, protects_high: bool) -> bool:
    """Whether the interval of a figure lies on the attacker's side of chance.

    Args:
        value: with or without an interval.
        chance: level of guessing.
        protects_high: whether high figures are those of protection, as of the EER.
    """
    if protects_high:
        return (value.value if value.high is None else value.high) < chance
    return (value.value if value.low is None else value.low) > chance


_DOES: dict[str, Callable[[str], str]] = {
    SINGLING_OUT: lambda who: f"{who} finds people among many better than by guessing",
    LINKABILITY: lambda who: f"{who} links recordings of one person better than by guessing",
    INFERENCE: lambda who: f"{who} learns something of who speaks from a recording",
}
_FAILED = {
    SINGLING_OUT: "did not find people among many better than by guessing",
    LINKABILITY: "did not link recordings of one person better than by guessing",
    INFERENCE: "was not shown to learn who speaks",
}


def _sentence(attack: AttackFigures, test: str, verdict: str) -> str:
    who = "whoever holds the key" if attack.holds_key else "this attacker"
    trials = f"{attack.targets:,} same-speaker and {attack.nontargets:,} other trials"
    if verdict == BETTER:
        return f"The figure supports that the risk remains: {_DOES[test](who)}."
    if verdict == NO_BETTER:
        return (
            f"The figure supports only that {who} {_FAILED[test]} in {trials}; a stronger "
            "attacker, or more recordings, may."
        )
    if verdict == NO_EVIDENCE:
        return "The attacker also fails on controls where it must succeed: no evidence either way."
    return "No figure: nothing is supported."


def overall(found: Sequence[Claim]) -> str:
    """What all claims on a corpus support together, in a paragraph."""
    tests = [measure.test for measure in MEASURES]
    if not found:
        return (
            "No attack was run on this corpus. Nothing is known of its protection, and no claim on "
            f"{', '.join(tests)} is supported."
        )
    left = [t for t in tests if any(c.test == t and c.verdict == BETTER for c in found)]
    text = (
        f"The risk of {' and of '.join(left)} remains by at least one attacker."
        if left
        else "No attacker that ran showed one of the three risks on the trials here."
    )
    return (
        f"{text} No set of attackers is complete, and none of these figures supports the claim "
        "that the recordings are no personal data. Treat them as pseudonymized personal data, "
        "unless a legal assessment of the whole publication says otherwise."
    )
