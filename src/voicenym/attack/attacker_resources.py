"""Resources of attackers: the system, speech of other people, and settings of their training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from voicenym.recognition.sphinx_processes import segment_decoding

LEAST_FOR_STATISTICS = 100
"""Recordings of other people below which statistical models are not trained."""


@dataclass(frozen=True)
class AttackerTraining:
    """Settings of attackers that train a verifier on protected speech.

    Args:
        folder: of protected speech and trained verifiers; a later run uses what it holds.
        seconds: time limit of a neural verifier's training; 0 for none.
        steps: optimizer steps of this training at most; None for those of the recipe.
        start: verifier whose training continues, a name or a folder; None for random weights.
        voices: keys under which each recording of the pool is protected, with a voice for each
            utterance; one further key gives a voice for each speaker.
        config: name or file of the neural verifier's recipe.
        workers: processes that protect speech.
        pretrained: two-branch verifier that ``voicenym train two-branch`` wrote; None where there
            is none.
    """

    folder: Path
    seconds: float
    start: str | None = "ecapa-small"
    voices: int = 3
    config: str = "attacker"
    workers: int = 1
    pretrained: Path | None = None
    steps: int | None = None

    @property
    def of_networks(self) -> bool:
        """Whether neural verifiers are trained, which needs a limit of time or of steps."""
        return self.seconds > 0.0 or self.steps is not None

    @property
    def limits(self) -> str:
        """Limits of a neural verifier's training, such as ``15 min`` or ``90 s``."""
        whole = self.seconds % 60.0 == 0.0 or self.seconds > 600.0
        time = f"{self.seconds / 60:.0f} min" if whole else f"{self.seconds:.0f} s"
        time = time if self.seconds > 0.0 else ""
        steps = "" if self.steps is None else f"{self.steps:,} steps"
        return " or ".join(filter(None, (time, steps)))

    def share(self, share: float) -> AttackerTraining:
        """The same settings with a share of the limits."""
        steps = None if self.steps is None else max(1, round(share * self.steps))
        return replace(self, seconds=share * self.seconds, steps=steps)


@dataclass(frozen=True)
class Resources:
    """Resources of the attackers on one system.

    Args:
        system: name of the system; None if only its files are known.
        parameters: of the system.
        denoisers: names of :func:`voicenym.attack.denoisers.denoisers`.
        keys: number of keys that a key search tries.
        pool_recordings: recordings of other people.
        pool_speakers: speakers of these recordings.
        normalise: whether comparisons also run with normalised scores.
        training: settings of a verifier's training; None where attackers train no verifier.
        say: receives progress messages.
        anonymized_enrolment: whether there are files of the enrolment under the attackers' keys,
            where only files of the system are known.
        anonymized_pool: the same of the other people's recordings.
        published_enrolment: whether the enrolment is there under the user's key.
        original_pool: whether the other people's recordings are original speech.
        named: parts of names of requested attackers; some attackers run only if they are named.
        decoder: whether phones and words of speech can be decoded (pocketsphinx); None for whether
            it is installed.
    """

    system: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    denoisers: tuple[str, ...] = ()
    keys: int = 24
    pool_recordings: int = 0
    pool_speakers: int = 0
    normalise: bool = False
    training: AttackerTraining | None = None
    say: Callable[[str], None] = field(default=lambda text: None, compare=False)
    anonymized_enrolment: bool = False
    anonymized_pool: bool = False
    published_enrolment: bool = True
    original_pool: bool = True
    named: tuple[str, ...] = ()
    decoder: bool | None = None

    @property
    def decodes(self) -> bool:
        """Whether phones and words can be decoded."""
        return segment_decoding.installed() if self.decoder is None else self.decoder

    @property
    def can_enrol(self) -> bool:
        """Whether attackers have the enrolment under their own keys, by the system or in files."""
        return self.system is not None or self.anonymized_enrolment

    @property
    def has_protected_pool(self) -> bool:
        """Whether attackers have protected enrolment and protected speech of other people."""
        return self.can_enrol and (self.system is not None or self.anonymized_pool)

    @property
    def can_train(self) -> bool:
        """Whether attackers have protected speech of several other people to train on."""
        return self.has_protected_pool and self.pool_speakers > 1
