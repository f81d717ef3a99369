"""Split points of long recordings: the quietest frame near the end of a window."""

from __future__ import annotations

import numpy as np

from voicenym.recognition.interface import RATE, Recording

SEARCHED, FRAME = 10.0, 0.2
"""Seconds before the end of a window that are searched for a split point, and length of the
compared frames."""


def split_point(samples: Recording, window: int) -> int:
    """Sample at which a recording is split: the middle of the quietest frame of the last ten
    seconds of its first window, or of its last third where a window is shorter than 30 s.

    Args:
        samples: ``[time]``, longer than the window.
        window: samples.

    Example:
        >>> sound = np.ones(480_000, np.float32)
        >>> sound[400_000:408_000] = 0.0
        >>> 400_000 < split_point(sound, 450_000) < 408_000
        True
    """
    frame = round(FRAME * RATE)
    first = window - min(round(SEARCHED * RATE), window // 3)
    power = np.cumsum(np.square(samples[first:window], dtype=np.float64))
    starts = np.arange(0, len(power) - frame, frame // 4)
    if not len(starts):
        return window
    quietest = (power[starts + frame] - power[starts]).argmin()
    return int(first + int(starts[quietest]) + frame // 2)
