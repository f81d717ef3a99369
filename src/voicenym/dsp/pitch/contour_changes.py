"""Transformations of an F0 contour before synthesis in another voice.

All work on ln F0 of voiced frames; unvoiced ones stay unvoiced. Published systems keep the contour
(B1 of the VoicePrivacy Challenges; Miao et al. 2023), transform it to the mean and deviation of the
target speaker (Champion et al., arXiv 2101.08478), round it to sixteenths of its deviation, or add
noise.
"""

from __future__ import annotations

import math

import torch

from voicenym.dsp.pitch.f0_statistics import moments, register

STEPS = 16
"""Quantisation steps per standard deviation."""


class Moments:
    """Running mean and standard deviation of ln F0; every voiced frame has the same weight.

    Args:
        rows: of the contours.
        device: of the sums.
    """

    def __init__(self, rows: int, device: str = "cpu") -> None:
        self._sums = torch.zeros(rows, 3, dtype=torch.float64, device=device)

    def add(self, f0: torch.Tensor) -> None:
        """Adds frames ``[row, frame]`` in Hz, 0 where unvoiced."""
        self._sums += moments(f0, torch.ones_like(f0)).sum(1)

    def result(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and standard deviation ``[row]``; typical values for a row without voiced frames."""
        mean, std = register(self._sums)
        return mean.float(), std.float()


def moved(
    f0: torch.Tensor,
    mean: torch.Tensor,
    std: torch.Tensor,
    to_mean: torch.Tensor,
    to_std: torch.Tensor,
) -> torch.Tensor:
    """Mean and variance transformation: ``ln F0' = (ln F0 - mean) / std * to_std + to_mean``.

    Args:
        f0: ``[row, frame]`` in Hz, 0 where unvoiced.
        mean, std: of the speaker's ln F0, ``[row]``.
        to_mean, to_std: of the other's, ``[row]``.
    """
    turned = (_logs(f0) - mean[:, None]) * (to_std / std)[:, None] + to_mean[:, None]
    return torch.where(f0 > 0, turned.exp(), 0.0)


def quantised(
    f0: torch.Tensor, mean: torch.Tensor, std: torch.Tensor, steps: int = STEPS
) -> torch.Tensor:
    """Quantised ``ln F0``, in fractions of its deviation: ``round(steps z) / steps``, z of mean 0
    and deviation 1.

    Args:
        f0: ``[row, frame]`` in Hz, 0 where unvoiced.
        mean, std: of its ln F0, ``[row]``.
        steps: to a deviation.
    """
    z = (_logs(f0) - mean[:, None]) / std[:, None]
    rounded = (z * steps).round() / steps * std[:, None] + mean[:, None]
    return torch.where(f0 > 0, rounded.exp(), 0.0)


def noisy(f0: torch.Tensor, std: torch.Tensor, noise: torch.Tensor, share: float) -> torch.Tensor:
    """Additive noise on ``ln F0``.

    Args:
        f0: ``[row, frame]`` in Hz, 0 where unvoiced.
        std: of its ln F0, ``[row]``.
        noise: ``[row, frame]``, N(0, 1).
        share: of the deviation that the noise has.

    Raises:
        ValueError: if the share is negative or not finite.
    """
    if not 0.0 <= share < math.inf:
        raise ValueError(f"noise of {share} deviations")
    return torch.where(f0 > 0, (_logs(f0) + share * std[:, None] * noise).exp(), 0.0)


def _logs(f0: torch.Tensor) -> torch.Tensor:
    return f0.clamp_min(1.0).log()
