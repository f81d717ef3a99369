"""Streaming F0 tracker: autocorrelation and a path search with bounded look-ahead.

After Boersma, "Accurate short-term analysis of the fundamental frequency and the harmonics-to-noise
ratio of a sampled sound", IFA Proceedings 17 (1993), the method of Praat. Two steps differ, so that
it works live: loudness is relative to the loudest frame so far (which decays within seconds)
instead of the loudest of the whole file, and the path is optimal within a few frames on either side
instead of over the whole file.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy
import torch

HOP_SECONDS = 0.010
ANALYSIS_RATE = 4_000
"""Approximate rate of the analysis: harmonics below 1.2 kHz suffice."""
CUTOFF = 1_200.0
PERIODS = 3.0
"""Periods of the lowest pitch in a window."""
FINER = 2
"""Interpolation factor of the autocorrelation before peak picking."""
CANDIDATES = 4
VOICING_THRESHOLD = 0.45
SILENCE_THRESHOLD = 0.03
ABSOLUTE_SILENCE = 1e-5
"""RMS below which nothing is voiced (-100 dB)."""
OCTAVE_COST = 0.01
OCTAVE_JUMP_COST = 0.35
VOICING_CHANGE_COST = 0.14
FADE_SECONDS = 10.0
"""Time in which the level of the loudest frame decays by 20 dB."""
FRAMES_AT_ONCE = 4096
IMPOSSIBLE = -1e4


class Pitch(NamedTuple):
    """F0 track: frame k is centred at sample ``k * hop``."""

    f0: torch.Tensor
    """``[row, frame]`` in Hz, 0 where unvoiced."""
    strength: torch.Tensor
    """``[row, frame]``, 0 to 1: the normalised autocorrelation at the period (the best one there
    is, where unvoiced)."""
    level: torch.Tensor
    """``[row, frame]``: RMS around the frame, below 1.2 kHz."""


def hop_of(rate: int) -> int:
    """Hop in samples: 10 ms."""
    return round(HOP_SECONDS * rate)


def track(samples: numpy.ndarray, rate: int) -> numpy.ndarray:
    """F0 of a recording ``[time]``: Hz every 10 ms, 0 where unvoiced, ``[frame]``."""
    stream = PitchStream(1, rate)
    signal = torch.from_numpy(numpy.ascontiguousarray(samples, dtype=numpy.float32))[None]
    return torch.cat([stream.push(signal).f0, stream.flush().f0], dim=1)[0].numpy()


class PitchStream:
    """Streaming F0 of the rows of a signal; the result does not depend on the block sizes.

    Args:
        rows: rows of the signal.
        rate: in Hz.
        lowest, highest: limits of F0 in Hz.
        lookahead: frames after (and before) a frame that its choice among octaves considers.
        device: where the signal is.

    Attributes:
        hop: samples between frames.
        latency: after ``n`` samples all frames centred at or before ``n - latency`` were given.
    """

    def __init__(
        self,
        rows: int,
        rate: int,
        lowest: float = 60.0,
        highest: float = 450.0,
        lookahead: int = 6,
        device: str | torch.device = "cpu",
    ) -> None:
        self.hop = hop_of(rate)
        self._lookahead = lookahead
        # every frame's centre falls on a sample of the slower signal
        divisors = [d for d in range(1, max(1, rate // ANALYSIS_RATE) + 1) if self.hop % d == 0]
        self._step = divisors[-1]
        slow_rate = rate / self._step
        self._slow_hop = self.hop // self._step
        self._half = math.ceil(PERIODS / lowest * slow_rate / 2)
        self._fft = 1 << math.ceil(math.log2(2 * self._half * 1.5))
        self._lag_rate = FINER * slow_rate
        self._first_lag = max(2, math.floor(self._lag_rate / highest))
        self._last_lag = math.ceil(self._lag_rate / lowest)
        self._lowest, self._highest = lowest, highest

        self._reach = round(0.0025 * rate)
        n = torch.arange(-self._reach, self._reach + 1, dtype=torch.float64)
        cutoff = min(CUTOFF, 0.4 * slow_rate) / rate
        taps = (
            torch.sinc(2.0 * cutoff * n)
            * torch.hann_window(2 * self._reach + 3, periodic=False, dtype=torch.float64)[1:-1]
        )
        # GPUs convolve single precision with 10 bits of mantissa (TF32), which moves pitches
        precision = torch.float64 if torch.device(device).type == "cuda" else torch.float32
        self._taps = (taps / taps.sum()).to(device, precision)[None, None]
        window = torch.hann_window(2 * self._half, periodic=True, dtype=torch.float64)
        own = torch.fft.rfft(window, n=self._fft).abs().square()
        own = torch.fft.irfft(own, n=FINER * self._fft)
        self._window = window.float().to(device)
        lags = slice(self._first_lag - 1, self._last_lag + 2)
        self._unbias = (own[0] / own[lags]).float().to(device)
        self._fade = math.log(10.0) / (FADE_SECONDS / HOP_SECONDS)

        self._input = torch.zeros(rows, self._reach, device=device)
        self._slow = torch.zeros(rows, self._half, device=device)
        self._loudest = torch.full((rows, 1), -100.0, dtype=torch.float64, device=device)
        # the frames before the first: unvoiced, nothing else possible
        shape = (rows, 2 * lookahead, CANDIDATES + 1)
        self._scores = torch.full(shape, IMPOSSIBLE, device=device)
        self._scores[..., 0] = 0.0
        self._hertz = torch.zeros(shape, device=device)
        self._peaks = torch.zeros(shape, device=device)
        self._levels = torch.zeros(rows, 2 * lookahead, device=device)
        self._skip = lookahead
        self._pushed = 0
        self._given = 0
        self.latency = self._reach + (self._half - 1) * self._step + lookahead * self.hop + 1

    def push(self, block: torch.Tensor) -> Pitch:
        """Adds ``[row, time]``; returns the finished frames."""
        self._pushed += block.shape[1]
        return self._advance(block)

    def flush(self) -> Pitch:
        """The remaining frames: in total ``ceil(time / hop)``."""
        missing = -(-self._pushed // self.hop) - self._given
        padding = self._input.new_zeros(self._input.shape[0], self.latency + self.hop)
        rest = self._advance(padding)
        return Pitch(*(part[:, :missing] for part in rest))

    def frames_after(self, pushed: int) -> int:
        """Frames that were given after so many samples."""
        slow = max(0, (pushed - self._reach - 1) // self._step + 1)
        frames = max(0, (slow - self._half) // self._slow_hop + 1)
        return max(0, frames - self._lookahead)

    def _advance(self, block: torch.Tensor) -> Pitch:
        signal = torch.cat([self._input, block], dim=1)
        count = max(0, (signal.shape[1] - 2 * self._reach - 1) // self._step + 1)
        if count:
            wide = signal[:, None].to(self._taps.dtype)
            slow = torch.conv1d(wide, self._taps, stride=self._step)[:, 0, :count]
            self._slow = torch.cat([self._slow, slow.float()], dim=1)
        self._input = signal[:, count * self._step :]
        frames = max(0, (self._slow.shape[1] - 2 * self._half) // self._slow_hop + 1)
        at_once = max(1, FRAMES_AT_ONCE // block.shape[0])
        empty = block[:, :0]
        parts = [Pitch(empty, empty, empty)]
        for first in range(0, frames, at_once):
            last = min(first + at_once, frames)
            part = self._slow[:, first * self._slow_hop :]
            part = part.unfold(1, 2 * self._half, self._slow_hop)[:, : last - first]
            parts.append(self._decide(*self._candidates(part)))
        self._slow = self._slow[:, frames * self._slow_hop :]
        whole = Pitch(*(torch.cat(part, dim=1) for part in zip(*parts, strict=True)))
        skipped = min(self._skip, whole.f0.shape[1])
        self._skip -= skipped
        self._given += whole.f0.shape[1] - skipped
        return Pitch(*(part[:, skipped:] for part in whole))

    def _candidates(self, frames: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Score, Hz and autocorrelation ``[row, frame, 1 + candidate]``, the first candidate being
        unvoiced, and the level ``[row, frame]``.
        """
        centred = frames - frames.mean(-1, keepdim=True)
        level = centred.square().mean(-1).sqrt()
        power = torch.fft.rfft(centred * self._window, n=self._fft).abs().square_()
        r = torch.fft.irfft(power, n=FINER * self._fft)
        energy = r[..., :1].clamp_min(1e-30)
        r = r[..., self._first_lag - 1 : self._last_lag + 2] / energy * self._unbias

        middle, left, right = r[..., 1:-1], r[..., :-2], r[..., 2:]
        is_peak = (middle > left) & (middle >= right)
        lag = torch.arange(self._first_lag, self._last_lag + 1, device=r.device)
        weight = OCTAVE_COST * torch.log2(self._lag_rate / lag / self._lowest)
        ranked = torch.where(is_peak, middle + weight, IMPOSSIBLE)
        score, index = ranked.topk(CANDIDATES, dim=-1)
        y0, y1, y2 = left.gather(-1, index), middle.gather(-1, index), right.gather(-1, index)
        curve = (y0 - 2.0 * y1 + y2).clamp_max(-1e-9)
        offset = (0.5 * (y0 - y2) / curve).clamp(-0.5, 0.5)
        possible = score > 0.5 * IMPOSSIBLE
        top = (y1 - 0.25 * (y0 - y2) * offset).clamp(0.0, 1.0)
        hertz = self._lag_rate / (index + self._first_lag + offset)
        possible &= (hertz >= self._lowest) & (hertz <= self._highest)
        score = torch.where(possible, score - y1 + top, IMPOSSIBLE)
        hertz = torch.where(possible, hertz, 0.0)
        top = torch.where(possible, top, 0.0)

        # the loudest frame so far, fading: a running maximum of log-levels on a rising line
        rise = self._fade * torch.arange(
            1, level.shape[1] + 1, dtype=torch.float64, device=level.device
        )
        risen = torch.cat([self._loudest, level.double().clamp_min(1e-40).log() + rise], dim=1)
        risen = risen.cummax(dim=1).values
        loudest = (risen[:, 1:] - rise).exp().float()
        self._loudest = risen[:, -1:] - rise[-1]
        relative = level / loudest.clamp_min(1e-30)
        quiet = 2.0 - relative / (SILENCE_THRESHOLD / (1.0 + VOICING_THRESHOLD))
        unvoiced = VOICING_THRESHOLD + quiet.clamp_min(0.0)
        unvoiced = torch.where(level < ABSOLUTE_SILENCE, 10.0, unvoiced)[..., None]
        zero = torch.zeros_like(unvoiced)
        return (
            torch.cat([unvoiced, score], dim=-1),
            torch.cat([zero, hertz], dim=-1),
            torch.cat([zero, top], dim=-1),
            level,
        )

    def _decide(
        self, scores: torch.Tensor, hertz: torch.Tensor, peaks: torch.Tensor, levels: torch.Tensor
    ) -> Pitch:
        """Best path through each frame, among paths that reach ``lookahead`` frames either way."""
        reach = self._lookahead
        scores = torch.cat([self._scores, scores], dim=1)
        hertz = torch.cat([self._hertz, hertz], dim=1)
        peaks = torch.cat([self._peaks, peaks], dim=1)
        levels = torch.cat([self._levels, levels], dim=1)
        keep = slice(scores.shape[1] - 2 * reach, None)
        self._levels = levels[:, keep]
        self._scores, self._hertz, self._peaks = scores[:, keep], hertz[:, keep], peaks[:, keep]

        voiced = hertz > 0
        octave = torch.where(voiced, hertz, 1.0).log2()
        before, after = slice(None, -1), slice(1, None)
        jump = (octave[:, before, :, None] - octave[:, after, None, :]).abs() * OCTAVE_JUMP_COST
        was, now = voiced[:, before, :, None], voiced[:, after, None, :]
        cost = torch.where(was & now, jump, torch.where(was ^ now, VOICING_CHANGE_COST, 0.0))
        past = torch.zeros_like(scores)
        future = torch.zeros_like(scores)
        for _ in range(reach):
            past[:, after] = ((scores + past)[:, before, :, None] - cost).amax(2)
            future[:, before] = ((scores + future)[:, after, None, :] - cost).amax(3)
        done = slice(reach, scores.shape[1] - reach)
        total = (past + scores + future)[:, done]
        choice = total.argmax(-1, keepdim=True)
        f0 = hertz[:, done].gather(-1, choice)[..., 0]
        peaks = peaks[:, done]
        best = torch.where(f0 > 0, peaks.gather(-1, choice)[..., 0], peaks.amax(-1))
        return Pitch(f0, best, levels[:, done])
