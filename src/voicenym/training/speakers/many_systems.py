"""Rendering of a corpus by many systems under many keys, for the pre-training of attackers.

Each recording is anonymized by a random system, with a voice for each utterance. A verifier that
trains on such speech learns speaker properties that systems in general keep.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from voicenym.anonymizer import SYSTEMS, load
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import ORIGINAL, Anonymize, Transform
from voicenym.errors import VoicenymError
from voicenym.pseudonym import Key
from voicenym.registry import OURS

UNCHANGED = "original"
"""Name among the systems for original speech."""


def bundled_systems() -> tuple[str, ...]:
    """Original speech, and all systems of this package whose weights it holds."""
    ours = (name for name in SYSTEMS.installed() if SYSTEMS.package(name) == OURS)
    return (UNCHANGED, *(name for name in ours if not SYSTEMS.make(name).unbundled))


@dataclass(frozen=True)
class ManySystems:
    """A :class:`~voicenym.training.speech.speech_cache.Rendering` by a system for each recording.

    System and key depend only on seed, number and the recording's name. The keys are not secret,
    because their output is not published.

    Args:
        systems: names, or :data:`UNCHANGED`.
        seed: of the draws.
        number: of the rendering; another one draws other systems and other voices.

    Raises:
        VoicenymError: no system, an unknown one, or one without its weights.

    Example:
        >>> many = ManySystems(("mcadams", "vtln"), seed=1)
        >>> names = (many.system_of(f"utterance-{i}") for i in range(20))
        >>> sorted(set(names))
        ['mcadams', 'vtln']
    """

    systems: tuple[str, ...] = field(default_factory=bundled_systems)
    seed: int = 0
    number: int = 0

    def __post_init__(self) -> None:
        if not self.systems:
            raise VoicenymError("systems: name one at least, such as mcadams")
        for name in self.systems:
            if name != UNCHANGED:
                load(name)

    def system_of(self, name: str) -> str:
        """System that anonymizes the recording with a name."""
        drawn = hashlib.sha256(f"{self.seed} {self.number} {name}".encode()).digest()
        return self.systems[int.from_bytes(drawn[:8], "big") % len(self.systems)]

    def transform(self, recording: Recording) -> Transform:
        """Transform of a recording: its system, under the key of this rendering."""
        system = self.system_of(recording.name)
        if system == UNCHANGED:
            return ORIGINAL
        text = f"voicenym pre-training {self.seed} {self.number}"
        key = Key(hashlib.sha256(text.encode()).digest(), None)
        return Transform((Anonymize(system, key, "utterance"),))

    def identity(self, recording: Recording) -> str:
        return self.transform(recording).identity(recording)

    def __call__(self, recording: Recording) -> np.ndarray:
        return self.transform(recording)(recording)
