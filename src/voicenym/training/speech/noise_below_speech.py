"""Noise below speech, so that what cannot be heard teaches an encoder nothing."""

from __future__ import annotations

import torch


def noise_below(
    waveform: torch.Tensor, below: tuple[float, float], generator: torch.Generator
) -> torch.Tensor:
    """Noise of random level and tilt, fit to be added to waveforms ``[row, time]``.

    Args:
        waveform: that it lies below.
        below: by so many decibels at least and at most.
        generator: of the draws.
    """
    shape, device = waveform.shape, waveform.device
    noise = torch.randn(shape, generator=generator, device=device)
    level, colour = torch.rand(2, shape[0], 1, generator=generator, device=device)
    # One tap of random sign tilts the spectrum up or down.
    noise = noise + (2.0 * colour - 1.0) * noise.roll(1, 1)
    decibels = below[0] + (below[1] - below[0]) * level
    power = waveform.detach().square().mean(1, keepdim=True)
    noise = noise / noise.square().mean(1, keepdim=True).clamp_min(1e-12).sqrt()
    return noise * (power * 10.0 ** (-decibels / 10.0)).sqrt()
