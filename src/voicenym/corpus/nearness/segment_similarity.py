"""Similarity of segments: log-mel distance at the best lag, and waveform correlation.

The measures of :mod:`voicenym.corpus.nearness.signal_similarity`, for one section of one channel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import torch

BANDS = 24
LOWEST, HIGHEST = 100.0, 4_000.0
SEGMENT = 32
"""Frames of 32 ms: long enough for a pattern, short enough to find a passage."""
MARGIN = 32
"""Largest lag of an output in frames, either way: a second."""
FINE = torch.arange(-3, 4)
"""Search range of a segment's own lag around the section's best lag, in eighths of a frame."""
QUIET = 10**-2.5
"""Share of the power of a segment's loudest frame below which a frame does not count as speech."""
DEAD = 10**-2.5
"""Share of the power of the strongest band below which a band is empty."""
FLOOR = 10**-2.0
"""Share of a band's mean power that is added before the logarithm."""
SILENT = 1e-9
"""Mean square of a frame below which it is silence, of full scale squared: -90 dB."""
FEWEST_FRAMES = 8
"""Least number of loud frames for the comparison of a segment: a quarter of a second."""
FEWEST_BANDS = 6
STEADY = 0.1
"""RMS below which a pattern is too weak for a comparison, in tenths of log power: 1 dB."""
TINY = 1e-20


@dataclass
class Segments:
    """Results, one number a segment, in the order of time.

    Args:
        distances: of the log-mel patterns, 0 to 2; NaN where there is no pattern.
        correlations: of the waveforms, 0 to 1; NaN where the patterns differ enough.
    """

    distances: list[float] = field(default_factory=list)
    correlations: list[float] = field(default_factory=list)


@lru_cache(maxsize=8)
def mel_bands(window: int, rate: int) -> torch.Tensor:
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


def compare(
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
        bands: of :func:`mel_bands`.
        tempo, promising, different: as ``tempo``, ``promising``, ``other`` of
            :class:`~voicenym.corpus.nearness.signal_similarity.SignalSimilarity`.
        found: is appended to.
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
