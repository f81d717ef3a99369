"""Pitch shifting by a phase vocoder: time-scale modification and resampling, as one overlap-add.

The standard method stretches a signal by rho (frames analysed every H_a samples are overlap-added
every H_s = rho H_a) and then resamples it by 1 / rho. A frame placed at rho m H_a and then
compressed by rho is at m H_a again: each frame can therefore be compressed by itself, by evaluation
of its inverse Fourier transform at steps of rho samples, and overlap-added at the analysis hop. The
signal is the same, without drift, and rows of different rho share their frames' times.

Flanagan and Golden (1966); Laroche and Dolson, "Improved phase vocoder time-scale modification of
audio", IEEE Trans. Speech and Audio Processing 7 (1999): identity phase locking.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

OVERLAP = 8
"""Windows over each sample: H_s = 2 H_a, an octave up, still is a quarter of the window."""
FRAMES_AT_ONCE = 512
TAPER = 0.05
"""Share of the band that would alias over which its edge fades."""


class PitchShifter:
    """Pitch shift of frames by a ratio per row; keeps the phases of the frames before.

    Args:
        ratios: rho of each row, 0.5 to 2.
        hop: H_a in samples; the window is ``OVERLAP * hop`` long.
        length: of the frames given and returned, in samples, even and at least
            ``OVERLAP * hop / min(ratios)``; the window is in their middle.
        device: where the frames are.
    """

    def __init__(
        self,
        ratios: Sequence[float],
        hop: int,
        length: int,
        device: str | torch.device = "cpu",
    ) -> None:
        self.window_length = OVERLAP * hop
        self._hop, self._length = hop, length
        size = self.window_length
        bins = size // 2 + 1
        rows = len(ratios)
        double: dict[str, Any] = {"dtype": torch.float64, "device": device}
        self._ratios = torch.tensor(ratios, **double)[:, None, None]
        self._window = torch.hann_window(size, periodic=True, **double)
        self._omega = 2.0 * math.pi * torch.arange(bins, **double) / size
        self._rotation = torch.zeros(rows, bins, **double)
        self._angle = torch.zeros(rows, 1, bins, **double)
        # a circular shift of half the window, so that phases are those at its middle
        self._centre = 1.0 - 2.0 * (torch.arange(bins, device=device) % 2)

        distinct = sorted(set(ratios))
        self._kind = [distinct.index(ratio) for ratio in ratios]
        self._synthesis = [self._matrices(ratio, **double) for ratio in distinct]
        windows = torch.stack([self._output_window(ratio, **double) for ratio in distinct])
        # both windows of all frames over a sample: a function of its place within the hop
        total = windows.square().reshape(len(distinct), -1, hop).sum(1)
        scaled = windows / total.repeat(1, length // hop)
        self._windows = windows.float()[self._kind][:, None]
        self._output_windows = scaled.float()[self._kind][:, None]

    def _times(self, ratio: float, **options) -> torch.Tensor:
        """Distances from the window's middle at which output samples 0 ... length / 2 are
        evaluated.
        """
        return ratio * torch.arange(self._length // 2 + 1, **options)

    def _output_window(self, ratio: float, **options) -> torch.Tensor:
        """Compressed window, ``[length]``."""
        times = self._times(ratio, **options)
        half = 0.5 + 0.5 * torch.cos(2.0 * math.pi * times / self.window_length)
        half = torch.where(times < self.window_length / 2, half, 0.0)
        return torch.cat([half[1:].flip(0), half[:-1]])

    def _matrices(self, ratio: float, **options) -> tuple[torch.Tensor, torch.Tensor]:
        """Inverse transform at steps of rho: the even part of the real, the odd of the imaginary
        parts, each ``[bin, length / 2 + 1]``.
        """
        bins = self.window_length // 2 + 1
        times = self._times(ratio, **options)
        k = torch.arange(bins, **options)[:, None]
        weight = torch.full_like(k, 2.0 / self.window_length)
        weight[0] = weight[-1] = 1.0 / self.window_length
        if ratio > 1.0:  # what would rise above the Nyquist frequency
            place = k * ratio / (bins - 1)
            fade = ((1.0 - place) / TAPER).clamp(0.0, 1.0)
            weight = weight * (0.5 - 0.5 * torch.cos(math.pi * fade))
        inside = times < self.window_length / 2
        angle = 2.0 * math.pi * k * times / self.window_length
        return (
            (weight * torch.cos(angle) * inside).float(),
            (-weight * torch.sin(angle) * inside).float(),
        )

    def __call__(self, frames: torch.Tensor) -> torch.Tensor:
        """Shifts consecutive frames ``[row, frame, length]``, for overlap-add at the hop."""
        parts = frames.split(FRAMES_AT_ONCE, dim=1)
        return torch.cat([self._shift(part) for part in parts], dim=1)

    def _shift(self, frames: torch.Tensor) -> torch.Tensor:
        start = (self._length - self.window_length) // 2
        middle = frames[..., start : start + self.window_length].double() * self._window
        spectrum = torch.fft.rfft(middle) * self._centre
        turned = (spectrum * torch.polar(torch.ones_like(spectrum.real), self._turn(spectrum))).to(
            torch.complex64
        )
        out = []
        for row, kind in enumerate(self._kind):
            cosines, sines = self._synthesis[kind]
            even = turned[row].real @ cosines
            odd = turned[row].imag @ sines
            out.append(torch.cat([(even - odd)[:, 1:].flip(1), (even + odd)[:, :-1]], dim=1))
        shifted = torch.stack(out)
        # the squeezed frame is shorter by rho: its mean power is kept, and so the level
        energy = shifted.square().sum(-1, keepdim=True)
        wanted = (middle.square().sum(-1, keepdim=True) / self._ratios).float()
        gain = torch.where(energy > 0, wanted / energy.clamp_min(1e-30), 0.0).sqrt()
        return shifted * gain * self._output_windows

    def _turn(self, spectrum: torch.Tensor) -> torch.Tensor:
        """Phase rotation of each bin from analysis to synthesis, ``[row, frame, bin]``: phi(m) =
        phi(m - 1) + H_s w, w = w_k + princarg(dphi - H_a w_k) / H_a.
        """
        angle = spectrum.angle()
        before = torch.cat([self._angle, angle[:, :-1]], dim=1)
        self._angle = angle[:, -1:]
        advance = angle - before
        expected = self._hop * self._omega
        deviation = _princarg(advance - expected)
        step = _princarg(self._ratios * (expected + deviation) - advance)
        # identity phase locking: the bins around a peak turn with it
        nearest = _nearest_peak(spectrum.abs())
        rotation, turns = self._rotation, []
        for m in range(angle.shape[1]):
            rotation = (rotation + step[:, m]).gather(1, nearest[:, m])
            turns.append(rotation)
        self._rotation = _princarg(rotation)
        return torch.stack(turns, dim=1)


def _princarg(phase: torch.Tensor) -> torch.Tensor:
    """Principal argument: the phase within half a turn of zero."""
    return phase - 2.0 * math.pi * torch.round(phase / (2.0 * math.pi))


def _nearest_peak(magnitude: torch.Tensor) -> torch.Tensor:
    """Nearest spectral peak of every bin, larger than two bins on either side, ``[row, frame,
    bin]``.
    """
    bins = magnitude.shape[-1]
    padded = torch.nn.functional.pad(magnitude, (2, 2), value=-1.0)
    peak = torch.ones_like(magnitude, dtype=torch.bool)
    for shift in (0, 1, 3, 4):
        peak &= magnitude > padded[..., shift : shift + bins]
    index = torch.arange(bins, device=magnitude.device).expand_as(magnitude)
    far = 4 * bins
    left = torch.where(peak, index, -far).cummax(dim=-1).values
    right = torch.where(peak, index, far).flip(-1).cummin(dim=-1).values.flip(-1)
    nearest = torch.where(index - left <= right - index, left, right)
    return torch.where((nearest >= 0) & (nearest < bins), nearest, index)
