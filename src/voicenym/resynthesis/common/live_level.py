"""Fixed level of synthetic speech in a live stream.

What :mod:`voicenym.resynthesis.common.fixed_level` does by the whole recording, this does by what
is known so far: pauses by the levels of the last seconds, the gain by the power of the speech.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch

from voicenym.dsp.phrases import FRAME_RATE, phrases
from voicenym.resynthesis.common.fixed_level import HIGHEST_GAIN, USUAL
from voicenym.resynthesis.common.output_level import HOP

REMEMBERED = 20.0
"""Seconds by which noise and speech are told apart."""
MEMORY_SECONDS = 1.5
"""Time constant of the running power of the synthesizer's speech."""
USUAL_POWER = 10 ** (-17.8 / 10)
"""Its power before any is known: the median of 54 speakers of speechocean762."""
USUAL_SECONDS = 1.0
"""Weight of that in seconds of speech."""
FADE = 5
"""Frames over which speech fades in and out."""


class RunningPhrases:
    """Places of phrases by the levels of the last seconds of a live stream, of one row."""

    def __init__(self) -> None:
        self._levels = np.zeros(0)

    def push(self, levels: npt.NDArray[np.float64], kept: int) -> npt.NDArray[np.bool_]:
        """Whether frames of 10 ms are within phrases.

        Args:
            levels: ``[frame]``, mean squares of the next frames and of those that are known
                after them.
            kept: the number of the former, to which the answer is limited.
        """
        known = np.concatenate([self._levels, levels])
        first = len(self._levels)
        middles = (first + np.arange(kept) + 0.5) / FRAME_RATE
        found = np.zeros(kept, bool)
        for start, end in phrases(known).spans:
            found |= (start <= middles) & (middles < end)
        self._levels = known[: first + kept][-round(REMEMBERED * FRAME_RATE) :]
        return found


class LiveLevel:
    """Streaming gain control of one row: speech at the fixed level, silence between phrases."""

    def __init__(self) -> None:
        self._weight = USUAL_SECONDS * FRAME_RATE
        self._power = self._weight * USUAL_POWER
        self._decay = math.exp(-1.0 / (MEMORY_SECONDS * FRAME_RATE))
        self._presence: list[bool] = []
        self._recent = [False] * FADE
        self._made = torch.zeros(0)
        self._gain = 0.0

    def push(self, presence: npt.NDArray[np.bool_], made: torch.Tensor) -> torch.Tensor:
        """Adds whether frames are within phrases ``[frame]``, and synthetic samples ``[time]``,
        which may be late; returns the samples of frames of which both are known.
        """
        self._presence += presence.tolist()
        self._made = torch.cat([self._made.to(made), made])
        count = min(len(self._presence), len(self._made) // HOP)
        frames = self._made[: count * HOP].unflatten(0, (count, HOP))
        powers = frames.double().square().mean(1).tolist()
        gains = [self._gain]
        for there, power in zip(self._presence[:count], powers, strict=True):
            gains.append(self._next(there, power))
        self._gain = gains[-1]
        self._presence = self._presence[count:]
        self._made = self._made[count * HOP :].clone()
        line = torch.tensor(gains, dtype=torch.float32, device=made.device)
        place = torch.arange(1, HOP + 1, device=made.device) / HOP
        levelled: torch.Tensor = frames * torch.lerp(line[:-1, None], line[1:, None], place)
        return levelled.flatten()

    def _next(self, there: bool, power: float) -> float:
        """Gain at the end of the next frame."""
        if there:
            self._weight = self._decay * self._weight + 1.0
            self._power = self._decay * self._power + power
        self._recent = [*self._recent[1:], there]
        usual = USUAL / math.sqrt(max(self._power / self._weight, 1e-12))
        return min(usual, HIGHEST_GAIN) * sum(self._recent) / FADE
