"""Correlation of pitch before and after: whether the melody of speech was kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from voicenym.metrics.interval import Interval

LONGEST_LAG = 20
"""Frames: 0.2 s at 10 ms."""
FEWEST = 10
"""Frames voiced in both, below which a correlation says nothing."""
LOWEST, HIGHEST = 75.0, 500.0
LONGEST_MEMORY = 100
"""Frames over which a melody is taken to depend on itself: 1 s."""
NOTHING = (math.nan, math.nan)


@dataclass(frozen=True)
class PitchCorrelation:
    """rho_F0.

    Args:
        value: -1 to 1; NaN where fewer than ten frames are voiced in both, or F0 is constant.
        lag: frames by which the second track is late.
        frames: that were compared.
        interval: by Fisher's z for as many independent frames as a smooth melody is worth; it
            knows nothing of the choice of the lag. NaN where the value is, and in ``compat``.
    """

    value: float
    lag: int
    frames: int
    interval: Interval = NOTHING
    unit: str = ""


def pitch_correlation(
    original: npt.ArrayLike,
    anonymized: npt.ArrayLike,
    mode: str = "voiced",
    longest_lag: int = LONGEST_LAG,
    level: float = 0.95,
) -> PitchCorrelation:
    """Pearson correlation of two tracks of F0, every 10 ms.

    ``voiced``: over frames voiced in both, at the lag (within ``longest_lag``) where the voicing of
    both agrees best. The lag that correlates best would find melody in unrelated tracks: 0.2 on
    average over 41 lags of 3 s. What is left by chance is the interval's to say, and, since all
    speech falls towards its end, a comparison with other recordings' melodies: those of different
    sentences in the ``dev`` part of speechocean762 correlate at 0.08 on average.
    ``compat``: the VoicePrivacy Challenge's program (2022): the shorter track is stretched to the
    longer one, the lag is unbounded and wraps around, and unvoiced frames stay in as zeros, so that
    two unrelated melodies with one rhythm of voicing correlate at 0.99; only for comparison with
    its published figures.

    Args:
        original, anonymized: F0 in Hz ``[frame]``, 0 where unvoiced.
        mode: ``voiced`` or ``compat``.
        longest_lag: frames, for ``voiced``.
        level: of the interval.

    Example:
        >>> melody = 120 + 30 * np.sin(np.arange(50) / 5)
        >>> round(pitch_correlation(melody, 1.5 * melody).value, 6)
        1.0
    """
    first, second = (np.asarray(x, dtype=np.float64).reshape(-1) for x in (original, anonymized))
    if mode == "compat":
        return _compat(first, second)
    if mode != "voiced":
        raise ValueError(f"mode is voiced or compat, not {mode!r}")
    best, most = PitchCorrelation(math.nan, 0, 0), 0.0
    for lag in sorted(range(-longest_lag, longest_lag + 1), key=abs):
        a = first[max(0, -lag) :]
        b = second[max(0, lag) :]
        length = min(len(a), len(b))
        a, b = a[:length], b[:length]
        both = (a > 0) & (b > 0)
        frames = int(both.sum())
        if frames < FEWEST:
            continue
        agreement = 2.0 * frames / float((a > 0).sum() + (b > 0).sum())
        if agreement > most:  # nearer lags come first and win ties
            value = _pearson(a[both], b[both])
            interval = _fisher(value, _worth(a, b, both), level)
            best, most = PitchCorrelation(value, lag, frames, interval), agreement
    return best


def _worth(a: np.ndarray, b: np.ndarray, both: np.ndarray) -> float:
    """How many independent frames vary as much by chance as these, whose neighbours are alike.

    n^2 / sum over pairs of frames of r_a r_b at their distance (Bartlett 1935), the products of
    autocorrelations being summed up to the first that is not positive.
    """
    frames = int(both.sum())
    tracks = [np.where(both, x - x[both].mean(), 0.0) for x in (a, b)]
    powers = [float(x @ x) / frames for x in tracks]
    if min(powers) <= 1e-9:
        return math.nan
    total = float(frames)
    for distance in range(1, min(LONGEST_MEMORY, len(both) - 1) + 1):
        pairs = int((both[distance:] & both[:-distance]).sum())
        if not pairs:
            continue
        first, second = (
            float(x[distance:] @ x[:-distance]) / pairs / power
            for x, power in zip(tracks, powers, strict=True)
        )
        if min(first, second) <= 0.0:
            break
        total += 2.0 * pairs * min(first, 1.0) * min(second, 1.0)
    return frames * frames / total


def _fisher(value: float, worth: float, level: float) -> Interval:
    """Tanh (atanh r -+ z / sqrt(n - 3)); everything, where so few frames say nothing."""
    if math.isnan(value) or math.isnan(worth):
        return NOTHING
    if worth <= 3.0:
        return -1.0, 1.0
    centre = math.atanh(min(max(value, -1.0 + 1e-12), 1.0 - 1e-12))
    half = NormalDist().inv_cdf(0.5 + level / 2.0) / math.sqrt(worth - 3.0)
    return min(math.tanh(centre - half), value), max(math.tanh(centre + half), value)


def _pearson(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a - a.mean(), b - b.mean()
    energy = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / energy if energy > 1e-9 else math.nan


def _compat(a: np.ndarray, b: np.ndarray) -> PitchCorrelation:
    length = max(len(a), len(b))
    if not length:
        return PitchCorrelation(math.nan, 0, 0)
    tracks = []
    for track in (a, b):
        place = np.linspace(0, len(track) - 1, length)
        stretched = np.interp(place, np.arange(len(track)), track)
        tracks.append(np.where((stretched < LOWEST) | (stretched > HIGHEST), 0.0, stretched))
    correlation = np.correlate(tracks[1], tracks[0], "full")
    lag = int(correlation.argmax()) - (length - 1)
    value = _pearson(tracks[0], np.roll(tracks[1], -lag))
    return PitchCorrelation(0.0 if math.isnan(value) else value, lag, length)
