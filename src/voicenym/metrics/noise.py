"""Plain measures of signals and time."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def signal_to_noise(original: npt.ArrayLike, changed: npt.ArrayLike) -> float:
    """SNR in dB of a change: 10 log10 (|x|^2 / |x - y|^2); infinite where nothing changed.

    Args:
        original, changed: samples of one length.

    Raises:
        ValueError: lengths that differ.

    Example:
        >>> round(signal_to_noise([1.0, -1.0], [1.1, -1.1]), 6)
        20.0
    """
    x, y = (np.asarray(v, dtype=np.float64).reshape(-1) for v in (original, changed))
    if x.size != y.size:
        raise ValueError(f"lengths differ: {x.size} and {y.size} samples")
    noise = float(np.sum((x - y) ** 2))
    power = float(np.sum(x**2))
    if noise == 0.0:
        return math.inf
    return 10.0 * math.log10(power / noise) if power > 0.0 else -math.inf


def real_time_coefficient(processing: float, duration: float) -> float:
    """RTC: seconds of processing per second of speech.

    Example:
        >>> real_time_coefficient(3.0, 60.0)
        0.05
    """
    if duration <= 0.0:
        raise ValueError(f"a duration is positive, not {duration}")
    return processing / duration
