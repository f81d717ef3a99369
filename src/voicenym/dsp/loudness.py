"""Loudness of a recording after ITU-R BS.1770-4, and the gain that brings it to a target.

K-weighting is a shelf and a high-pass filter; the recommendation tabulates them at 48 kHz, and
other rates have the same analogue prototypes by the bilinear transform. Both are applied in the
frequency domain, with zeros behind the recording that hold the filters' decay.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

BLOCK, STEP = 0.4, 0.1
"""Gating blocks in seconds, and their distance: an overlap of 75 %."""
ABSOLUTE_GATE = -70.0
"""LKFS below which a block counts as silence."""
RELATIVE_GATE = -10.0
"""LU below the loudness of the other blocks."""
OFFSET = -0.691
"""dB: the loudness of a 997 Hz sine of full scale in one channel is then -3.01 LKFS."""
WEIGHTS = (1.0, 1.0, 1.0, 1.41, 1.41)
"""Of left, right, centre and the two surround channels."""
DECAY = 1.0
"""Seconds after which the impulse responses are below the precision of floats."""
SHELF = (1681.974450955533, 3.999843853973347, 0.7071752369554196)
"""Hz, dB and quality of the shelf's prototype."""
HIGH_PASS = (38.13547087602444, 0.5003270373238773)
"""Hz and quality of the high-pass filter's prototype."""

Samples = npt.NDArray[np.floating[Any]]


def integrated_loudness(samples: npt.ArrayLike, rate: int) -> float:
    """Gated loudness in LKFS (LUFS).

    Args:
        samples: ``[time]`` or ``[channel, time]`` with at most five channels, 1 is full scale.
        rate: in Hz.

    Returns:
        Minus infinity for silence, NaN where a sample is NaN or infinite: the loudness is unknown
        then. A recording shorter than a block (0.4 s) is one block.

    Raises:
        ValueError: more channels.

    Example:
        >>> time = np.arange(48_000) / 48_000
        >>> round(integrated_loudness(np.sin(2 * np.pi * 997 * time), 48_000), 2)
        -3.01
    """
    x = np.atleast_2d(np.asarray(samples, dtype=np.float64))
    if len(x) > len(WEIGHTS):
        raise ValueError(f"loudness is of at most {len(WEIGHTS)} channels, not {len(x)}")
    if not np.isfinite(x).all():
        return math.nan  # no gate would let it pass, and it would seem silent
    if not x.shape[1]:
        return -math.inf
    power = np.einsum("c,ct->t", WEIGHTS[: len(x)], k_weighted(x, rate) ** 2)
    length, step = round(BLOCK * rate), round(STEP * rate)
    if len(power) < length:
        return _loudness(float(power.mean()))
    total = np.concatenate([[0.0], np.cumsum(power)])
    starts = np.arange(0, len(power) - length + 1, step)
    blocks = np.maximum(total[starts + length] - total[starts], 0.0) / length
    kept = blocks[blocks > _power(ABSOLUTE_GATE)]
    if not kept.size:
        return -math.inf
    kept = kept[kept > kept.mean() * 10.0 ** (RELATIVE_GATE / 10.0)]
    return _loudness(float(kept.mean()))


def k_weighted(samples: Samples, rate: int) -> Samples:
    """Samples ``[channel, time]`` after both filters of the recommendation."""
    time = samples.shape[1]
    size = 1 << (time + round(DECAY * rate) - 1).bit_length()
    z = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    response = np.ones(len(z), dtype=np.complex128)
    for above, below in coefficients(rate):
        response *= np.polyval(above[::-1], z) / np.polyval(below[::-1], z)
    found: Samples = np.fft.irfft(np.fft.rfft(samples, size) * response, size)[:, :time]
    return found


def coefficients(rate: int) -> tuple[tuple[Samples, Samples], tuple[Samples, Samples]]:
    """Numerator and denominator, by powers of 1/z, of the shelf and of the high-pass filter."""
    f, gain, q = SHELF
    k = math.tan(math.pi * f / rate)
    high = 10.0 ** (gain / 20.0)
    band = high**0.4996667741545416  # of the prototype's band term
    a0 = 1.0 + k / q + k * k
    top = np.array([high + band * k / q + k * k, 2.0 * (k * k - high), high - band * k / q + k * k])
    shelf = top / a0, np.array([1.0, 2.0 * (k * k - 1.0) / a0, (1.0 - k / q + k * k) / a0])
    f, q = HIGH_PASS
    k = math.tan(math.pi * f / rate)
    a0 = 1.0 + k / q + k * k
    low = (
        np.array([1.0, -2.0, 1.0]),
        np.array([1.0, 2.0 * (k * k - 1) / a0, (1 - k / q + k * k) / a0]),
    )
    return shelf, low


def gain_to(target: float, loudness: float) -> float:
    """Factor that brings a recording of some loudness to a target, both in LKFS."""
    return float(10.0 ** ((target - loudness) / 20.0))


def _loudness(power: float) -> float:
    return OFFSET + 10.0 * math.log10(power) if power > 0.0 else -math.inf


def _power(loudness: float) -> float:
    return float(10.0 ** ((loudness - OFFSET) / 10.0))
