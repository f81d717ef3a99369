"""Loose timing: speaking rate and local tempo that the key draws, where phrases start as before.

Durations of sounds and pauses identify speakers. The key draws a rate for each phrase
(:mod:`voicenym.resynthesis.common.phrase_tempo`), and a displacement of 0.1 s at most at anchors
0.7 s apart; linear interpolation between them gives a constant tempo from anchor to anchor. Time
never runs backwards, phrases start within 0.1 s of where they did, and the length is kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from voicenym.dsp.phrases import Phrases
from voicenym.dsp.random_contours import random_contours
from voicenym.resynthesis.common.phrase_tempo import between_knots, tempo_knots

FARTHEST = 0.1
"""Largest displacement of the beginning of a phrase, in seconds."""
SPACING = 0.7
"""Seconds from anchor to anchor; the tempo is then 0.71 to 1.29 of the phrase's."""
SWAY = (0.1, 0.7)
"""Modulation frequencies in Hz of the displacement."""


class LooseTiming:
    """Time warps of the rows of a signal.

    Args:
        seeds: ``[row]`` int64, of rates and displacements.
        phrases: of each row.
    """

    def __init__(self, seeds: torch.Tensor, phrases: Sequence[Phrases]) -> None:
        self._seeds = seeds.cpu()
        each = zip(phrases, self._seeds.tolist(), strict=True)
        self._knots = [tempo_knots(some, seed) for some, seed in each]

    def frames(self, seconds: float, frame: float) -> int:
        """Frames of the output, of so many seconds each, for the first seconds of the input."""
        return math.ceil(round(seconds / frame, 6))

    def source_times(self, seconds: torch.Tensor) -> torch.Tensor:
        """Times of the input that the output has at its own times, ``[row, time]`` in seconds.

        Args:
            seconds: ``[time]`` of the output. The value at a time depends on nothing else.
        """
        moved = displaced(self._seeds, seconds).numpy()
        rows = [between_knots(*pair) for pair in zip(self._knots, moved, strict=True)]
        return torch.from_numpy(np.stack(rows))


def displaced(seeds: torch.Tensor, seconds: torch.Tensor) -> torch.Tensor:
    """Times ``[row, time]`` within :data:`FARTHEST` of the given ones, in order.

    Args:
        seeds: ``[row]`` int64, of the displacements.
        seconds: ``[time]``. The value at a time depends on nothing else.
    """
    place = seconds.double() / SPACING
    before = place.floor()
    first = int(before.min()) if len(before) else 0
    anchors = torch.arange(first, (int(before.max()) if len(before) else 0) + 2)
    drawn = random_contours(seeds.tolist(), anchors * SPACING, SWAY)
    moves = FARTHEST * torch.erf(drawn / math.sqrt(2.0))  # nearly uniform
    left = (before - first).long()
    between = torch.lerp(moves[:, left], moves[:, left + 1], (place - before)[None])
    return seconds.double() + between
