"""Voices that statistical verifiers can tell apart: vowels of vocal tracts of different size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

VOWELS = np.array([(300, 2300, 3000), (700, 1200, 2500), (350, 800, 2400), (500, 1700, 2600)])
"""Resonances in Hz."""


class Voice:
    """Two seconds of vowels in random order; a speaker's vocal tract scales their resonances."""

    def __init__(self, speaker: int, take: int) -> None:
        self.speaker = f"s{speaker}"
        self._at = speaker, take

    def samples(self) -> np.ndarray:
        speaker, take = self._at
        rng = np.random.default_rng([speaker, take])
        own = np.random.default_rng(speaker).uniform(0.85, 1.2, 3)
        parts = []
        for vowel in rng.integers(0, 4, 20):
            sound = rng.normal(size=1_600)
            for hertz in VOWELS[vowel] * own * rng.uniform(0.97, 1.03, 3):
                pole = 0.96 * np.exp(2j * np.pi * hertz / 16_000)
                sound = lfilter([1.0], [1.0, -2 * pole.real, abs(pole) ** 2], sound)
            parts.append(sound / np.abs(sound).max())
        return (0.3 * np.concatenate(parts)).astype(np.float32)


@pytest.fixture(scope="session")
def voice():
    """``voice(speaker, take)``: a recording."""
    return Voice
