"""Loose timing: a time warp that the key draws, of 0.15 s at most.

Durations of sounds and pauses identify speakers. The key draws a displacement at anchors 0.7 s
apart; linear interpolation between them gives a constant tempo from anchor to anchor, and time
never runs backwards. Length, speaking rate and pauses of seconds are kept.
"""

from __future__ import annotations

import math

import torch

from voicenym.dsp.random_contours import random_contours

FARTHEST = 0.15
"""Largest displacement in seconds."""
SPACING = 0.7
"""Seconds from anchor to anchor; the tempo is then 0.57 to 1.43 of the speaker's."""
SWAY = (0.1, 0.7)
"""Modulation frequencies in Hz of the displacement."""


def source_times(seeds: torch.Tensor, seconds: torch.Tensor) -> torch.Tensor:
    """Times of the input that the output has at its own times, ``[row, time]`` in seconds.

    Args:
        seeds: ``[row]`` int64, of the displacements.
        seconds: ``[time]`` of the output. The value at a time depends on nothing else.
    """
    place = seconds.double() / SPACING
    before = place.floor()
    first = int(before.min()) if len(before) else 0
    anchors = torch.arange(first, (int(before.max()) if len(before) else 0) + 2)
    drawn = random_contours(seeds.tolist(), anchors * SPACING, SWAY)
    displaced = FARTHEST * torch.erf(drawn / math.sqrt(2.0))  # nearly uniform
    left = (before - first).long()
    between = torch.lerp(displaced[:, left], displaced[:, left + 1], (place - before)[None])
    return seconds.double() + between
