"""Coarse intonation of phrases: how each ends, and which third of it has the peak of F0.

A phrase has one of nine patterns, about three bits: question or statement, and where the stress
falls. What these tell of the speaker has not been measured.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from voicenym.dsp.phrases import FRAME_RATE, Phrases

ENDING = 0.5
"""Seconds before the end of a phrase whose movement counts."""
LEAST_VOICED = 0.12
"""Voiced seconds of an ending, and of a third, without which nothing is said of them."""
MOVEMENT = 1.0
"""Movement over an ending, in deviations of ln F0, beyond which it rises or falls."""
LEAST_PEAK = 0.9
"""Seconds of a phrase below which it has no peak."""
RISE, FALL = 2.0, -0.8
"""Deviations by which a rising and a falling ending move F0 at the end of a phrase."""
PEAK = 0.8
"""Deviations by which a peak raises F0 in the middle of its third."""
SMOOTHING = 0.09
"""Seconds of a running median against errors of the tracker."""


class Intonation(NamedTuple):
    """Patterns of the phrases of a recording.

    Args:
        endings: ``[phrase]`` of -1 (falls), 0 (level, or unknown), 1 (rises).
        peaks: ``[phrase]``, the third with the peak, 0 to 2; -1 for none.
    """

    endings: npt.NDArray[np.int8]
    peaks: npt.NDArray[np.int8]


def phrase_intonation(
    f0: npt.NDArray[np.floating], phrases: Phrases, rate: float = FRAME_RATE
) -> Intonation:
    """Patterns of phrases.

    Args:
        f0: ``[frame]`` in Hz, 0 where unvoiced.
        phrases: of the recording.
        rate: frames a second.

    Example:
        >>> f0 = np.concatenate([np.full(100, 120.0), np.linspace(110.0, 180.0, 50)])
        >>> phrase_intonation(f0, Phrases(np.array([[0.0, 1.5]]), 1.5)).endings.tolist()
        [1]
    """
    count = len(phrases.spans)
    endings, peaks = np.zeros(count, np.int8), np.full(count, -1, np.int8)
    voiced = f0 > 0
    if not voiced.any():
        return Intonation(endings, peaks)
    logs = np.log(np.where(voiced, f0, 1.0).astype(np.float64))
    mean, deviation = logs[voiced].mean(), max(float(logs[voiced].std()), 0.05)
    z = np.where(voiced, (logs - mean) / deviation, np.nan)
    least, side = round(LEAST_VOICED * rate), round(SMOOTHING * rate / 2)
    for number, (start, end) in enumerate((phrases.spans * rate).round().astype(int)):
        own = z[start:end]
        tail = own[-round(ENDING * rate) :]
        there = np.flatnonzero(np.isfinite(tail))
        if len(there) >= least:
            slope = np.polyfit(there, _median(tail[there], side), 1)[0]
            movement = slope * (there[-1] - there[0])
            endings[number] = int(movement > MOVEMENT) - int(movement < -MOVEMENT)
        if len(own) >= LEAST_PEAK * rate:
            thirds = np.array_split(own, 3)
            heights = [
                np.quantile(part[np.isfinite(part)], 0.9)
                if np.isfinite(part).sum() >= least
                else -np.inf
                for part in thirds
            ]
            if max(heights) > -np.inf:
                peaks[number] = int(np.argmax(heights))
    return Intonation(endings, peaks)


def intonation_offsets(
    intonation: Intonation, phrases: Phrases, seconds: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """What the patterns add to F0, in deviations of ln F0, ``[time]``; 0 between phrases.

    Args:
        intonation: of the phrases.
        phrases: of the recording.
        seconds: ``[time]`` in the recording.
    """
    found = np.zeros_like(seconds)
    for (start, end), ending, peak in zip(phrases.spans, *intonation, strict=True):
        if ending:
            length = min(ENDING, end - start)
            share = (seconds - (end - length)) / length
            rises = (share > 0.0) & (share <= 1.0)
            found += np.where(rises, (RISE if ending > 0 else FALL) * share, 0.0)
        if peak >= 0:
            third = (end - start) / 3.0
            place = (seconds - start - peak * third) / third
            within = (place >= 0.0) & (place <= 1.0)
            found += np.where(within, PEAK * np.sin(np.pi * place) ** 2, 0.0)
    return found


def _median(values: npt.NDArray[np.float64], side: int) -> npt.NDArray[np.float64]:
    """Running median of so many frames on either side; the ends are repeated."""
    padded = np.pad(values, side, mode="edge")
    rows = np.lib.stride_tricks.sliding_window_view(padded, 2 * side + 1)
    return np.asarray(np.median(rows, axis=1))
