"""What an attack is made on: who is enrolled, what is tried, and what was done to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from voicenym.attack.transforms import Anonymize, Transform
from voicenym.corpus.recording import Recording
from voicenym.pseudonym import Key


@dataclass(frozen=True)
class Model:
    """One enrolled speaker.

    Args:
        name: of the model.
        speaker: who it is.
        recordings: original speech to enrol with.
        sex: ``f``, ``m`` or empty.
    """

    name: str
    speaker: str
    recordings: tuple[Recording, ...]
    sex: str = ""


@dataclass(frozen=True)
class Protection:
    """What the user did to recordings.

    Args:
        transform: from original to published recordings.
        system: the system's name, if it is one of ours, so that an attacker can use it too.
        parameters: of the system.
        per: whether voices were given per ``speaker`` or ``utterance``.
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
        """A system of ours with the user's key."""
        step = Anonymize(system, key, per, parameters)
        return cls(Transform((step,)), system, parameters, per)

    def with_key(self, key: Key, per: str) -> Transform:
        """The same system with another key: what an attacker can do who knows the system."""
        if self.system is None:
            raise ValueError("an attacker cannot run a system that is only known by its files")
        return Transform((Anonymize(self.system, key, per, self.parameters),))


@dataclass(frozen=True)
class Scenario:
    """An attack's material.

    Args:
        models: the enrolled, with their original speech.
        trials: recordings whose speaker is sought; the attacker gets their protected form.
        protection: what the user did to the trials.
        key: the attacker's own key.
        pool: original speech of other people, for attackers who train.
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
