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
from functools import lru_cache
from typing import Any

import numpy
import torch

OVERLAP = 8
"""Windows over each sample: H_s = 2 H_a, an octave up, still is a quarter of the window."""
FRAMES_AT_ONCE = 512
FEW = 16
"""Frames below which matrix products add in an order that depends on the matrices' sizes."""
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
        whole = [_matrices(ratio, size, length, torch.device(device)) for ratio in distinct]
        self._synthesis = [matrices for matrices, _ in whole]
        self._smaller = [matrices for _, matrices in whole]
        windows = torch.stack([_output_window(ratio, size, length, **double) for ratio in distinct])
        # both windows of all frames over a sample: a function of its place within the hop
        total = windows.square().reshape(len(distinct), -1, hop).sum(1)
        scaled = windows / total.repeat(1, length // hop)
        self._windows = windows.float()[self._kind][:, None]
        self._output_windows = scaled.float()[self._kind][:, None]

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
        shifted = frames.new_zeros(frames.shape)
        half = self._length // 2
        for row, kind in enumerate(self._kind):
            many = frames.shape[1] >= FEW
            cosines, sines = (self._smaller if many else self._synthesis)[kind]
            times = cosines.shape[1]
            even = turned[row].real @ cosines
            odd = turned[row].imag @ sines
            later = min(times, half)
            shifted[row, :, half : half + later] = even[:, :later] + odd[:, :later]
            shifted[row, :, half - times + 1 : half] = (even - odd)[:, 1:].flip(1)
        # the squeezed frame is shorter by rho: its mean power is kept, and so the level
        energy = shifted.square().sum(-1, keepdim=True)
        wanted = (middle.square_().sum(-1, keepdim=True) / self._ratios).float()
        gain = torch.where(energy > 0, wanted / energy.clamp_min(1e-30), 0.0).sqrt()
        return shifted.mul_(gain).mul_(self._output_windows)

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
        step = _princarg(deviation.add_(expected).mul_(self._ratios).sub_(advance))
        # identity phase locking: the bins around a peak turn with it
        turns = _summed(self._rotation, step, _nearest_peak(spectrum.abs()))
        self._rotation = _princarg(turns[:, -1])
        return turns


def _times(ratio: float, length: int, **options: Any) -> torch.Tensor:
    """Distances from the window's middle at which output samples 0 ... length / 2 are evaluated."""
    return ratio * torch.arange(length // 2 + 1, **options)


def _output_window(ratio: float, window: int, length: int, **options: Any) -> torch.Tensor:
    """Compressed window, ``[length]``."""
    times = _times(ratio, length, **options)
    half = 0.5 + 0.5 * torch.cos(2.0 * math.pi * times / window)
    half = torch.where(times < window / 2, half, 0.0)
    return torch.cat([half[1:].flip(0), half[:-1]])


Matrices = tuple[torch.Tensor, torch.Tensor]


@lru_cache(maxsize=4)
@torch.inference_mode(False)
def _matrices(
    ratio: float, window: int, length: int, device: torch.device
) -> tuple[Matrices, Matrices]:
    """Inverse transform at steps of rho, which all recordings of a speaker share.

    Args:
        ratio: rho.
        window: length of the window.
        length: of the frames.
        device: where the matrices are.

    Returns:
        The even part of the real, and the odd of the imaginary parts, each ``[bin, length / 2 +
        1]``; the same without the last times, at which both are zero. Bins of zero weight stay:
        without them the products of the others are added in another order.
    """
    options: dict[str, Any] = {"dtype": torch.float64, "device": device}
    bins = window // 2 + 1
    times = _times(ratio, length, **options)
    k = torch.arange(bins, **options)[:, None]
    weight = torch.full_like(k, 2.0 / window)
    weight[0] = weight[-1] = 1.0 / window
    if ratio > 1.0:  # what would rise above the Nyquist frequency
        place = k * ratio / (bins - 1)
        fade = ((1.0 - place) / TAPER).clamp(0.0, 1.0)
        weight = weight * (0.5 - 0.5 * torch.cos(math.pi * fade))
    inside = times < window / 2
    angle = 2.0 * math.pi * k * times / window
    cosines = (weight * torch.cos(angle) * inside).float()
    sines = (-weight * torch.sin(angle) * inside).float()
    used = int(inside.sum())
    return (cosines, sines), (cosines[:, :used].contiguous(), sines[:, :used].contiguous())


def _princarg(phase: torch.Tensor) -> torch.Tensor:
    """Principal argument: the phase within half a turn of zero."""
    return phase - (phase / (2.0 * math.pi)).round_().mul_(2.0 * math.pi)


def _summed(start: torch.Tensor, steps: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """Sums over frames, in which every bin continues the sum of its source bin.

    Args:
        start: ``[row, bin]``, the sums before.
        steps: ``[row, frame, bin]``.
        source: bin whose sum is continued, ``[row, frame, bin]``.
    """
    if steps.device.type != "cpu":
        sums = []
        for m in range(steps.shape[1]):
            start = (start + steps[:, m]).gather(1, source[:, m])
            sums.append(start)
        return torch.stack(sums, dim=1)
    # one frame after the other: in numpy, whose operations on a frame start five times as fast
    out = steps.numpy()
    for before, row, place in zip(start.numpy(), out, source.numpy(), strict=True):
        for step, index in zip(row, place, strict=True):
            step += before
            step[:] = before = step[index]
    return steps


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
    left = _running_maximum(torch.where(peak, index, -far))
    right = -_running_maximum(torch.where(peak, -index, -far).flip(-1)).flip(-1)
    nearest = torch.where(index - left <= right - index, left, right)
    return torch.where((nearest >= 0) & (nearest < bins), nearest, index)


def _running_maximum(values: torch.Tensor) -> torch.Tensor:
    """Largest value so far along the last axis."""
    if values.device.type != "cpu":
        return values.cummax(dim=-1).values
    # torch finds the places, too, at ten times the cost
    return torch.from_numpy(numpy.maximum.accumulate(values.numpy(), axis=-1))
