"""Controls of attackers: weak protections under which a working attacker must find speakers.

A figure near chance means that a system protects, or that the attacker is broken. The controls
distinguish the two cases, as Panariello et al., "The risks and detection of overestimated privacy
protection in voice anonymisation" (2025), demand: original speech, speech that is analysed and
synthesised without a change of voice, and a weakened form of the system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from voicenym.attack.scenario import Protection
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import Anonymize, Step, Transform, Undo
from voicenym.pseudonym import Key

ORIGINAL = "original speech"
COPY = "copied speech"
HALF = "half strength"
SAME_VOICE = Undo("mcadams", (("low", 1.0), ("high", 1.0)))
"""Linear prediction and synthesis by ``mcadams`` with alpha 1, which leaves every pole in place."""
HALVES: dict[str, Callable[[Mapping[str, Any]], dict[str, float]]] = {
    "mcadams": lambda now: {name: 0.5 * (1.0 + now[name]) for name in ("low", "high")},
    "pv-tsm": lambda now: {name: 0.5 * now[name] for name in ("low", "high")},
}
"""Settings of half the strength, where a system has such: alpha half as far from 1, half as many
semitones. Others are weakened by :class:`Blended`."""


class Keyless(Protection):
    """A protection that is the same under every key; attackers can have it too."""

    def with_key(self, key: Key, per: str) -> Transform:
        return self.transform

    def with_keys(self, keys: Iterable[tuple[Key, str]]) -> list[Transform]:
        return [self.transform]


@dataclass(frozen=True)
class Blended:
    """Protected and original speech, added at equal level: half of the original remains.

    Args:
        protected: the system's step.
    """

    protected: Step

    @property
    def description(self) -> str:
        return f"half {self.protected.description}"

    def identity(self, recording: Recording) -> str:
        return f"blended {self.protected.identity(recording)}"

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        changed = self.protected(samples, recording)
        count = min(len(samples), len(changed))
        found: np.ndarray = (0.5 * samples[:count] + 0.5 * changed[:count]).astype(np.float32)
        return found


class HalfBlended(Protection):
    """A system whose output is blended with the original, under every key."""

    def with_key(self, key: Key, per: str) -> Transform:
        first, *line = super().with_key(key, per).steps
        return Transform((Blended(first), *line))


def original(protection: Protection) -> Protection:
    """Original speech, over the same line."""
    return Keyless(Transform(protection.line), per=protection.per, line=protection.line)


def copied(protection: Protection) -> Protection:
    """Speech that is analysed and synthesised again in its own voice, over the same line."""
    transform = Transform((SAME_VOICE, *protection.line))
    return Keyless(transform, per=protection.per, line=protection.line)


def halved(protection: Protection, key: Key) -> Protection | None:
    """The system at half strength; None if only files of it are known.

    Args:
        protection: of the user.
        key: from which the voices are drawn.
    """
    system = protection.system
    if system is None:
        return None
    if system in HALVES:
        theirs = protection.attackers_parameters
        return Protection.by(
            system,
            key,
            protection.per,
            _weakened(system, protection.parameters),
            protection.line,
            protection.same_sex,
            None if theirs is None else _weakened(system, theirs),
        )
    step = Blended(
        Anonymize(system, key, protection.per, protection.parameters, same_sex=protection.same_sex)
    )
    return HalfBlended(
        Transform((step, *protection.line)),
        system,
        protection.parameters,
        protection.per,
        line=protection.line,
        same_sex=protection.same_sex,
        attackers_parameters=protection.attackers_parameters,
    )


def _weakened(system: str, given: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
    """Settings at half the strength, those that are given included."""
    weaker = HALVES[system](_settings(system, given))
    return tuple(sorted({**dict(given), **weaker}.items()))


def _settings(system: str, changed: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    import dataclasses

    from voicenym.anonymizer import system_class

    defaults = {field.name: field.default for field in dataclasses.fields(system_class(system))}
    return {**defaults, **dict(changed)}
