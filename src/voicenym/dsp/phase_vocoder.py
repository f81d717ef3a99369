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
from itertools import pairwise
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
ROUNDING = 4e-6
"""Relative difference of squares in single precision above which their order is sure."""


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
        # Phases are computed on the processor, wherever the frames are: at a tie of two bins, or at
        # half a turn, the last bit decides between two phases, and devices round it differently.
        double: dict[str, Any] = {"dtype": torch.float64}
        self._ratios = torch.tensor(ratios, **double)
        self._window = torch.hann_window(size, periodic=True, **double)
        self._omega = 2.0 * math.pi * torch.arange(bins, **double) / size
        self._rotation = torch.zeros(rows, bins, **double)
        self._last = torch.zeros(rows, bins, dtype=torch.complex128)

        distinct = sorted(set(ratios))
        self._kind = [distinct.index(ratio) for ratio in ratios]
        whole = [_matrices(ratio, size, length, torch.device(device)) for ratio in distinct]
        self._synthesis = [matrices for matrices, _ in whole]
        self._smaller = [matrices for _, matrices in whole]
        windows = torch.stack([_output_window(ratio, size, length, **double) for ratio in distinct])
        windows = windows.to(device)
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
        middle = frames[..., start : start + self.window_length].cpu().double() * self._window
        spectrum = torch.fft.rfft(middle)
        spectrum[..., 1::2].neg_()  # phases at the window's middle: a shift by half of it
        turned = self._turned(spectrum).to(frames.device)
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
        wanted = (middle.square_().sum(-1, keepdim=True) / self._ratios[:, None, None]).float()
        wanted = wanted.to(frames.device)
        gain = torch.where(energy > 0, wanted / energy.clamp_min(1e-30), 0.0).sqrt()
        return shifted.mul_(gain).mul_(self._output_windows)

    def _turned(self, spectrum: torch.Tensor) -> torch.Tensor:
        """Spectra of the synthesis ``[row, frame, bin]``, with the phases phi(m) = phi(m - 1) +
        H_s w, w = w_k + princarg(dphi - H_a w_k) / H_a.

        Identity phase locking: the bins around a peak turn with it, so that phases are computed
        for peaks alone, one sixth of the bins of speech.
        """
        # frames first, so that those of all rows at one time lie together
        frames = spectrum.transpose(0, 1).contiguous()
        count, rows, bins = frames.shape
        place, which, owner = _regions(frames)
        whole = torch.cat([self._last[None], frames]).flatten()
        self._last = frames[-1].clone()
        angle = whole[place + rows * bins].angle()
        advance = angle - whole[place].angle()
        expected = (self._hop * self._omega)[place - which * bins]
        deviation = _princarg(advance - expected)
        ratio = self._ratios[which % rows] if rows > 1 else self._ratios
        step = _princarg(deviation.add_(expected).mul_(ratio).sub_(advance))
        turns = _summed(self._rotation.flatten(), step, place, owner, count)
        self._rotation = _princarg(turns[owner[-rows * bins :]]).view(rows, bins)
        turn = torch.polar(torch.ones_like(turns), turns)
        each = turn.index_select(0, owner).view(frames.shape)
        return each.mul_(frames).to(torch.complex64).transpose(0, 1)


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


def _summed(
    start: torch.Tensor, steps: torch.Tensor, place: torch.Tensor, owner: torch.Tensor, frames: int
) -> torch.Tensor:
    """Sums of the steps of peaks over frames; each peak continues the sum that its bin had in the
    frame before.

    Args:
        start: ``[bin]``, the sums before the first frame, of the bins of all rows.
        steps: ``[peak]``, of all frames in turn.
        place: of each peak among the bins of all frames, ``[peak]``.
        owner: peak of each of these bins, ``[frame * bin]``.
        frames: their number.

    Returns:
        ``[peak]``.
    """
    bins = len(start)
    borders = torch.arange(1, frames + 1) * bins
    stops = torch.searchsorted(place, borders).tolist()
    first = stops[0]
    before = owner[place[first:] - bins]
    steps[:first] += start[place[:first]]
    # a frame follows from the one before: in numpy, whose operations start five times as fast
    sums, source = steps.numpy(), before.numpy()
    for one, other in pairwise(stops):
        sums[one:other] += sums[source[one - first : other - first]]
    return steps


def _regions(spectrum: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Spectral peaks, and the peak nearest to each bin; without any, each bin is one.

    Args:
        spectrum: ``[frame, row, bin]``.

    Returns:
        Places ``[peak]`` in the flattened spectra, in rising order, the number of the spectrum of
        each, and the number of the nearest peak, the lower of two, of every bin, flattened.
    """
    bins, total = spectrum.shape[-1], spectrum.numel()
    place, which = _peaks(spectrum.flatten(0, 1))
    one, other = place[:-1], place[1:]
    # from the middle between two peaks on, or from the start of the next spectrum
    start = torch.where(which[:-1] == which[1:], ((one + other) >> 1) + 1, which[1:] * bins)
    widths = torch.diff(start, prepend=start.new_zeros(1), append=start.new_full((1,), total))
    return place, which, torch.repeat_interleave(widths, output_size=total)


def _peaks(spectrum: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Bins whose magnitude is larger than those of two bins on either side; all bins of a spectrum
    that has none.

    Args:
        spectrum: ``[frame, bin]``.

    Returns:
        Places ``[peak]`` in the flattened spectra, in rising order, and their frames.
    """
    # squares in single precision are cheaper than magnitudes, and have their order but for rounding
    single = spectrum.to(torch.complex64)
    power = single.real.square().add_(single.imag.square())
    padded = torch.nn.functional.pad(power, (2, 2), value=-1.0)
    peak = _above(power.mul_(1.0 + ROUNDING), padded)
    place = _nonzero(peak)
    frame = torch.repeat_interleave(peak.sum(-1))
    there = place + 4 * frame
    flat = padded.flatten()
    own = flat[there + 2].mul_(1.0 - ROUNDING)
    unsure = (own <= flat[there]).logical_or_(own <= flat[there + 1])
    unsure.logical_or_(own <= flat[there + 3]).logical_or_(own <= flat[there + 4])
    none = ~peak.any(-1)
    if bool(unsure.any()) or bool(none.any()):
        frames = torch.unique(torch.cat([frame[unsure], none.nonzero()[:, 0]]))
        magnitude = spectrum[frames].abs()
        larger = _above(magnitude, torch.nn.functional.pad(magnitude, (2, 2), value=-1.0), True)
        peak[frames] = larger | ~larger.any(-1, keepdim=True)
        place, frame = _nonzero(peak), torch.repeat_interleave(peak.sum(-1))
    return place, frame


def _above(values: torch.Tensor, padded: torch.Tensor, strictly: bool = False) -> torch.Tensor:
    """Whether values ``[frame, bin]`` reach those of two bins on either side, ``padded`` by two."""
    compare = torch.gt if strictly else torch.ge
    bins = values.shape[-1]
    above = compare(values, padded[:, :bins])
    for shift in (1, 3, 4):
        above &= compare(values, padded[:, shift : shift + bins])
    return above


def _nonzero(mask: torch.Tensor) -> torch.Tensor:
    """Places in a flattened mask."""
    # at a quarter of torch's cost
    return torch.from_numpy(numpy.flatnonzero(mask.flatten().numpy()))
