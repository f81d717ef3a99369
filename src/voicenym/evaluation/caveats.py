"""Limits of an evaluation that its report states: attackers not tried, or weak."""

from __future__ import annotations

from collections.abc import Sequence

from voicenym.attack.attacker_list import must_run_system, not_run
from voicenym.attack.attacker_resources import Resources
from voicenym.attack.normalised_scores import SUFFIX
from voicenym.evaluation.leaking_channels import sentences
from voicenym.evaluation.results import AttackFigures

STILL_LEARNING = 1.1
"""Largest difference between the best error rates of the first three quarters and of the whole of a
training; above it, more time would lower the error rate."""


def caveats(
    attacks: Sequence[AttackFigures], statistics: str, only: Sequence[str] = ()
) -> tuple[str, ...]:
    """Caveats of the attacks that ran on a system.

    Args:
        attacks: on the system.
        statistics: name of the verifier of voice statistics, which is not trained.
        only: requested attackers; empty for all.
    """
    if only:
        return (*learned_from(attacks), *sentences(attacks))
    return (
        *sentences(attacks),
        *weaker_than_statistics(attacks, statistics),
        *learned_from(attacks),
    )


def omissions(
    attacks: Sequence[AttackFigures], resources: Resources, only: Sequence[str] = ()
) -> tuple[str, ...]:
    """Caveats on attackers that did not run, or not to the end of their training: with any of them
    the figures are upper bounds of protection.

    Args:
        attacks: on the system.
        resources: of the attackers on it.
        only: requested attackers; empty for all.
    """
    if only:
        return (
            f"of all attackers, only these were run: {', '.join(only)}; the others may find more, "
            "and figures are upper bounds",
            *unlearnt([a for a in attacks if a.learning] or attacks),
        )
    return (*untried(resources), *unlearnt(attacks))


def learned_from(attacks: Sequence[AttackFigures]) -> tuple[str, ...]:
    """Caveat on the speech that attackers learned from: an attacker may have more of it."""
    most = max((attack.learned_from for attack in attacks), default=0)
    if not most:
        return ()
    return (
        f"attackers who train learned from {most:,} recordings of other people (--pool-size); with "
        "more of them they find more",
    )


def weaker_than_statistics(attacks: Sequence[AttackFigures], statistics: str) -> tuple[str, ...]:
    """Attacks that are weaker than voice statistics with the same knowledge."""
    notes = []
    for attack in attacks:
        plain = min(
            (a for a in attacks if a.verifier == statistics and a.informed <= attack.informed),
            key=lambda a: a.eer.value,
            default=None,
        )
        if plain is None or attack.verifier == statistics or attack.holds_key:
            continue
        if attack.attacker.endswith(SUFFIX):  # the attack without it has the caveat
            continue
        if plain.eer.value < attack.eer.value:
            notes.append(
                f"{attack.verifier} as {attack.attacker} attacker is weak on this "
                f"system: pitch and formant statistics alone do better ({plain.eer.value:.1f} % "
                f"against {attack.eer.value:.1f} %)"
            )
    return tuple(notes)


def untried(resources: Resources) -> tuple[str, ...]:
    """Caveats on attackers that did not run, with what they lack.

    Args:
        resources: of the attackers on a system, or on its files.
    """
    notes = []
    if resources.system is None:
        notes.append(
            "only files are known, not the system: attackers who must run it "
            f"({', '.join(must_run_system())}) were not run, and figures are upper bounds"
        )
    # what files lack for all attackers who train stands in missing_files
    if resources.system is not None or resources.can_train:
        groups = [
            f"{', '.join(group.names)}, since {' and '.join(group.lacking)}"
            for group in not_run(resources)
        ]
        if groups:
            notes.append(
                f"these attackers were not run: {'; '.join(groups)}; each of them may find more, "
                "and figures are upper bounds"
            )
    return tuple(notes)


def missing_files(resources: Resources) -> tuple[str, ...]:
    """Caveats on missing files, and on attackers that therefore did not run.

    Args:
        resources: of the attackers on a system that is only known by its files.
    """
    notes = []
    if not resources.anonymized_enrolment:
        notes.append(
            "there is no enrolment under the attackers' keys (--anonymized-enrolment): "
            "lazy-informed and semi-informed attackers were not run, and figures are upper bounds"
        )
    elif not resources.can_train:
        notes.append(
            "there is no anonymized speech of other people (--anonymized-pool, of two speakers at "
            "least): semi-informed attackers were not run, and figures are upper bounds"
        )
    if not resources.published_enrolment:
        notes.append(
            "the enrolment was not published under the user's key: the key-holder was not run"
        )
    if resources.can_train and not resources.original_pool:
        notes.append(
            "the originals of the attackers' training speech were not given (--pool): scores on "
            "original speech are not normalised, and the ignorant attacker's voice statistics are "
            "not trained"
        )
    return tuple(notes)


def unlearnt(attacks: Sequence[AttackFigures]) -> tuple[str, ...]:
    """Caveats on trained attackers: not run, or still improving at the end of their training."""
    taught = [attack for attack in attacks if attack.learning]
    if not taught:
        return (
            "no neural verifier was trained on anonymized speech (--attacker-budget or "
            "--attacker-steps); an attacker who does may do better than any here, and figures are "
            "upper bounds",
        )
    best = [min(lesson.eer for lesson in attack.learning) for attack in taught]
    earlier = [
        min(
            (x.eer for x in attack.learning if x.step <= 0.75 * attack.learning[-1].step),
            default=float("inf"),
        )
        for attack in taught
    ]
    if all(then <= STILL_LEARNING * now for then, now in zip(earlier, best, strict=True)):
        return ()
    steps = " and ".join(f"{attack.learning[-1].step:,}" for attack in taught)
    return (
        "the verifier that was trained on anonymized speech was still learning when its training "
        f"ended, after {steps} steps: give it more (--attacker-budget, --attacker-steps); figures "
        "are upper bounds",
    )
