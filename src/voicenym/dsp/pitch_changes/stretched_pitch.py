"""Pitch shifting by time-scale modification with a phase vocoder, and resampling.

Frames of a signal, H_a samples apart, are overlap-added H_s samples apart, with the phases of
:mod:`voicenym.dsp.pitch_changes.locked_phases`; each H_s samples of the stretched signal are then
interpolated at H_a places. Both hops are whole numbers whose ratio is that of the pitches, so that
the signal neither drifts nor needs a filter for each frame.

Flanagan and Golden (1966); Laroche and Dolson (1999).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy
import torch

from voicenym.dsp.pitch_changes.locked_phases import BESIDE, LockedPhases

FRAMES_AT_ONCE = 256
"""Frames computed at once: what is between stays in the second-level cache."""
TAPS = 64
"""Samples of the stretched signal from which a sample is interpolated."""
KAISER = 7.0
"""Shape of the window of the interpolation: images lie 72 dB lower."""
TAPER = 0.05
"""Share of the band that would alias over which its edge fades."""
SLACK = 0.125
"""Relative change of the analysis hop that may be made for the ratio of the hops."""


def hops(ratio: float, hop: int) -> tuple[int, int]:
    """H_a near ``hop`` and H_s whose ratio H_s / H_a is nearest to ``ratio``, in samples.

    Of shifts by 2 to 5 semitones it is at most 2.1 cents off with hops of 128 samples, and 4.2 with
    64.
    """
    wide = int(SLACK * hop)
    nearest = sorted(range(hop - wide, hop + wide + 1), key=lambda one: abs(one - hop))
    analysis = min(nearest, key=lambda one: abs(round(one * ratio) / one - ratio))
    return analysis, round(analysis * ratio)


class StretchedPitch:
    """Pitch shift of the rows of a signal by a ratio each; an :class:`voicenym.anonymizer.Core`.

    Phases are computed on the processor, wherever the signal is: at a tie of two bins, or at half a
    turn, the last bit decides between two phases, and devices round it differently.

    Args:
        ratios: rho of each row, 0.5 to 2.
        hop: H_a in samples, about.
        size: of the window in samples, even.
        lowest: the least ratio that there may be; the latency suits it, and does not tell the
            ratio.

    Attributes:
        latency: in samples.
    """

    def __init__(self, ratios: Sequence[float], hop: int, size: int, lowest: float) -> None:
        self._rows = [_Row(*hops(ratio, hop), size) for ratio in ratios]
        analysis, synthesis = hops(lowest, hop)
        self.latency = size - 1 + _delay(analysis, synthesis, size)
        self._pushed = 0
        self._returned = 0

    def push(self, block: torch.Tensor) -> torch.Tensor:
        """Adds ``[row, time]`` float32; returns the samples that are finished."""
        self._pushed += block.shape[1]
        count = max(0, self._pushed - self.latency) - self._returned
        self._returned += count
        given = block.cpu()
        out = [row.push(one, count) for row, one in zip(self._rows, given, strict=True)]
        return torch.stack(out).to(block.device)

    def finish(self, block: torch.Tensor) -> torch.Tensor:
        """:meth:`push` and :meth:`flush` in one: the last frames are computed with the others."""
        missing = self._pushed + block.shape[1] - self._returned
        padding = block.new_zeros(block.shape[0], self.latency)
        return self.push(torch.cat([block, padding], dim=1))[:, :missing]

    def flush(self) -> torch.Tensor:
        return self.finish(torch.zeros(len(self._rows), 0))


def _delay(analysis: int, synthesis: int, size: int) -> int:
    """Samples by which the output of a frame's hop lies before the frame's beginning, ``D``."""
    reach = (TAPS + size) // 2
    return reach * analysis // synthesis - size // 2


class _Row:
    """Pitch shift of one row.

    Frame m has the samples from ``m H_a - (size - H_a)`` on, so that those before are silent, and
    finishes the samples from ``m H_a - (size - H_a) - D`` on, see :func:`_delay`.
    """

    def __init__(self, analysis: int, synthesis: int, size: int) -> None:
        self._analysis, self._synthesis, self._size = analysis, synthesis, size
        self._phases = LockedPhases(size, analysis, synthesis)
        self._input = torch.zeros(size - analysis)
        self._skip = size - analysis + _delay(analysis, synthesis, size)  # before the beginning
        window = torch.hann_window(size, periodic=True, dtype=torch.float64)
        self._parts = -(-size // synthesis)
        squares = torch.zeros(self._parts * synthesis, dtype=torch.float64)
        squares[:size] = window.square()
        total = squares.view(-1, synthesis).sum(0).repeat(self._parts)[:size]
        self._window, self._output_window = window.float(), (window / total).float()
        self._carry = torch.zeros(self._parts - 1, synthesis)
        self._stretched = torch.zeros(TAPS)
        self._interpolation = interpolation(analysis, synthesis, size)
        self._weights = fading(synthesis / analysis, size // 2 + 1)
        self._ready = torch.zeros(0)

    def push(self, samples: torch.Tensor, count: int) -> torch.Tensor:
        """Adds samples ``[time]``; returns ``count`` of those that are finished."""
        signal = torch.cat([self._input, samples])
        frames = max(0, (len(signal) - self._size) // self._analysis + 1)
        self._input = signal[frames * self._analysis :].clone()
        parts = [self._ready]
        if frames:
            whole = signal.unfold(0, self._size, self._analysis)[:frames]
            finished = torch.cat([self._shifted(part) for part in whole.split(FRAMES_AT_ONCE)])
            skipped = min(self._skip, len(finished))
            self._skip -= skipped
            parts.append(finished[skipped:])
        ready = torch.cat(parts)
        self._ready = ready[count:].clone()
        return ready[:count]

    def _shifted(self, frames: torch.Tensor) -> torch.Tensor:
        """Output ``[frame * H_a]`` that frames ``[frame, size]`` finish."""
        count = len(frames)
        spectra = torch.fft.rfft(frames * self._window)
        squares = torch.view_as_real(spectra).square()
        bins = self._size // 2 + 1
        padded = squares.new_full((count, BESIDE + bins + BESIDE), -1.0)
        power = padded[:, BESIDE:-BESIDE]
        torch.add(squares[..., 0], squares[..., 1], out=power)
        gain = None
        if self._weights is not None:  # every frame keeps its mean power
            whole, kept = (power.mv(weights) for weights in self._weights[1])
            gain = whole.div_(kept.clamp_min_(1e-30)).sqrt_()
        self._phases.turn(spectra, padded, gain)
        if self._weights is not None:
            first = bins - len(self._weights[0])
            spectra[:, first:].mul_(self._weights[0])
        stretched = torch.fft.irfft(spectra, n=self._size)
        added = self._added(stretched.mul_(self._output_window))
        signal = torch.cat([self._stretched, added.view(-1)])
        self._stretched = signal[-TAPS:].clone()
        hop = self._synthesis
        return (signal.unfold(0, TAPS + hop, hop)[:count] @ self._interpolation).view(-1)

    def _added(self, frames: torch.Tensor) -> torch.Tensor:
        """Overlap-adds frames ``[frame, size]``; returns the finished ``[frame, H_s]``."""
        count, hop = len(frames), self._synthesis
        total = frames.new_zeros(count + self._parts - 1, hop)
        total[: self._parts - 1] = self._carry
        for part in range(self._parts):
            piece = frames[:, part * hop : (part + 1) * hop]
            total[part : part + count, : piece.shape[1]] += piece
        self._carry = total[count:].clone()
        return total[:count]


@lru_cache(maxsize=4)
@torch.inference_mode(False)
def interpolation(analysis: int, synthesis: int, size: int) -> torch.Tensor:
    """Matrix ``[TAPS + H_s, H_a]`` that interpolates H_a samples from H_s and the TAPS before.

    Sinc functions under a Kaiser window. Their places let the middles of frames, H_a apart in the
    signal and H_s apart in the stretched one, fall on each other.
    """
    ratio = synthesis / analysis
    delay = _delay(analysis, synthesis, size)
    first = size // 2 + TAPS - ratio * (delay + size // 2)
    double: dict[str, Any] = {"dtype": torch.float64}
    places = first + ratio * torch.arange(analysis, **double)
    distance = torch.arange(TAPS + synthesis, **double)[:, None] - places
    inside = (1.0 - (distance / (TAPS / 2)).square()).clamp_min(0.0)
    window = torch.special.i0(KAISER * inside.sqrt()) * (inside > 0.0)
    kernel = torch.sinc(distance) * window
    return (kernel / kernel.sum(0)).float()


def fading(ratio: float, bins: int) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Weights of the highest bins, which would rise above the Nyquist frequency; and squares of the
    weights of all bins, before and after, ``[2, bin]``. None where all bins stay.
    """
    if ratio <= 1.0:
        return None
    place = torch.arange(bins, dtype=torch.float64) * ratio / (bins - 1)
    fade = ((1.0 - place) / TAPER).clamp(0.0, 1.0)
    weights = 0.5 - 0.5 * torch.cos(math.pi * fade)
    both = torch.full((2, bins), 2.0, dtype=torch.float64)
    both[:, 0] = both[:, -1] = 1.0
    both[1] *= weights.square()
    first = int(numpy.argmax(weights.numpy() < 1.0))
    return weights[first:].float(), both.float()
