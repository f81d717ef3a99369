"""Vocal tract length perturbation: mel bands warped along the frequency axis."""

from __future__ import annotations

import math

import torch

from voicenym.dsp.features.mel import slaney, slaney_inverse


def warped(
    bands: torch.Tensor, factor: torch.Tensor, bend: torch.Tensor, lowest: float, highest: float
) -> torch.Tensor:
    """Mel bands of voices of other lengths.

    Args:
        bands: ``[row, frame, band]``.
        factor: ``[row]``, of frequencies: above 1, formants go up.
        bend: ``[row]``, of the middle of the axis, as a share of it.
        lowest, highest: corners of the bands, in Hz.
    """
    count = bands.shape[2]
    low, high = (float(slaney(torch.tensor(f))) for f in (lowest, highest))
    place = (torch.arange(count, device=bands.device) + 1.0) / (count + 1)
    hertz = slaney_inverse(low + (high - low) * place)
    source = (slaney(hertz / factor[:, None]) - low) / (high - low)
    source = source + bend[:, None] * torch.sin(math.pi * place)
    index = (source * (count + 1) - 1.0).clamp(0.0, count - 1.0)
    left = index.floor().clamp_max(count - 2).long()
    part = (index - left)[:, None]
    shape = bands.shape
    lower = bands.gather(2, left[:, None].expand(shape))
    upper = bands.gather(2, (left + 1)[:, None].expand(shape))
    return torch.lerp(lower, upper, part.to(bands))
