"""Scenario of an attack: enrolled speakers, trials, protection, and the attacker's material."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import Anonymize, Transform
from voicenym.pseudonym import Key


@dataclass(frozen=True)
class Model:
    """One enrolled speaker.

    Args:
        name: of the model.
        speaker: its true speaker.
        recordings: original speech for the enrolment.
        sex: ``f``, ``m`` or empty.
    """

    name: str
    speaker: str
    recordings: tuple[Recording, ...]
    sex: str = ""


@dataclass(frozen=True)
class Protection:
    """The user's protection of recordings.

    Args:
        transform: from original to published recordings.
        system: name of the system; None where only its files are known.
        parameters: of the system.
        per: whether voices are drawn per ``speaker`` or ``utterance``.
    """

    transform: Transform
    system: str | None = None
    parameters: tuple[tuple[str, Any], ...] = ()
    per: str = "speaker"

    @classmethod
    def by(
        cls,
        system: str,
        key: Key,
        per: str = "speaker",
        parameters: tuple[tuple[str, Any], ...] = (),
    ) -> Protection:
        """A system of this package with the user's key."""
        step = Anonymize(system, key, per, parameters)
        return cls(Transform((step,)), system, parameters, per)

    def with_key(self, key: Key, per: str) -> Transform:
        """The same system with another key, for attackers that know the system."""
        if self.system is None:
            raise ValueError("an attacker cannot run a system that is only known by its files")
        return Transform((Anonymize(self.system, key, per, self.parameters),))


@dataclass(frozen=True)
class Scenario:
    """The material of an attack.

    Args:
        models: enrolled speakers, with their original speech.
        trials: recordings of unknown speakers, of which the attacker has the protected form.
        protection: of the trials.
        key: the attacker's own key.
        pool: original speech of other people, for attackers that train.
    """

    models: tuple[Model, ...]
    trials: tuple[Recording, ...]
    protection: Protection
    key: Key
    pool: tuple[Recording, ...] = field(default=())

    @property
    def enrolment(self) -> tuple[Recording, ...]:
        """The recordings of all models, model by model."""
        return tuple(recording for model in self.models for recording in model.recordings)
