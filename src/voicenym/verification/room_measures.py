"""Measures of room and channel: noise of pauses, decay, limits of the band, traces of codecs.

Noise is measured in the quietest frames, where nobody speaks; decay where the level falls freely,
as in the blind estimation of reverberation (Ratnam et al., "Blind estimation of reverberation
time", JASA 114, 2003); reverberation also as the ratio of slow to fast modulations (Falk, Zheng and
Chan, "A non-intrusive quality and intelligibility measure of reverberant and dereverberated
speech", 2010). Limits of the band and zeroed bands are those that microphones, telephone lines and
codecs leave. Microphones and sessions are identified by such measures (Kraetzer et al., "Digital
audio forensics: a first practical evaluation on microphone and environment classification", 2007).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from voicenym.verification.scoring import Array

RATE = 16_000
WINDOW, HOP = 512, 160
"""Samples of a short frame (32 ms) and of its shift (10 ms)."""
LONG = 4096
"""Samples of a frame that resolves hum (256 ms)."""
QUIET = 0.1
"""Share of frames that count as pauses: the quietest."""
EDGES = (60, 150, 250, 400, 600, 850, 1200, 1700, 2400, 3300, 4200, 5200, 6200, 7000, 7500, 7900)
"""Hz, edges of the bands in which noise is measured."""
DECAY_BANDS = ((125, 500), (500, 1500), (1500, 4000), (4000, 7500))
"""Hz, bands in which decay and modulation are measured."""
LEAST_FALL = 6
"""Frames (60 ms) of a free decay."""
FLOOR = 1e-10
"""Least power, -100 dB: that of rounding to 16 bits."""
LEAST_FRAMES = 50
MAINS = (50.0, 60.0)
NAMES = (
    *(f"noise at {a} to {b} Hz, dB from speech" for a, b in pairwise(EDGES)),
    "level of pauses, dB from speech",
    "share of digital silence",
    "movement of noise, dB",
    *(f"hum at {hertz:g} Hz, dB" for hertz in MAINS),
    *(f"usual decay at {a} to {b} Hz, log dB/s" for a, b in DECAY_BANDS),
    *(f"fast decay at {a} to {b} Hz, log dB/s" for a, b in DECAY_BANDS),
    *(f"slow by fast modulation at {a} to {b} Hz, log" for a, b in DECAY_BANDS),
    "upper limit of the band, kHz",
    "lower limit of the band, log Hz",
    "fall from 3 to 5 kHz, dB",
    "fall from 6 to 7.7 kHz, dB",
    "share of empty bins above 4 kHz",
    "movement of highs at 50 Hz, log",
    "offset, log",
    "crest, log",
)
"""Measures of a recording."""
METHOD = 1
"""Version of the measures."""


def measure(recordings: Sequence[npt.NDArray[np.floating]]) -> Array:
    """Measures of :data:`NAMES`, ``[recording, measure]``; NaN where one cannot be measured.

    Samples are rounded to 16 bits first, since published files have no more.

    Args:
        recordings: ``[time]`` each, mono at 16 kHz.
    """
    found = np.full((len(recordings), len(NAMES)), math.nan)
    for row, samples in enumerate(recordings):
        x = np.rint(np.asarray(samples, dtype=np.float64) * 32767.0) / 32767.0
        if len(x) >= WINDOW + LEAST_FRAMES * HOP and np.any(x):
            found[row] = _measured(x)
    return found


def _measured(x: Array) -> list[float]:
    spectra = _spectra(x - x.mean(), WINDOW, HOP)
    hertz: Array = np.fft.rfftfreq(WINDOW, 1.0 / RATE).astype(np.float64)
    power = spectra.mean(1)
    order = np.argsort(power, kind="stable")
    quiet = order[: max(5, round(QUIET * len(order)))]
    speech = order[len(order) // 2 :]
    spoken = float(power[speech].mean())
    noise = spectra[quiet]
    bands = _in_bands(noise, hertz, list(pairwise(EDGES)))
    levels = [10.0 * math.log10((band.mean() + FLOOR) / (spoken + FLOOR)) for band in bands]
    each = 10.0 * np.log10(power[quiet] + FLOOR)
    return [
        *levels,
        10.0 * math.log10((float(power[quiet].mean()) + FLOOR) / (spoken + FLOOR)),
        float((np.ptp(x[: len(x) // HOP * HOP].reshape(-1, HOP), axis=1) == 0.0).mean()),
        float(each.std()),
        *_hum(x),
        *_decays(spectra, hertz),
        *_limits(spectra[speech], noise, hertz),
        *_traces(spectra, speech, hertz),
        math.log(abs(float(x.mean())) / float(x.std()) + 1e-5),
        math.log(float(np.abs(x).max()) / float(x.std())),
    ]


def _spectra(x: Array, window: int, hop: int) -> Array:
    """Power spectra ``[frame, bin]``; white noise of power p has p in each bin."""
    frames = np.lib.stride_tricks.sliding_window_view(x, window)[::hop]
    shape = np.hanning(window)
    found: Array = np.square(np.abs(np.fft.rfft(frames * shape, axis=1))) / np.square(shape).sum()
    return found


def _in_bands(spectra: Array, hertz: Array, bands: Sequence[tuple[float, float]]) -> list[Array]:
    """Mean power of each frame in each band."""
    return [spectra[:, (hertz >= low) & (hertz < high)].mean(1) for low, high in bands]


def _hum(x: Array) -> list[float]:
    """Level of the mains' first four harmonics in pauses, above their surroundings."""
    spectra = _spectra(x, LONG, LONG // 4) if len(x) >= 2 * LONG else np.empty((0, 0))
    if not len(spectra):
        return [math.nan] * len(MAINS)
    quiet = spectra[np.argsort(spectra.mean(1))[: max(2, len(spectra) // 5)]].mean(0)
    step = RATE / LONG
    found = []
    for mains in MAINS:
        ratios = []
        for harmonic in range(1, 5):
            centre = round(mains * harmonic / step)
            peak = quiet[centre - 1 : centre + 2].max()
            around = np.median(
                np.r_[quiet[centre - 6 : centre - 2], quiet[centre + 3 : centre + 7]]
            )
            ratios.append(10.0 * math.log10((peak + FLOOR) / (around + FLOOR)))
        found.append(float(np.mean(ratios)))
    return found


def _decays(spectra: Array, hertz: Array) -> list[float]:
    """Median and fastest tenth of free decays, and slow by fast modulation, of each band."""
    usual, fast, modulation = [], [], []
    for band in _in_bands(spectra, hertz, DECAY_BANDS):
        level = 10.0 * np.log10(band + FLOOR)
        slopes = _falls(level)
        usual.append(math.log(float(np.median(slopes)) + 1.0) if len(slopes) else math.nan)
        fast.append(math.log(float(np.quantile(slopes, 0.9)) + 1.0) if len(slopes) else math.nan)
        envelope = np.sqrt(band)
        moving = np.square(
            np.abs(np.fft.rfft((envelope - envelope.mean()) * np.hanning(len(band))))
        )
        rate = np.fft.rfftfreq(len(band), HOP / RATE)
        slow = moving[(rate >= 3.0) & (rate < 12.0)].mean()
        quick = moving[(rate >= 20.0) & (rate < 45.0)].mean()
        modulation.append(math.log((slow + 1e-30) / (quick + 1e-30)))
    return [*usual, *fast, *modulation]


def _falls(level: Array) -> Array:
    """Slopes in dB/s of the stretches in which the level falls frame after frame."""
    falling = np.diff(level) < 0.0
    edges = np.flatnonzero(np.diff(np.concatenate([[0], falling.astype(np.int8), [0]])))
    slopes = [
        (level[start] - level[stop]) / (stop - start) * RATE / HOP
        for start, stop in zip(edges[::2], edges[1::2], strict=True)
        if stop - start >= LEAST_FALL
    ]
    return np.array(slopes)


def _limits(speech: Array, noise: Array, hertz: Array) -> list[float]:
    """Limits of the band in speech, and its falls in speech and noise together."""
    whole = np.convolve(speech.mean(0), np.full(5, 0.2), "same")
    level = 10.0 * np.log10(whole + FLOOR)
    top = level.max()
    above = np.flatnonzero(level > top - 55.0)
    low = np.flatnonzero(level > top - 25.0)
    both = 10.0 * np.log10(0.5 * (speech.mean(0) + noise.mean(0)) + FLOOR)

    def at(a: float, b: float) -> float:
        return float(both[(hertz >= a) & (hertz < b)].mean())

    return [
        float(hertz[above[-1]]) / 1000.0,
        math.log(float(hertz[low[0]]) + 20.0),
        at(2500, 3300) - at(3700, 5000),
        at(5500, 6500) - at(7400, 7950),
    ]


def _traces(spectra: Array, speech: npt.NDArray[np.int64], hertz: Array) -> list[float]:
    """Empty bins above 4 kHz, and how much the highs move at 50 Hz, the rate of 20 ms packets."""
    high = spectra[:, hertz >= 4000.0]
    spoken = high[speech]
    usual = np.median(spoken, axis=1, keepdims=True)
    empty = float((spoken < 1e-4 * usual + FLOOR).mean())
    # a shift of 10 ms resolves modulations up to 50 Hz
    level = 10.0 * np.log10(high.mean(1) + FLOOR)
    moving = np.square(np.abs(np.fft.rfft((level - level.mean()) * np.hanning(len(level)))))
    rate = np.fft.rfftfreq(len(level), HOP / RATE)
    fastest = moving[rate >= 48.5].mean()
    around = moving[(rate >= 40.0) & (rate < 47.0)].mean()
    return [empty, math.log((fastest + 1e-9) / (around + 1e-9))]
