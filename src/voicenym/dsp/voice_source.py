"""Synthetic voice source: a band-limited pulse train and noise, sample-exact across blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy
import torch

from voicenym.pseudonym import Pseudonym


def pulses(phase: torch.Tensor, f0: torch.Tensor, rate: int) -> torch.Tensor:
    """Harmonics of F0 up to the Nyquist frequency, all in phase, of unit power.

    sum_(k=1..K) cos(k phi) = sin((K + 1/2) phi) / (2 sin(phi / 2)) - 1/2, K = floor(Nyquist / F0).

    Args:
        phase: phi, of the fundamental, float64.
        f0: in Hz, of the same shape, positive everywhere.
        rate: in Hz.

    Returns:
        Samples of the same shape, float32.
    """
    count = torch.floor(0.5 * rate / f0.double()).clamp_min_(1.0)
    half = 0.5 * phase
    denominator = torch.sin(half)
    near = denominator.abs() < 1e-6
    ratio = half.mul_((2.0 * count).add_(1.0)).sin_().div_(denominator.masked_fill_(near, 1.0))
    # at a pulse every harmonic is 1; the sign of the ratio's limit is +
    pulse = torch.where(near, count, ratio.mul_(0.5).sub_(0.5))
    return pulse.mul_(torch.div(2.0, count).sqrt_()).float()


class PulseTrain:
    """Band-limited pulse train of a time-varying F0, see :func:`pulses`.

    Args:
        rows: rows of the signal.
        rate: in Hz.
        device: where the samples are made.
    """

    def __init__(self, rows: int, rate: int, device: str = "cpu") -> None:
        self._rate = rate
        self._phase = torch.zeros(rows, 1, dtype=torch.float64, device=device)

    def next(self, f0: torch.Tensor) -> torch.Tensor:
        """Samples ``[row, time]`` for F0 ``[row, time]`` in Hz, positive everywhere."""
        if f0.shape[1] == 0:
            return f0
        step = 2.0 * math.pi * f0.double() / self._rate
        phase = self._phase + torch.cumsum(step, dim=1)
        self._phase = phase[:, -1:] % (2.0 * math.pi)
        return pulses(phase, f0, self._rate)


class Noise:
    """White Gaussian noise of unit power; the samples do not depend on the block sizes.

    Args:
        pseudonyms: one per row.
        purpose: of the stream of random numbers.
    """

    def __init__(self, pseudonyms: Sequence[Pseudonym], purpose: str, device: str = "cpu") -> None:
        self._generators = [pseudonym.rng(purpose) for pseudonym in pseudonyms]
        self._device = device

    def next(self, length: int) -> torch.Tensor:
        """Samples ``[row, length]``."""
        rows = [g.standard_normal(length, dtype=numpy.float32) for g in self._generators]
        return torch.from_numpy(numpy.stack(rows)).to(self._device)
