"""Log-mel filterbank energies of published speaker encoders.

The settings are those of SpeechBrain's checkpoints (Ravanelli et al., arXiv 2106.04624): 25 ms of a
periodic Hamming window every 10 ms, zeros outside the signal, power, triangles in HTK's mels, and
decibels within 80 of the recording's loudest.
"""

from __future__ import annotations

import math

import torch

from voicenym.dsp.features.mel import power_frames

RATE = 16_000
WINDOW = 400
"""Samples of the window and points of the transform."""
HOP = 160
LEAST_POWER = 1e-10
RANGE_DB = 80.0
"""Dynamic range: lower energies are raised to this distance below the recording's maximum."""


def htk(hertz: float) -> float:
    """Mel scale of O'Shaughnessy, as in HTK: 2595 log10(1 + f / 700)."""
    return 2595.0 * math.log10(1.0 + hertz / 700.0)


def htk_inverse(mel: torch.Tensor) -> torch.Tensor:
    """Frequency in Hz of mels of :func:`htk`."""
    return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)


def triangles(bands: int, low: float = 0.0, high: float = RATE / 2) -> torch.Tensor:
    """Triangular filters of height one, evenly spaced in HTK's mels, on the bins of the transform.

    They are symmetric in Hz: the half width on both sides is the distance to the lower neighbour,
    as in the published encoders; triangles that reach to both neighbours would not be.

    Args:
        bands: number of triangles.
        low, high: between which they are spaced, in Hz.

    Returns:
        ``[bands, 201]`` float32, weights of power.
    """
    places = htk_inverse(torch.linspace(htk(low), htk(high), bands + 2, dtype=torch.float64))
    centre = places[1:-1, None]
    half_width = centre - places[:-2, None]
    bins = torch.linspace(0.0, RATE / 2, WINDOW // 2 + 1, dtype=torch.float64)
    return (1.0 - (bins - centre).abs() / half_width).clamp_min(0.0).float()


def frames_of(samples: torch.Tensor) -> torch.Tensor:
    """Number of frames of recordings of so many samples, of any shape."""
    return samples // HOP + 1


class Fbank(torch.nn.Module):
    """Filterbank energies in dB, differentiable down to the waveform.

    Args:
        bands: 80 for ECAPA-TDNN, 24 for x-vectors.
    """

    window: torch.Tensor
    bank: torch.Tensor

    def __init__(self, bands: int) -> None:
        super().__init__()
        window = torch.hamming_window(WINDOW, periodic=True, dtype=torch.float64)
        self.register_buffer("window", window.float(), persistent=False)
        self.register_buffer("bank", triangles(bands), persistent=False)

    def forward(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """``[batch, time]`` at 16 kHz to ``[batch, 1 + time / 160, band]`` in dB.

        Args:
            waveforms: zeros after the end of a shorter one.
            lengths: ``[batch]`` in samples, None where all are whole. The first
                ``1 + length / 160`` frames of a row are those that it would have alone; those after
                them mean nothing.
        """
        power = power_frames(waveforms, self.window, HOP) @ self.bank.T
        decibels = 10.0 * power.clamp_min(LEAST_POWER).log10()
        inside = decibels
        if lengths is not None:
            past = torch.arange(power.shape[1], device=power.device) >= frames_of(lengths)[:, None]
            inside = decibels.masked_fill(past[:, :, None], -torch.inf)
        return decibels.maximum(inside.amax((1, 2), keepdim=True) - RANGE_DB)
