"""Test for the presence of speech in a recording by its level modulation.

The level of speech changes by tens of decibels with its syllables; that of room noise, hum and
silence does not. Music, wind and traffic fluctuate as speech does and count as speech. The test
costs little enough to run on every file.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

FRAME_SECONDS = 0.02
LEAST_MOVEMENT_DB = 10.0
"""Range from the quieter frames to the loudest: 4 dB for white noise, and at least 23 dB in 1200
recordings of real speech from five corpora.
"""
LEAST_LEVEL_DB = -80.0
"""Least level of the loudest frame, re full scale: a few 16-bit steps."""
SHORTEST_SECONDS = 0.5
"""Least duration of a decision."""
_QUIETER = 10
"""Percentile of the quieter frames."""
_FLOOR = 1e-12


class LevelModulation:
    """Level histogram of a recording's frames, accumulated block by block.

    Args:
        rate: in Hz.

    Example:
        >>> movement = LevelModulation(8000)
        >>> movement.push(np.random.default_rng(0).standard_normal((1, 16000)).astype(np.float32))
        >>> movement.speechless()
        True
    """

    def __init__(self, rate: int) -> None:
        self._frame = max(1, round(FRAME_SECONDS * rate))
        self._levels: list[npt.NDArray[np.float32]] = []

    def push(self, block: npt.NDArray[np.float32]) -> None:
        """Adds ``[channel, time]``; the loudest channel of each frame counts."""
        count = block.shape[1] // self._frame
        if count < 1:
            return
        whole = block[:, : count * self._frame]
        frames = (whole - whole.mean(1, keepdims=True)).reshape(len(block), count, self._frame)
        power = np.einsum("cft,cft->cf", frames, frames).max(0) / self._frame
        self._levels.append(power.astype(np.float32))

    def speechless(self) -> bool:
        """Whether the recording holds nothing that can be speech."""
        if not self._levels:
            return False
        power = np.sort(np.concatenate(self._levels))
        if len(power) * FRAME_SECONDS < SHORTEST_SECONDS:
            return False
        loudest = 10.0 * math.log10(float(power[-1]) + _FLOOR)
        place = _QUIETER / 100.0 * (len(power) - 1)
        quieter = 10.0 * math.log10(float(np.interp(place, range(len(power)), power)) + _FLOOR)
        return loudest < LEAST_LEVEL_DB or loudest - quieter < LEAST_MOVEMENT_DB
