"""Voice measurements of a speaker: F0, formants, band levels, speaking rate.

They are accumulated block by block in histograms; memory grows by five bytes per 10 ms, for the
syllables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy
import torch

from voicenym.dsp.envelopes import formants as resonances
from voicenym.dsp.envelopes.formants import FEWEST_FRAMES, LOUD_DB
from voicenym.dsp.pitch.recorded_pitch import PitchRecorder, RecordedPitch
from voicenym.dsp.resampling import RateChanger
from voicenym.dsp.syllables import articulation_rate

FORMANT_STEP = 10.0
PITCH_LOWEST, PITCH_HIGHEST = 60.0, 450.0
PITCH_STEP = 1.0 / 120.0
"""Bins of the pitch histogram, in octaves: 10 cents."""
FFT = 1024
USUAL_NEUTRAL = resonances.NEUTRAL
FULL_SCALE_DB = 100.0
AT_ONCE = 512
"""Frames analysed at once."""


@dataclass(frozen=True)
class Reading:
    """Voice measurements of one row of a recording.

    Args:
        pitch: median F0 in Hz; None where hardly anything is voiced.
        spread: half the distance between the 16th and 84th percentile of F0, in semitones.
        formants: medians of F1 ... F5 in Hz; fewer where the rate allows fewer.
        spectrum: mean power spectrum of voiced frames, of ``FFT / 2 + 1`` bins up to ``nyquist``.
        nyquist: in Hz.
        syllables: per second of speech; None where it cannot be measured.
    """

    pitch: float | None
    spread: float
    formants: tuple[float, ...]
    spectrum: tuple[float, ...]
    nyquist: float
    syllables: float | None

    @property
    def neutral_formants(self) -> tuple[float, ...]:
        """phi_i = F_i / (2 i - 1): first resonance of the uniform tube that has this F_i."""
        return tuple(f / (2 * i + 1) for i, f in enumerate(self.formants))

    @property
    def neutral(self) -> float:
        """Mean phi over all formants; higher ones, which vary less with vowels, weigh more."""
        weights = range(1, len(self.formants) + 1)
        weighted = sum(w * p for w, p in zip(weights, self.neutral_formants, strict=True))
        return weighted / sum(weights)

    def band_level(self, low: float, high: float) -> float:
        """Level of a band in dB, relative to 70 dB for the whole spectrum."""
        power = numpy.array(self.spectrum)
        hertz = numpy.linspace(0.0, self.nyquist, len(power))
        inside = power[(hertz >= low) & (hertz < high)].sum()
        return 70.0 + 10.0 * math.log10(max(float(inside / max(power.sum(), 1e-30)), 1e-9))


class Readings(list[Reading]):
    """Voice measurements of the rows of a recording, and its F0 track if it is not too long."""

    def __init__(self, readings: Iterable[Reading], pitch: RecordedPitch | None = None) -> None:
        super().__init__(readings)
        self.pitch = pitch


class _Track:
    """Array ``[row, frame]`` that grows at its end in large chunks.

    Many small arrays kept between the large ones that come and go would split the heap up, and a
    recording of ten hours would take a gigabyte.
    """

    def __init__(self, rows: int, kind: type[numpy.generic]) -> None:
        self._values = numpy.empty((rows, 1 << 16), kind)
        self._length = 0

    def append(self, values: numpy.ndarray) -> None:
        stop = self._length + values.shape[1]
        if stop > self._values.shape[1]:
            larger = numpy.empty((len(values), 2 * stop), self._values.dtype)
            larger[:, : self._length] = self._values[:, : self._length]
            self._values = larger
        self._values[:, self._length : stop] = values
        self._length = stop

    def whole(self) -> numpy.ndarray:
        return self._values[:, : self._length]


class Reader:
    """First pass over a recording: measures blocks (``push``), then summarises them (``result``).

    Args:
        rows: rows of the signal.
        rate: in Hz.
        lengths: samples of each row, where rows are padded at their end.
    """

    def __init__(self, rows: int, rate: int, lengths: Sequence[int] | None = None) -> None:
        self._pitch = PitchRecorder(rows, rate)
        endless = [1 << 60] * rows if lengths is None else lengths
        # frames of each row
        self._ends = torch.tensor([-(-length // self._pitch.hop) for length in endless])[:, None]
        self._first = 0
        # frames of both must fall on the same times
        exact = rate > resonances.RATE and rate % 100 == 0
        self._rate = resonances.RATE if exact else rate
        self._hop = self._pitch.hop * self._rate // rate
        self._frame_rate = rate / self._pitch.hop
        self._down = RateChanger(rate, self._rate, rows)
        self._count = min(resonances.MOST, resonances.order(self._rate) // 2)
        self._window = resonances.window(self._rate)
        # weights of the squares of samples, hop by hop: ``[sample of a hop, hop of a frame]``
        squared = self._window.square()
        hops = -(-len(squared) // self._hop)
        padded = torch.nn.functional.pad(squared, (0, hops * self._hop - len(squared)))
        self._weights = (padded / squared.sum()).view(hops, self._hop).T.contiguous()
        self._signal = torch.zeros(rows, len(self._window) // 2)
        self._f0 = torch.zeros(rows, 0)
        bins = math.ceil(self._rate / 2 / FORMANT_STEP)
        self._formants = torch.zeros(rows, self._count, bins, dtype=torch.int64)
        octaves = math.log2(PITCH_HIGHEST / PITCH_LOWEST)
        self._pitches = torch.zeros(rows, math.ceil(octaves / PITCH_STEP) + 1, dtype=torch.int64)
        self._spectrum = torch.zeros(rows, FFT // 2 + 1, dtype=torch.float64)
        self._loudest = torch.zeros(rows, 1, dtype=torch.float64)
        self._levels = _Track(rows, numpy.float32)
        self._voiced = _Track(rows, numpy.bool_)

    def push(self, block: torch.Tensor) -> None:
        """Adds a block ``[row, time]`` float32."""
        block = block.cpu()
        self._add(self._down.push(block), self._pitch.push(block).f0)

    def result(self) -> Readings:
        """Measurements of each row."""
        rest, track = self._pitch.finish()
        f0 = rest.f0
        padding = torch.zeros(len(self._signal), len(self._window) + self._hop)
        self._add(torch.cat([self._down.flush(), padding], dim=1), f0)
        levels, voiced = self._levels.whole(), self._voiced.whole()
        ends = self._ends[:, 0].tolist()
        found = (self._reading(r, levels[r, :end], voiced[r, :end]) for r, end in enumerate(ends))
        return Readings(found, track)

    def _add(self, signal: torch.Tensor, f0: torch.Tensor) -> None:
        self._signal = torch.cat([self._signal, signal], dim=1)
        self._f0 = torch.cat([self._f0, f0], dim=1)
        length = len(self._window)
        frames = min((self._signal.shape[1] - length) // self._hop + 1, self._f0.shape[1])
        if frames > 0:
            self._count_frames(self._signal[:, : (frames - 1) * self._hop + length], frames)
            self._signal = self._signal[:, frames * self._hop :]
            self._f0 = self._f0[:, frames:]

    def _count_frames(self, signal: torch.Tensor, frames: int) -> None:
        """Counts the frames of a signal ``[row, time]``, as many as fit."""
        f0 = self._f0[:, :frames]
        level = FULL_SCALE_DB + 10.0 * self._power(signal, frames).clamp_min(1e-30).log10()
        place = torch.arange(self._first, self._first + frames)
        self._first += frames
        voiced = (f0 > 0) & (place < self._ends)
        self._levels.append(level.numpy())
        self._voiced.append(voiced.numpy())
        loudest = torch.cat([self._loudest, level], dim=1).cummax(dim=1).values
        self._loudest = loudest[:, -1:]
        voiced = voiced & (level > loudest[:, 1:] - LOUD_DB)
        if not bool(voiced.any()):
            return
        whole = signal.unfold(1, len(self._window), self._hop)
        for row, frame in zip(*(i.split(AT_ONCE) for i in voiced.nonzero().T), strict=True):
            self._count_voiced(whole[row, frame], f0[row, frame], row)

    def _power(self, signal: torch.Tensor, frames: int) -> torch.Tensor:
        """Mean power of windowed frames ``[row, frame]``, float64.

        A sample is squared once, and not once for every frame that it is in.
        """
        hop, hops = self._weights.shape
        missing = (frames - 1 + hops) * hop - signal.shape[1]
        squares = torch.nn.functional.pad(signal, (0, missing)).double().square_()
        parts = squares.unflatten(1, (-1, hop)) @ self._weights
        power = parts[:, :frames, 0].clone()
        for k in range(1, hops):
            power += parts[:, k : k + frames, k]
        return power

    def _count_voiced(self, frames: torch.Tensor, hertz: torch.Tensor, row: torch.Tensor) -> None:
        """Counts loud voiced frames ``[frame, time]`` of an F0 and a row each, ``[frame]``."""
        index = ((hertz / PITCH_LOWEST).log2() / PITCH_STEP).long()
        index = index.clamp(0, self._pitches.shape[1] - 1)
        self._pitches.index_put_((row, index), torch.ones_like(row), accumulate=True)

        chosen = frames.double().mul_(self._window)
        squares = torch.view_as_real(torch.fft.rfft(chosen, n=FFT)).square_()
        self._spectrum.index_add_(0, row, squares[..., 0].add_(squares[..., 1]))

        place = resonances.formants(chosen, self._rate)
        whole = torch.isfinite(place).all(0)  # with one missing, the others' numbers are unknown
        index = (place[:, whole] / FORMANT_STEP).long()
        rows = row[whole].expand_as(index)
        which = torch.arange(self._count)[:, None].expand_as(index)
        self._formants.index_put_((rows, which, index), torch.ones_like(index), accumulate=True)

    def _reading(self, row: int, level: numpy.ndarray, voiced: numpy.ndarray) -> Reading:
        pitch, spread = None, 0.0
        if int(self._pitches[row].sum()) >= FEWEST_FRAMES:
            low, middle, high = (_quantile(self._pitches[row], q) for q in (0.16, 0.5, 0.84))
            pitch = PITCH_LOWEST * 2.0 ** (middle * PITCH_STEP)
            spread = 6.0 * (high - low) * PITCH_STEP
        if int(self._formants[row, 0].sum()) >= FEWEST_FRAMES:
            formants = tuple(FORMANT_STEP * _quantile(h, 0.5) for h in self._formants[row])
        else:
            formants = tuple(USUAL_NEUTRAL * (2 * i + 1) for i in range(self._count))
        return Reading(
            pitch,
            spread,
            formants,
            tuple(self._spectrum[row].tolist()),
            self._rate / 2,
            articulation_rate(level, voiced, self._frame_rate),
        )


def _quantile(histogram: torch.Tensor, share: float) -> float:
    """Quantile of a histogram in bins, interpolated within a bin."""
    below = histogram.double().cumsum(0)
    wanted = share * float(below[-1])
    index = int(torch.searchsorted(below, torch.tensor(wanted, dtype=torch.float64)))
    index = min(index, len(below) - 1)
    before = float(below[index - 1]) if index else 0.0
    return index + (wanted - before) / max(float(histogram[index]), 1.0)
