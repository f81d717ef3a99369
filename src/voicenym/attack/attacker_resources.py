"""Resources of attackers: the system, speech of other people, and settings of their training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class AttackerTraining:
    """Settings of attackers that train a verifier on protected speech.

    Args:
        folder: of protected speech and trained verifiers; a later run uses what it holds.
        seconds: time limit of a neural verifier's training.
        start: verifier whose training continues, a name or a folder; None for random weights.
        voices: keys under which each recording of the pool is protected, with a voice for each
            utterance; one further key gives a voice for each speaker.
        config: name or file of the neural verifier's recipe.
        workers: processes that protect speech.
    """

    folder: Path
    seconds: float
    start: str | None = "ecapa-small"
    voices: int = 3
    config: str = "attacker"
    workers: int = 1


@dataclass(frozen=True)
class Resources:
    """What is available to the attackers on one system.

    Args:
        system: name of the system; None where only its files are known.
        parameters: of the system.
        denoisers: names of :func:`voicenym.attack.denoisers.denoisers`.
        keys: number of keys that a key search tries.
        pool_recordings: recordings of other people.
        pool_speakers: speakers of these recordings.
        normalise: whether comparisons also run with normalised scores.
        training: settings of a verifier's training; None where attackers train no verifier.
        say: receives progress messages.
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

    @property
    def can_train(self) -> bool:
        """Whether the system can be run on speech of several other people."""
        return self.system is not None and self.pool_speakers > 1
