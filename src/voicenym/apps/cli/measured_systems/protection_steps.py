"""Steps of protection: which systems earn which, by the figures of their cards.

A step is a promise about attackers. A system earns it by measured equal error rates alone, and
steps that stop attackers who know it by the lower end of the interval; among those that earn it,
the one that loses the fewest words is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voicenym.apps.cli.measured_systems import measured
from voicenym.errors import UnknownSystemError

if TYPE_CHECKING:
    from voicenym.anonymizer import Card


TRAINED = "semi-informed"
"""Beginning of the names of attackers who train on the system's output."""


@dataclass(frozen=True)
class Step:
    """Step of protection.

    Args:
        name: as typed by a user.
        stops: who is stopped, a clause.
        ignorant: least EER in % of a verifier that does not know that the voice was changed.
        strongest: least EER in % of the strongest attacker without the key, at the lower end of
            its interval.
    """

    name: str
    stops: str
    ignorant: float
    strongest: float


LADDER = (
    Step(
        "listener",
        "people who listen, and verifiers that do not know that the voice was changed; not those "
        "who know the system and have other recordings of the speaker",
        30.0,
        0.0,
    ),
    Step(
        "machine",
        "in part also attackers who know the system and train on its output",
        40.0,
        15.0,
    ),
    Step("expert", "most attempts of attackers who train on its output", 40.0, 30.0),
    Step("words", "nearly all attempts to find the speaker by voice; the words remain", 45.0, 40.0),
)
"""The steps, the weakest first."""


def step(name: str) -> Step:
    """A step by name.

    Raises:
        UnknownSystemError: no such step.
    """
    for one in LADDER:
        if one.name == name:
            return one
    names = ", ".join(one.name for one in LADDER)
    raise UnknownSystemError(f"no protection {name!r}; there are: {names}")


def ignorant(card: Card) -> float | None:
    """EER in % of the strongest ignorant verifier; None if it was not measured."""
    found = [f.value for f in measured.attacks(card) if f.condition.startswith("ignorant")]
    return min(found, default=None)


def earns(card: Card, wanted: Step) -> bool:
    """Whether a system's measured figures reach a step.

    What was not measured is not earned: steps that stop a strongest attacker need figures of one
    who trained on the system's output.
    """
    strongest, least = measured.strongest(card), ignorant(card)
    if strongest is None or least is None:
        return False
    trained = any(figure.condition.startswith(TRAINED) for figure in measured.attacks(card))
    if wanted.strongest > 0.0 and not trained:
        return False
    low = strongest.value if strongest.low is None else strongest.low
    return low >= wanted.strongest and least >= wanted.ignorant


def step_of(card: Card) -> Step | None:
    """The highest step that a system earns; None if it earns none."""
    return next((one for one in reversed(LADDER) if earns(card, one)), None)


def suited(cards: Iterable[Card], wanted: Step) -> list[Card]:
    """Systems that earn a step and have their weights along, the fewest lost words first."""

    def price(card: Card) -> tuple[float, float, str]:
        words, strongest = measured.metric(card, "WER"), measured.strongest(card)
        return (
            float("inf") if words is None else words.value,
            0.0 if strongest is None else -strongest.value,
            card.name,
        )

    there = [card for card in cards if measured.weights(card) != "your own"]
    return sorted((card for card in there if earns(card, wanted)), key=price)


def chosen(cards: Iterable[Card], name: str) -> Card:
    """The system of a step.

    Raises:
        UnknownSystemError: no such step, or no system earns it.
    """
    wanted, known = step(name), list(cards)
    found = suited(known, wanted)
    if found:
        return found[0]
    lower = [one.name for one in LADDER if suited(known, one)]
    cure = f"choose {lower[-1]}, or publish a transcript" if lower else "name a system"
    raise UnknownSystemError(
        f"no system here earns --protection {name}: the strongest attacker's EER, at the lower end "
        f"of its interval, would have to be {wanted.strongest:g} % or more; {cure} (voicenym "
        "explain)"
    )
