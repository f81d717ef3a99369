"""Similarity of an output to its input, measured block by block.

All of a recording is compared, in segments of about a second, each channel with its own:

1. **log-mel distance**: 1 - r, r being the correlation of the two log spectra (24 bands up to 4
   kHz, 32 ms frames) less their means over the segment, band by band (a gain, a filter), and over
   the bands, frame by frame (a changing level). 0 is the same pattern, 1 an unrelated one. It
   ignores phase, sign, delay, and a change of speed by a percent.
2. **waveform correlation**: normalised, of either sign, at the best lag, below 4 kHz and with a
   pre-emphasis of 6 dB an octave, so that the first harmonics do not dominate.

Both are at the best lag within a second. Silence and steady sound have no pattern: the first
measure does not apply to them, and neither applies to silence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import torch

COMPARED_RATE = 8_000
"""Sound is folded to this rate or a little more: pitch and the first formants lie below 4 kHz."""
MOST_FOLDED = 64
"""Samples that are folded to one at most: rates that no microphone has are not worth a filter."""
WINDOW_SECONDS = 0.032
BANDS = 24
LOWEST, HIGHEST = 100.0, 4_000.0
SEGMENT = 32
"""Frames of 32 ms: long enough for a pattern, short enough to find a passage."""
SECTION = 8 * SEGMENT
"""Frames that are compared together."""
MARGIN = 32
"""Frames by which an output may come early or late: a second."""
FINE = torch.arange(-3, 4)
"""Eighths of a frame around the section's best lag, at which a segment looks for its own."""
OTHER_DISTANCE = 0.1
"""Log-mel distance above which patterns differ, regardless of the waveforms' correlation: steady
noise, in which no harmonics move, keeps that high. Such waveforms are not compared.
"""
PROMISING = 0.15
"""Distance at the section's lag up to which a segment is worth a closer look."""
QUIET = 10**-2.5
"""Share of the power of a segment's loudest frame below which a frame is no speech."""
DEAD = 10**-2.5
"""Share of the power of the strongest band below which a band is empty."""
FLOOR = 10**-2.0
"""Share of a band's mean power that is added before the logarithm."""
SILENT = 1e-9
"""Mean square of a frame below which it is silence, of full scale squared: -90 dB."""
FEWEST_FRAMES = 8
"""Least number of loud frames of a segment that is compared: a quarter of a second."""
FEWEST_BANDS = 6
STEADY = 0.1
"""RMS of a pattern, in tenths of log power, that is too faint to be compared: 1 dB."""
TINY = 1e-20


@dataclass
class Segments:
    """Results, one number a segment, in the order of time.

    Args:
        distances: of the log-mel patterns, 0 to 2; NaN where there is no pattern.
        correlations: of the waveforms, 0 to 1; NaN where the pattern shows that there is no need.
    """

    distances: list[float] = field(default_factory=list)
    correlations: list[float] = field(default_factory=list)


class SignalSimilarity:
    """Compares an output with its input while both pass by, in bounded memory.

    Args:
        rate: in Hz, of both.
        channels: of both.
        tempo: length of the output over that of the input.
        promising: distance at the section's lag up to which a segment is looked at closely, with a
            lag of its own; infinity for all.
        other: distance at that lag up to which its waveform is compared; infinity for all.

    Attributes:
        found: by channel.
    """

    def __init__(
        self,
        rate: int,
        channels: int,
        tempo: float = 1.0,
        promising: float = PROMISING,
        other: float = OTHER_DISTANCE,
    ) -> None:
        self._fold = min(max(1, rate // COMPARED_RATE), MOST_FOLDED)
        self._rate = rate / self._fold
        self._window = 1 << round(math.log2(WINDOW_SECONDS * self._rate))
        self._tempo = tempo
        self._promising, self._other = promising, other
        self._input = _Kept(channels, self._fold)
        # silence before the beginning, so that the output may be early
        self._output = _Kept(channels, self._fold, self._ahead)
        self.found = [Segments() for _ in range(channels)]

    @property
    def _ahead(self) -> int:
        return MARGIN * self._window

    def push_input(self, block: np.ndarray | torch.Tensor) -> None:
        """``[channel, time]`` of the input."""
        self._input.add(block)
        self._compare()

    def push_output(self, block: np.ndarray | torch.Tensor) -> None:
        """``[channel, time]`` of the output."""
        self._output.add(block)
        self._compare()

    def finish(self) -> None:
        """Compare the remaining samples."""
        if 0 < self._input.length < FEWEST_FRAMES * self._window:
            # silence behind, so that a recording of no segment is one
            self._input.length = FEWEST_FRAMES * self._window
        self._section(self._input.length // self._window)

    def _compare(self) -> None:
        size = SECTION * self._window
        while self._input.length >= size and self._output.length >= self._span(SECTION):
            self._section(SECTION)
            self._input.drop(size)
            self._output.drop(round(size * self._tempo))

    def _span(self, frames: int) -> int:
        """Samples of the output that so many frames of the input are compared with."""
        return round(frames * self._window * self._tempo) + 2 * self._ahead + self._window

    def _section(self, frames: int) -> None:
        if frames == 0:
            return
        before = self._input.first(frames * self._window)
        after = self._output.first(self._span(frames))
        bands = _bands(self._window, round(self._rate))
        for one, other, found in zip(before, after, self.found, strict=True):
            _compare(one, other, bands, self._tempo, self._promising, self._other, found)


class _Kept:
    """Sound folded to the compared rate, from where it is still needed: ``[channel, time]``."""

    def __init__(self, channels: int, fold: int, ahead: int = 0) -> None:
        self._fold = fold
        self._taps = _taps(fold)
        self._parts = [torch.zeros(channels, ahead)]
        self._odd = torch.zeros(channels, len(self._taps) // 2)
        self.length = ahead

    def add(self, block: np.ndarray | torch.Tensor) -> None:
        sound = torch.cat([self._odd, torch.as_tensor(block)], dim=1)
        count = max(0, (sound.shape[1] - len(self._taps)) // self._fold + 1)
        folded = sound.new_zeros(len(sound), count)
        for place, tap in enumerate(self._taps):
            if tap:
                there = sound[:, place : place + self._fold * count : self._fold]
                folded.add_(there[:, :count], alpha=tap)
        self._odd = sound[:, count * self._fold :].clone()
        self._parts.append(folded)
        self.length += count

    def first(self, count: int) -> torch.Tensor:
        """The first ``count`` samples; silence where there are no more."""
        if len(self._parts) > 1:
            self._parts = [torch.cat(self._parts, dim=1)]
        sound = self._parts[0][:, :count]
        missing = count - sound.shape[1]
        return torch.nn.functional.pad(sound, (0, missing)) if missing else sound

    def drop(self, count: int) -> None:
        self._parts = [self.first(self.length)[:, count:].clone()]
        self.length = max(0, self.length - count)


@lru_cache(maxsize=32)
def _taps(fold: int) -> tuple[float, ...]:
    """Low-pass filter before decimation, against aliasing into the bands."""
    if fold == 1:
        return (1.0,)
    if fold == 2:  # a half-band filter of few operations
        return (-1 / 32, 0.0, 9 / 32, 0.5, 9 / 32, 0.0, -1 / 32)
    place = np.arange(-2 * fold, 2 * fold + 1)
    taps = np.sinc(place / fold) * (0.5 + 0.5 * np.cos(np.pi * place / (2 * fold + 1)))
    return tuple((taps / taps.sum()).tolist())


@lru_cache(maxsize=8)
def _bands(window: int, rate: int) -> torch.Tensor:
    """Triangles on the mel scale, of unit area: ``[2 * bin, band]``, each bin twice in a row."""
    highest = min(HIGHEST, rate / 2)
    low, high = (2595 * math.log10(1 + hertz / 700) for hertz in (LOWEST, highest))
    mel = np.linspace(low, high, BANDS + 2)
    edges = 700 * (10 ** (mel / 2595) - 1)
    hertz = np.linspace(0, rate / 2, window // 2 + 1)[:, None]
    rise = (hertz - edges[:-2]) / (edges[1:-1] - edges[:-2])
    fall = (edges[2:] - hertz) / (edges[2:] - edges[1:-1])
    weights = np.minimum(rise, fall).clip(0)
    weights = (weights / weights.sum(0).clip(1e-9)).repeat(2, axis=0)
    return torch.tensor(weights, dtype=torch.float32)


@lru_cache(maxsize=8)
def _hann(window: int) -> torch.Tensor:
    hann = torch.hann_window(window)
    return hann / hann.square().sum().sqrt()


def _powers(frames: torch.Tensor, bands: torch.Tensor) -> torch.Tensor:
    """``[..., time]`` to mean power in bands ``[..., band]``."""
    spectrum = torch.fft.rfft(frames * _hann(frames.shape[-1]))
    return torch.view_as_real(spectrum).flatten(-2).square_() @ bands


def _compare(
    before: torch.Tensor,
    after: torch.Tensor,
    bands: torch.Tensor,
    tempo: float,
    promising: float,
    different: float,
    found: Segments,
) -> None:
    """Append the results of a section.

    Args:
        before: ``[time]``, the input.
        after: ``[time]``, the output from :data:`MARGIN` frames before to as many after it.
        bands: of :func:`_bands`.
        tempo, promising, different: as ``tempo``, ``promising``, ``other`` of
        :class:`SignalSimilarity`. found: is appended to.
    """
    window = len(bands) - 2
    power = _powers(before.unfold(0, window, window), bands)
    loudness = power.mean(1)
    if loudness.max() < SILENT:
        return
    shifts = after.unfold(0, window, 1)
    half = torch.arange(2 * (len(power) + 2 * MARGIN)) * (window // 2)
    if tempo == 1.0:
        answer = _powers(after.unfold(0, window, window // 2), bands)
    else:
        start = MARGIN * window
        half = start + ((half - start) * tempo).round().long()
        answer = _powers(shifts[half.clamp(0, len(shifts) - 1)], bands)
    lag = _lag(power, answer)
    # [segment, frame]: the last segment may be shorter, and repeats its last frame, unheard
    frames = len(power)
    count = max(1, round(frames / SEGMENT))
    place = torch.arange(count * -(-frames // count)).reshape(count, -1)
    inside = place < frames
    place = place.clamp(max=frames - 1)
    here = loudness[place] * inside
    loud = here > (QUIET * here.amax(1, keepdim=True)).clamp_min(SILENT)
    short = frames <= FEWEST_FRAMES  # a whole recording: too short for a pattern
    audible = loud.sum(1) >= (1 if short else FEWEST_FRAMES)
    if not audible.any():
        return
    place, loud = place[audible], loud[audible]
    there = (2 * (place + MARGIN) + lag).clamp(0, len(answer) - 1)
    distances = _distances(power[place], answer[there][None], loud)[0]
    close = ~(distances > promising) | short
    correlations = torch.full_like(distances, math.nan)
    if close.any():
        # lags in samples from here on
        starts = (place[close] * window * tempo).round().long() + MARGIN * window
        starts = starts + lag * (window // 2) + FINE[:, None, None] * (window // 8)
        starts = starts.clamp(0, len(shifts) - 1)
        fine = _powers(shifts[starts], bands)
        distances[close], best = _distances(power[place[close]], fine, loud[close])
        places = starts[best, torch.arange(len(best)), 0]
        length = place.shape[1] * window
        for segment, late in zip(close.nonzero()[:, 0].tolist(), places.tolist(), strict=True):
            if short or not float(distances[segment]) > different:
                start = int(place[segment, 0]) * window
                correlations[segment] = _correlation(before, after, start, late, length, window)
    if short:
        distances = torch.full_like(distances, math.nan)
    found.distances.extend(distances.tolist())
    found.correlations.extend(correlations.tolist())


def _lag(power: torch.Tensor, answer: torch.Tensor) -> int:
    """Delay of the output in half frames, by its whole pattern, within the margin.

    Args:
        power: ``[frame, band]``.
        answer: ``[half frame, band]``, from the margin before to that after.
    """
    one, other = (_coarse(p) for p in (power, answer))
    spread = torch.zeros(len(one), 2 * one.shape[1])
    spread[:, ::2] = one
    # a circular correlation of this size is that of the lags that are asked for
    size = -(-other.shape[1] // 64) * 64
    spectrum = torch.fft.rfft(other, size) * torch.fft.rfft(spread, size).conj()
    score = torch.fft.irfft(spectrum.sum(0), size)
    return int(score[: 4 * MARGIN + 1].argmax()) - 2 * MARGIN


def _coarse(power: torch.Tensor) -> torch.Tensor:
    """Log power less its means: ``[frame, band]`` to ``[wide band, frame]``."""
    wide = power.T.reshape(-1, 3, len(power)).sum(1)
    pattern = (wide + FLOOR * wide.mean(1, keepdim=True) + TINY).log_()
    pattern -= pattern.mean(1, keepdim=True)
    return pattern - pattern.mean(0)


def _distances(
    before: torch.Tensor, after: torch.Tensor, loud: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Least distance of each segment, and the lag that it is at; NaN without a pattern.

    Args:
        before: ``[segment, frame, band]``.
        after: ``[lag, segment, frame, band]``.
        loud: ``[segment, frame]``.
    """
    weight = loud[..., None].float()
    share = (weight / weight.sum(-2, keepdim=True)).mT
    one, other = share @ before, share @ after
    alive = (one > (DEAD * one.amax(-1, keepdim=True)).clamp_min(SILENT * DEAD)) & (
        other > DEAD * other.amax(-1, keepdim=True)
    )
    wide = alive.sum(-1, keepdim=True)
    inside = (alive / wide.clamp_min(1)).mT

    def pattern(power: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
        levels = (power / (mean + TINY)).add_(FLOOR).log10_()
        levels -= share @ levels
        return levels - levels @ inside

    weights = weight * alive
    a, b = pattern(before, one), pattern(after, other) * weights
    ab = (a * b).sum((-2, -1))
    aa = (a.square_() * weights).sum((-2, -1))
    bb = b.square_().sum((-2, -1))
    distance = 1.0 - ab / (aa * bb + TINY).sqrt()
    faint = torch.minimum(aa, bb) < weights.sum((-2, -1)) * STEADY**2
    distance = distance.masked_fill(faint | (wide[..., 0, 0] < FEWEST_BANDS), math.inf)
    least, lag = distance.min(0)
    return least.masked_fill(least.isinf(), math.nan), lag


def _correlation(
    before: torch.Tensor, after: torch.Tensor, start: int, there: int, length: int, reach: int
) -> float:
    """Greatest correlation of the differences between samples, of either sign, within ``reach``."""
    one = before[start : start + length].diff()
    own = float(one.square().sum())
    other = after[max(0, there - reach) : there + len(one) + reach].diff()
    if len(one) == 0 or len(other) < len(one) or own <= len(one) * SILENT * 1e-3:
        return math.nan
    # a circular correlation of this size is that of all lags with whole overlap
    size = -(-len(other) // 512) * 512
    spectrum = torch.fft.rfft(other, size) * torch.fft.rfft(one, size).conj()
    score = torch.fft.irfft(spectrum, size)[: len(other) - len(one) + 1].abs()
    power = torch.nn.functional.pad(other.double().square().cumsum(0), (1, 0))
    power = power[len(one) :] - power[: len(power) - len(one)]
    return float((score / (power * own).sqrt().clamp_min(own * 1e-4)).max())
