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

from voicenym.dsp.overlap_add import synthesis_window

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
        hop: H_a in samples; the window is ``overlap * hop`` long.
        length: of the frames given, in samples, a multiple of the hop, even and at least the
            window, which is in their middle; without ``unused`` at least ``window / min(ratios)``.
        device: where the frames are.
        overlap: hops of the window.
        unused: hops at the beginning of frames that are not returned.
    """

    def __init__(
        self,
        ratios: Sequence[float],
        hop: int,
        length: int,
        device: str | torch.device = "cpu",
        overlap: int = OVERLAP,
        unused: int = 0,
    ) -> None:
        self.window_length = overlap * hop
        self._hop, self._length = hop, length
        size = self.window_length
        bins = size // 2 + 1
        rows = len(ratios)
        # Phases are computed on the processor, wherever the frames are: at a tie of two bins, or at
        # half a turn, the last bit decides between two phases, and devices round it differently.
        double: dict[str, Any] = {"dtype": torch.float64}
        self._ratios = torch.tensor(ratios, **double)
        self._window = torch.hann_window(size, periodic=True, **double)
        self._advances = hop * (2.0 * math.pi * torch.arange(bins, **double) / size)
        self._signs = _signs(bins, **double)
        self._rotation = torch.zeros(rows, bins, **double)
        # of phase zero, like all of zeros: with the signs of their bins, both parts are +0
        zero = (0.0 * self._signs).expand(rows, -1)
        self._last = torch.complex(zero, zero)

        distinct = sorted(set(ratios))
        self._kind = [distinct.index(ratio) for ratio in ratios]
        whole = [_matrices(ratio, size, length, torch.device(device)) for ratio in distinct]
        self._synthesis = [matrices for matrices, _ in whole]
        self._smaller = [matrices for _, matrices in whole]
        first = torch.stack([_output_window(ratio, size, length, **double) for ratio in distinct])
        if unused:  # what stretched frames have beyond their length is not used either
            scaled = torch.stack([synthesis_window(one, unused * hop, hop) for one in first])
        else:
            # both windows of all frames over a sample: a function of its place within the hop
            total = first.square().reshape(len(distinct), -1, hop).sum(1)
            scaled = first / total.repeat(1, length // hop)
        self._unused = unused * hop
        self._output_windows = scaled.float().to(device)[self._kind][:, None]

    def __call__(self, frames: torch.Tensor) -> torch.Tensor:
        """Shifts consecutive frames ``[row, frame, length]``, for overlap-add at the hop, without
        what is unused.
        """
        shifted = frames.new_empty(frames.shape)
        parts = zip(frames.split(FRAMES_AT_ONCE, 1), shifted.split(FRAMES_AT_ONCE, 1), strict=True)
        for part, out in parts:
            self._shift(part, out)
        return shifted[..., self._unused :]

    def _shift(self, frames: torch.Tensor, shifted: torch.Tensor) -> None:
        """Writes the shifted ``frames`` to ``shifted``."""
        start = (self._length - self.window_length) // 2
        middle = frames[..., start : start + self.window_length]
        middle = middle.to("cpu", torch.float64, copy=True).mul_(self._window)
        turned = self._turned(torch.fft.rfft(middle))
        half = self._length // 2
        for row, kind in enumerate(self._kind):
            many = frames.shape[1] >= FEW
            cosines, sines = (self._smaller if many else self._synthesis)[kind]
            times = cosines.shape[1]
            even = turned[:, row].real.float().to(frames.device) @ cosines
            odd = turned[:, row].imag.float().to(frames.device) @ sines
            later = min(times, half)
            shifted[row, :, : half - times + 1] = 0.0
            torch.sub(even, odd, out=(before := torch.empty_like(even)))
            shifted[row, :, half - times + 1 : half] = before[:, 1:].flip(1)
            shifted[row, :, half : half + later] = even.add_(odd)[:, :later]
            shifted[row, :, half + later :] = 0.0
        # the squeezed frame is shorter by rho: its mean power is kept, and so the level
        energy = shifted.square().sum(-1, keepdim=True)
        wanted = (middle.square_().sum(-1, keepdim=True) / self._ratios[:, None, None]).float()
        wanted = wanted.to(frames.device)
        gain = torch.where(energy > 0, wanted / energy.clamp_min(1e-30), 0.0).sqrt()
        shifted.mul_(gain).mul_(self._output_windows)

    def _turned(self, spectrum: torch.Tensor) -> torch.Tensor:
        """Spectra of the synthesis ``[frame, row, bin]``, with the phases phi(m) = phi(m - 1) +
        H_s w, w = w_k + princarg(dphi - H_a w_k) / H_a.

        Identity phase locking: the bins around a peak turn with it, so that phases are computed
        for peaks alone, one sixth of the bins of speech.

        Args:
            spectrum: ``[row, frame, bin]``, of which this keeps the last frame.
        """
        # frames first, so that those of all rows at one time lie together
        frames = spectrum.transpose(0, 1).contiguous()
        count, rows, bins = frames.shape
        place, which, owner = _regions(frames)
        of_bin = place - which * bins
        # phases at the window's middle, half of it later: bins of odd number change their sign
        sign = self._signs[of_bin]
        flat, size = frames.view(-1), rows * bins
        first = int(torch.searchsorted(place, size))
        earlier = torch.cat(
            [_taken(self._last.view(-1), place[:first]), _taken(flat, place[first:] - size)]
        )
        self._last = frames[-1].clone()
        angle = _angle(_taken(flat, place), sign)
        advance = angle.sub_(_angle(earlier, sign))
        expected = self._advances[of_bin]
        deviation = _princarg(advance - expected)
        ratio = self._ratios[which % rows] if rows > 1 else self._ratios
        step = _princarg(deviation.add_(expected).mul_(ratio).sub_(advance))
        turns = _summed(self._rotation.flatten(), step, place, owner, count)
        self._rotation = _princarg(turns[owner[-size:]]).view(rows, bins)
        turn = torch.complex(turns.cos(), turns.sin())
        return _taken(turn, owner).view(frames.shape).mul_(frames)


def _taken(values: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Elements of a vector, by numpy, which needs two thirds of torch's time."""
    return torch.from_numpy(values.numpy().take(places.numpy()))


def _angle(values: torch.Tensor, sign: torch.Tensor) -> torch.Tensor:
    """Angles of complex values times a sign each; of real numbers, at a quarter of the cost."""
    return torch.atan2(values.imag * sign, values.real * sign)


def _times(ratio: float, length: int, **options: Any) -> torch.Tensor:
    """Distances from the window's middle at which output samples 0 ... length / 2 are evaluated."""
    return ratio * torch.arange(length // 2 + 1, **options)


def _output_window(ratio: float, window: int, length: int, **options: Any) -> torch.Tensor:
    """Compressed window, ``[length]``."""
    times = _times(ratio, length, **options)
    half = 0.5 + 0.5 * torch.cos(2.0 * math.pi * times / window)
    half = torch.where(times < window / 2, half, 0.0)
    return torch.cat([half[1:].flip(0), half[:-1]])


def _signs(bins: int, **options: Any) -> torch.Tensor:
    """1 for bins of even, -1 for those of odd number: a shift by half the window."""
    signs = torch.ones(bins, **options)
    signs[1::2] = -1.0
    return signs


Matrices = tuple[torch.Tensor, torch.Tensor]


@lru_cache(maxsize=4)
@torch.inference_mode(False)
def _matrices(
    ratio: float, window: int, length: int, device: torch.device
) -> tuple[Matrices, Matrices]:
    """Inverse transform at steps of rho, which all recordings of a speaker share, of spectra whose
    phases are those at the window's beginning.

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
    weight = weight * _signs(bins, **options)[:, None]
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
    stops = numpy.searchsorted(place.numpy(), numpy.arange(1, frames + 1) * bins).tolist()
    first = stops[0]
    before = _taken(owner, place[first:] - bins)
    steps[:first] += start[place[:first]]
    # a frame follows from the one before: in numpy, whose operations start five times as fast
    sums, source = steps.numpy(), before.numpy()
    for one, other in pairwise(stops):
        frame = sums[one:other]
        frame += sums[source[one - first : other - first]]
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
    start = numpy.where(which[:-1] == which[1:], ((one + other) >> 1) + 1, which[1:] * bins)
    owner = torch.zeros(total, dtype=torch.int64)
    owner[torch.from_numpy(start)] = 1
    return torch.from_numpy(place), torch.from_numpy(which), owner.cumsum_(0)


def _peaks(spectrum: torch.Tensor) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Bins whose magnitude is larger than those of two bins on either side; all bins of a spectrum
    that has none.

    Args:
        spectrum: ``[frame, bin]``.

    Returns:
        Places ``[peak]`` in the flattened spectra, in rising order, and their frames.
    """
    count, bins = spectrum.shape
    # squares in single precision are cheaper than magnitudes, and have their order but for rounding
    squares = torch.view_as_real(spectrum.to(torch.complex64)).square_()
    # frames lie one behind the other with two bins on either side that no peak is lower than
    padded = squares.new_full((count, bins + 4), -1.0)
    torch.add(squares[..., 0], squares[..., 1], out=padded[:, 2:-2])
    power = padded.view(-1)
    two = torch.maximum(power[:-1], power[1:])
    neighbours = torch.maximum(two[:-3], two[3:])  # largest of two on either side
    there = numpy.flatnonzero((power[2:-2] * (1.0 + ROUNDING) >= neighbours).numpy())
    stops = numpy.searchsorted(there, (bins + 4) * numpy.arange(1, count + 1))
    peaks = numpy.diff(stops, prepend=0)
    frame = numpy.repeat(numpy.arange(count), peaks)
    place = there - 4 * frame
    own = power.numpy().take(there + 2) * numpy.float32(1.0 - ROUNDING)
    unsure = own <= neighbours.numpy().take(there)
    if unsure.any() or not peaks.all():
        again = numpy.union1d(frame[unsure], numpy.flatnonzero(peaks == 0))
        magnitude = torch.nn.functional.pad(spectrum[again].abs(), (2, 2), value=-1.0)
        mask = numpy.zeros((count, bins), numpy.bool_)
        mask.flat[place] = True
        mask[again] = _largest(magnitude).numpy()
        place = numpy.flatnonzero(mask)
        frame = place // bins
    return place, frame


def _largest(magnitude: torch.Tensor) -> torch.Tensor:
    """Whether a magnitude exceeds those of two bins on either side; all of a frame without such.

    Args:
        magnitude: ``[frame, 2 + bin + 2]``.
    """
    bins = magnitude.shape[-1] - 4
    own = magnitude[:, 2:-2]
    larger = own > magnitude[:, :bins]
    for shift in (1, 3, 4):
        larger &= own > magnitude[:, shift : shift + bins]
    return larger | ~larger.any(-1, keepdim=True)
