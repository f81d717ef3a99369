"""TD-PSOLA: streaming modification of pitch and duration by pitch-synchronous overlap-add.

Moulines and Charpentier, "Pitch-synchronous waveform processing techniques for text-to-speech
synthesis using diphones", Speech Communication 9 (1990). Each pitch mark maximises the correlation
near one period after the last; unvoiced speech is copied. Grains span two periods; where they move
closer, their windows shrink with the new period and so always add up to one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy
import torch

from voicenym.dsp.pitch.recorded_pitch import PitchFollower, RecordedPitch

LONGEST_PERIOD = 1.0 / 60.0
SEARCH = 0.2
"""Search range of the next pitch mark, as a share of a period around one period."""
MARGIN_SECONDS = 0.12
"""Signal kept before the current grain."""
HELD_SECONDS = 0.11
"""Largest delay of marks and grains beyond the pitch tracker's."""


@dataclass(frozen=True)
class Retuning:
    """F0 transformation of a row: f' = target (f / median)^spread, within a factor of ``cap``.

    Args:
        median: of the speaker, in Hz.
        target: the new median, in Hz.
        spread: of pitch around its median on a log scale, as a factor.
        cap: largest change, up or down, as a factor.
        tempo: of the output against the input; 1 keeps all times.
    """

    median: float
    target: float
    spread: float = 1.0
    cap: float = 1.5
    tempo: float = 1.0

    def ratio(self, f0: float) -> float:
        """Factor on a pitch of ``f0`` Hz."""
        wanted = self.target * (f0 / self.median) ** self.spread / f0
        return min(max(wanted, 1.0 / self.cap), self.cap)


@lru_cache(maxsize=4096)
def _rise(length: int) -> numpy.ndarray:
    """Rising half of a Hann window, which adds up to one with its mirror image."""
    n = numpy.arange(length)
    return (0.5 - 0.5 * numpy.cos(numpy.pi * n / max(1, length))).astype(numpy.float32)


@lru_cache(maxsize=4096)
def _window(left: int, right: int) -> numpy.ndarray:
    """Window of a grain that rises over ``left`` samples and falls over ``right``."""
    return numpy.concatenate([_rise(left), 1.0 - _rise(right)])


@dataclass
class _Row:
    """State of one row: samples, pitch marks, and the grains overlap-added so far."""

    rate: int
    hop: int
    retuning: Retuning
    x: numpy.ndarray
    start: int
    """Position of ``x[0]`` in the signal."""
    f0: list[float] = field(default_factory=list)
    first_frame: int = 0
    marks: list[tuple[int, float]] = field(default_factory=lambda: [(0, 0.0)])
    """Position and F0 (0: unvoiced) of pending source marks."""
    u: float = 0.0
    left: int = 0
    y: numpy.ndarray = field(default_factory=lambda: numpy.zeros(0, numpy.float32))
    done: int = 0
    """Position of ``y[0]`` in the output; earlier samples are finished."""

    def _pitch(self, t: int) -> float:
        k = (t + self.hop // 2) // self.hop - self.first_frame
        return self.f0[min(max(k, 0), len(self.f0) - 1)]

    def advance(self, x: numpy.ndarray, f0: numpy.ndarray) -> None:
        """Adds samples and pitch frames; places the marks and grains that they allow."""
        self.x = numpy.concatenate([self.x, x])
        self.f0 += f0.tolist()
        self._mark()
        self._put_down()
        drop = self.marks[0][0] - round(MARGIN_SECONDS * self.rate) - self.start
        if drop > 0:
            self.x = self.x[drop:]
            self.start += drop
        frames = self.marks[-1][0] // self.hop - 2 - self.first_frame
        if frames > 0:
            self.f0 = self.f0[frames:]
            self.first_frame += frames

    def _mark(self) -> None:
        # names of its own for what each of thousands of marks asks for
        hop, rate, marks, f0 = self.hop, self.rate, self.marks, self.f0
        middle, first, last = hop // 2, self.first_frame, len(self.f0) - 1
        reach = round((1.0 + 2 * SEARCH) * LONGEST_PERIOD * rate) + 2 * hop
        latest = (first + last) * hop - reach
        t, f = marks[-1]
        while t <= latest:
            if f > 0:
                t += self._next_period(t, rate / f)
            else:
                ahead = self._pitch(t + hop)
                if ahead > 0:  # a voice sets in: its first mark is its first peak
                    low = t + middle - self.start
                    span = self.x[low : low + max(2, round(rate / ahead))]
                    t += middle + int(numpy.abs(span).argmax())
                else:
                    t += hop
            k = (t + middle) // hop - first
            f = f0[k if 0 <= k <= last else last if k > 0 else 0]
            marks.append((t, f))

    def _next_period(self, t: int, period: float) -> int:
        half = round(period / 2)
        low, high = int((1 - SEARCH) * period), int((1 + SEARCH) * period) + 1
        at = t - self.start
        here = self.x[at - half : at + half]
        there = self.x[at + low - half : at + high + half]
        match = numpy.correlate(there, here)
        best = int(match.argmax())
        if match[best] > 0:
            return low + best or 1
        return round(period)

    def _put_down(self) -> None:
        marks, retuning, u = self.marks, self.retuning, self.u
        tempo, last = retuning.tempo, len(marks) - 1
        i = 0
        t, f = marks[0]
        before = None  # the mark before the one at work
        here, left = round(u), self.left
        while i < last:
            source = u * tempo
            after, f_after = marks[i + 1]
            if abs(after - source) <= abs(t - source):
                i, before, t, f = i + 1, t, after, f_after
                continue
            spacing = after - t
            if f > 0 and f_after > 0:
                step = spacing / retuning.ratio(f)
            elif tempo == 1.0:
                step = after - u  # back onto the source's marks: unvoiced speech as it is
            else:
                step = spacing
            u += step
            following = round(u)
            right = width = following - here
            if f > 0:
                most = spacing if before is None else t - before
                if most < left:
                    left = most
                if spacing < right:
                    right = spacing
            self._add(t, here, left, right)
            here, left = following, width
        self.u, self.left = u, left
        # the mark before the one at work is still asked for its distance
        del marks[: max(0, i - 1)]

    def _add(self, t: int, here: int, left: int, right: int) -> None:
        at = t - self.start
        grain = self.x[at - left : at + right] * _window(left, right)
        first = here - left - self.done
        last = first + left + right
        if last > len(self.y):
            # twice as long, so that a long recording is not copied for every second of it
            room = numpy.zeros(last + self.rate, numpy.float32)
            self.y = numpy.concatenate([self.y, room])
        if first < 0:  # before the beginning
            grain, first = grain[-first:], 0
        part = self.y[first:last]
        part += grain

    def ready(self) -> int:
        """Number of finished samples at the head of ``y``, which no later grain reaches."""
        return max(0, round(self.u) - self.left - self.done)

    def read(self, count: int) -> numpy.ndarray:
        if count > len(self.y):
            self.y = numpy.concatenate([self.y, numpy.zeros(count - len(self.y), numpy.float32)])
        out, self.y = self.y[:count], self.y[count:]
        self.done += count
        return out


class Psola:
    """TD-PSOLA of the rows of a signal; the result does not depend on the block sizes.

    Args:
        rate: in Hz.
        retunings: one for each row.
        recorded: F0 track of the same signal, if it is known.

    Attributes:
        latency: in samples, where no tempo is changed.
    """

    def __init__(
        self, rate: int, retunings: list[Retuning], recorded: RecordedPitch | None = None
    ) -> None:
        self._pitch = PitchFollower(len(retunings), rate, recorded)
        self.latency = self._pitch.latency + round(HELD_SECONDS * rate)
        self._margin = round(MARGIN_SECONDS * rate)
        self._rows = [
            _Row(
                rate,
                self._pitch.hop,
                retuning,
                numpy.zeros(self._margin, numpy.float32),
                -self._margin,
            )
            for retuning in retunings
        ]
        self._pushed = 0

    def lengths(self, samples: int) -> list[int]:
        """Output length of each row in samples, for input lengths."""
        return [round(samples / row.retuning.tempo) for row in self._rows]

    def push(self, block: torch.Tensor) -> torch.Tensor:
        """Adds ``[row, time]`` float32; returns the samples that all rows have finished."""
        self._pushed += block.shape[1]
        self._advance(block, self._pitch.push(block).f0)
        return self._read(min(row.ready() for row in self._rows))

    def flush(self, extra: int = 0) -> torch.Tensor:
        """The remaining samples, and ``extra`` samples after the end; rows of a higher tempo end in
        zeros.
        """
        # silence follows, as it would in a batch with longer rows
        padding = torch.zeros(len(self._rows), 4 * self._margin)
        f0 = [self._pitch.push(padding).f0, self._pitch.flush().f0]
        self._advance(padding, torch.cat(f0, dim=1))
        lengths = self.lengths(self._pushed)
        out = self._read(max(0, max(lengths) + extra - self._rows[0].done))
        for row, length in enumerate(lengths):
            if length < max(lengths):
                out[row, max(0, out.shape[1] - extra - (max(lengths) - length)) :] = 0.0
        return out

    def _advance(self, block: torch.Tensor, f0: torch.Tensor) -> None:
        for row, x, pitch in zip(self._rows, block.cpu().numpy(), f0.cpu().numpy(), strict=True):
            row.advance(x, pitch)

    def _read(self, count: int) -> torch.Tensor:
        return torch.from_numpy(numpy.stack([row.read(count) for row in self._rows]))
