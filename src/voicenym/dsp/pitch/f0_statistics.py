"""F0 statistics of a speaker: mean and standard deviation of ln F0, and transformation to others.

They are computed from moments, which add up over frames, so that recordings can be read block by
block.
"""

from __future__ import annotations

import math

import torch

TYPICAL_LOG_F0 = math.log(150.0)
TYPICAL_LOG_F0_STD = 0.20
"""Standard deviation of a recording without voiced frames."""
LEAST_STD, MOST_STD = 0.05, 0.5
"""Limits of the measured deviation: against division by nearly zero, and against octave errors."""
LOWEST_F0, HIGHEST_F0 = 60.0, 450.0
"""Limits of the transformed F0, in Hz."""
LEAST_STRETCH, MOST_STRETCH = 0.5, 1.5
"""Limits of the factor on the range of ln F0; beyond them speech sounds sung or monotone."""
FARTHEST = 0.7
"""Largest distance of ln F0 from the mean; larger ones are octave errors."""


def moments(f0: torch.Tensor, level: torch.Tensor) -> torch.Tensor:
    """Weighted moments of ln F0 ``[..., 3]`` in double precision: weight, ln F0 and its square
    times the weight.

    Args:
        f0: ``[...]`` in Hz, 0 where unvoiced.
        level: ``[...]``, weight of voiced frames; loud frames weigh more, so that periodic mains
            hum in a pause contributes little.
    """
    log_f0 = f0.double().clamp_min(1.0).log()
    weight = level.double() * (f0 > 0)
    return torch.stack([weight, weight * log_f0, weight * log_f0.square()], dim=-1)


def typical(weight: float) -> torch.Tensor:
    """Moments ``[3]`` of a typical voice with a given weight."""
    squares = TYPICAL_LOG_F0**2 + TYPICAL_LOG_F0_STD**2
    return weight * torch.tensor([1.0, TYPICAL_LOG_F0, squares], dtype=torch.float64)


def register(sums: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and standard deviation ``[...]`` of ln F0 from summed moments ``[..., 3]``.

    Without voiced frames they are typical values.
    """
    weight, total, squares = sums.unbind(-1)
    known = weight > 0
    divisor = torch.where(known, weight, 1.0)
    mean = torch.where(known, total / divisor, TYPICAL_LOG_F0)
    deviation = (squares / divisor - mean.square()).clamp_min(0).sqrt()
    deviation = torch.where(known, deviation, TYPICAL_LOG_F0_STD)
    return mean, deviation.clamp(LEAST_STD, MOST_STD)


def moved_within(
    f0: torch.Tensor,
    mean: torch.Tensor,
    std: torch.Tensor,
    to_mean: torch.Tensor,
    to_std: torch.Tensor,
) -> torch.Tensor:
    """Mean and variance transformation of F0 with limits that bound the effect of tracking errors.

    (:func:`voicenym.dsp.pitch.contour_changes.moved` has none.)

    Args:
        f0: of the speaker, ``[row, frame]`` in Hz, 0 where unvoiced.
        mean, std: of his ln F0, ``[row, 1]`` or of each frame.
        to_mean, to_std: of the voice's, ``[row]``.
    """
    scale = (to_std[:, None] / std).clamp(LEAST_STRETCH, MOST_STRETCH)
    departure = (scale * (f0.clamp_min(1.0).log() - mean)).clamp(-FARTHEST, FARTHEST)
    target = (to_mean[:, None] + departure).exp().clamp(LOWEST_F0, HIGHEST_F0)
    return torch.where(f0 > 0, target, 0.0)
