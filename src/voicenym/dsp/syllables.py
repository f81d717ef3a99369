"""Syllable nuclei: voiced peaks of intensity, and the articulation rate.

After de Jong and Wempe, "Praat script to detect syllable nuclei and measure speech rate
automatically", Behavior Research Methods 41 (2009).
"""

from __future__ import annotations

import numpy

RANGE_DB = 25.0
"""Frames this far below the loudest (99th percentile) are not speech."""
DIP_DB = 2.0
"""Least dip of intensity between two nuclei."""


def articulation_rate(
    level: numpy.ndarray, voiced: numpy.ndarray, frame_rate: float
) -> float | None:
    """Articulation rate: syllables per second of speech, without pauses.

    Args:
        level: intensity of each frame in dB.
        voiced: whether each frame is voiced.
        frame_rate: frames per second.

    Returns:
        The rate, or None where there is less than half a second of speech.
    """
    if not len(level):
        return None
    threshold = numpy.percentile(level, 99) - RANGE_DB
    speech = (level > threshold) & (level > -100.0)
    seconds = speech.sum() / frame_rate
    if seconds < 0.5:
        return None
    inner = level[1:-1]
    is_peak = (inner > level[:-2]) & (inner >= level[2:]) & speech[1:-1]
    count, peak, valley = 0, -numpy.inf, -numpy.inf
    places = (numpy.flatnonzero(is_peak) + 1).tolist()
    before = 0
    for place in places:
        valley = float(level[before : place + 1].min())
        height = float(level[place])
        if count and peak - valley < DIP_DB:  # the same nucleus goes on
            peak = max(peak, height)
        elif height - valley >= DIP_DB and voiced[place]:
            count, peak = count + 1, height
        before = place
    return count / seconds
