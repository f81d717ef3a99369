"""Limits of an evaluation that its report states: attackers not tried or badly trained."""

from __future__ import annotations

from collections.abc import Sequence

from voicenym.attack.normalised_scores import SUFFIX
from voicenym.evaluation.leaking_channels import sentences
from voicenym.evaluation.results import AttackFigures

STILL_LEARNING = 1.1
"""By how much the best error rate of the first three quarters of a training may exceed that of the
whole; else more time would have helped."""


def caveats(
    attacks: Sequence[AttackFigures],
    statistics: str,
    system: str | None,
    trains: bool,
    only: Sequence[str] = (),
) -> tuple[str, ...]:
    """All caveats of a system's attacks.

    Args:
        attacks: that were tried on it.
        statistics: name of the verifier that has learnt nothing.
        system: its name, where attackers can run it.
        trains: whether they had speech of other people.
        only: attackers that were asked for, if not all were.
    """
    if only:
        return (
            f"of all attackers, only these were run: {', '.join(only)}; the others may find more",
            *unlearnt([a for a in attacks if a.learning] or attacks),
            *sentences(attacks),
        )
    return (
        *sentences(attacks),
        *badly_trained(attacks, statistics),
        *untried(system, trains),
        *unlearnt(attacks),
    )


def badly_trained(attacks: Sequence[AttackFigures], statistics: str) -> tuple[str, ...]:
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
                f"{attack.verifier} as {attack.attacker} attacker is badly trained for this "
                f"system: pitch and formant statistics alone do better ({plain.eer.value:.1f} % "
                f"against {attack.eer.value:.1f} %)"
            )
    return tuple(notes)


def untried(system: str | None, trains: bool) -> tuple[str, ...]:
    """Attackers who could not be tried."""
    if system is None:
        return (
            "only files are known, not the system: attackers who run it themselves (lazy-informed, "
            "key search, semi-informed) were not tried, and figures are upper bounds",
        )
    if not trains:
        return (
            "no speech of other people was given to train on (--pool): the semi-informed attacker "
            "was not tried, and figures are upper bounds",
        )
    return ()


def unlearnt(attacks: Sequence[AttackFigures]) -> tuple[str, ...]:
    """Whether the strongest kind of attacker was tried, and had learnt what it could."""
    taught = [attack for attack in attacks if attack.learning]
    if not taught:
        return (
            "no neural verifier was trained on anonymized speech (--attacker-budget); an attacker "
            "who does may do better than any here",
        )
    best = [min(lesson.eer for lesson in attack.learning) for attack in taught]
    earlier = [
        min(
            (x.eer for x in attack.learning if x.seconds <= 0.75 * attack.learning[-1].seconds),
            default=float("inf"),
        )
        for attack in taught
    ]
    if all(then <= STILL_LEARNING * now for then, now in zip(earlier, best, strict=True)):
        return ()
    return (
        "the verifier that was trained on anonymized speech was still learning when its time was "
        "up: give it more (--attacker-budget); figures are upper bounds",
    )
