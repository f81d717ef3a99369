"""Mel filterbanks and mel spectra."""

from __future__ import annotations

import math

import torch


def slaney(hertz: torch.Tensor) -> torch.Tensor:
    """Mel scale of Slaney's Auditory Toolbox: linear below 1 kHz, logarithmic above.

    Args:
        hertz: any shape, in Hz.
    """
    linear = hertz * (3.0 / 200.0)
    logarithmic = 15.0 + 27.0 * torch.log(hertz.clamp_min(1e-9) / 1000.0) / math.log(6.4)
    return torch.where(hertz < 1000.0, linear, logarithmic)


def slaney_inverse(mel: torch.Tensor) -> torch.Tensor:
    """Frequency in Hz of mels of :func:`slaney`."""
    logarithmic = 1000.0 * torch.exp((mel - 15.0) * math.log(6.4) / 27.0)
    return torch.where(mel < 15.0, mel * (200.0 / 3.0), logarithmic)


def filterbank(rate: int, fft: int, bands: int, low: float, high: float) -> torch.Tensor:
    """Triangular filters of equal area, evenly spaced in Slaney's mels, on the bins of a real FFT.

    Args:
        rate: in Hz.
        fft: points of the transform.
        bands: number of triangles.
        low, high: lower corner of the first and upper corner of the last, in Hz.

    Returns:
        ``[bands, fft / 2 + 1]`` float32, weights of power.
    """
    first, last = slaney(torch.tensor([low, high], dtype=torch.float64)).tolist()
    corners = slaney_inverse(torch.linspace(first, last, bands + 2, dtype=torch.float64))
    bins = torch.linspace(0.0, rate / 2, fft // 2 + 1, dtype=torch.float64)
    left, centre, right = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    rising = (bins - left) / (centre - left)
    falling = (right - bins) / (right - centre)
    triangles = torch.minimum(rising, falling).clamp_min(0.0)
    return (triangles * (2.0 / (right - left))).float()


def squared_magnitudes(spectra: torch.Tensor) -> torch.Tensor:
    """Squared magnitudes of complex ``[...]``.

    The sum over pairs, as ``sum(-1)``, has the same bits and takes seven times as long, and so does
    squaring :func:`torch.abs`, which computes hypotenuses.
    """
    squares = torch.view_as_real(spectra).square()
    return squares[..., 0] + squares[..., 1]


def power_frames(signal: torch.Tensor, window: torch.Tensor, hop: int) -> torch.Tensor:
    """Power spectra of frames centred on every hop, zeros outside the signal.

    Args:
        signal: ``[..., time]``.
        window: ``[length]``; the transform is as long.
        hop: in samples.

    Returns:
        ``[..., 1 + time / hop, length / 2 + 1]``.
    """
    length = len(window)
    padded = torch.nn.functional.pad(signal, (length // 2, length // 2))
    frames = padded.unfold(-1, length, hop)
    return torch.fft.rfft(frames * window).abs().square()


class MelSpectrum(torch.nn.Module):
    """Mel power spectrum of centred, periodic-Hann frames, zeros outside the signal.

    Args:
        rate: in Hz.
        length: of the window and the transform, in samples.
        hop: in samples.
        bands: of the filterbank, from 0 to half the rate.
    """

    window: torch.Tensor
    bank: torch.Tensor

    def __init__(self, rate: int, length: int, hop: int, bands: int) -> None:
        super().__init__()
        self.hop = hop
        self.register_buffer("window", torch.hann_window(length), persistent=False)
        self.register_buffer(
            "bank", filterbank(rate, length, bands, 0.0, rate / 2), persistent=False
        )

    def forward(self, signal: torch.Tensor) -> torch.Tensor:
        """Mel power spectra ``[..., 1 + time / hop, band]`` of ``[..., time]``."""
        return power_frames(signal, self.window, self.hop) @ self.bank.T
