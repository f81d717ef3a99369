"""Reference implementation of B2: a Python loop over frames, ``numpy.roots`` and ``lfilter``.

Our own, from the published description; it is what :mod:`voicenym.systems.mcadams` is compared
with, in results (``tests/systems``) and in speed (``benchmarks/speed.py``). The baseline predicts
by Burg's method; by autocorrelation the results can be compared sample by sample.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_toeplitz
from scipy.signal import lfilter

WHITE_NOISE = 1e-9


def by_autocorrelation(frame: np.ndarray, order: int) -> np.ndarray:
    """Prediction polynomial ``[order + 1]`` of a windowed frame, by the Toeplitz equations."""
    length = len(frame)
    r = np.correlate(frame, frame, "full")[length - 1 : length + order]
    column = r[:-1].copy()
    column[0] *= 1 + WHITE_NOISE
    return np.concatenate([[1.0], solve_toeplitz(column, -r[1:])])


def by_burg(frame: np.ndarray, order: int) -> np.ndarray:
    """The same by Burg's recursion, which the baseline uses."""
    a = np.ones(1)
    forward, backward = frame[1:].copy(), frame[:-1].copy()
    for _ in range(order):
        energy = forward @ forward + backward @ backward
        k = -2.0 * (forward @ backward) / max(energy, 1e-300)
        a = np.append(a, 0.0) + k * np.append(0.0, a[::-1])
        forward, backward = (forward + k * backward)[1:], (backward + k * forward)[:-1]
    return a


def anonymize(
    signal: np.ndarray,
    alpha: float,
    *,
    order: int = 20,
    rate: int = 16000,
    predict: Callable[[np.ndarray, int], np.ndarray] = by_autocorrelation,
) -> np.ndarray:
    """``[time]`` float at ``rate`` Hz to the same; every frame keeps its energy."""
    hop = rate // 100
    length = 2 * hop
    window = np.sqrt(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length))
    frames = -(-len(signal) // hop) + 1
    padded = np.zeros((frames + 1) * hop)
    padded[hop : hop + len(signal)] = signal
    out = np.zeros_like(padded)
    for k in range(frames):
        frame = padded[k * hop : k * hop + length] * window
        if not frame.any():
            continue
        a = predict(frame, order)
        residual = lfilter(a, [1.0], frame)
        poles = []
        for pole in np.roots(a):
            if abs(pole.imag) < 1e-12:
                poles.append(pole.real)
            elif pole.imag > 0:
                angle = min(np.angle(pole) ** alpha, np.pi)
                poles.extend(abs(pole) * np.exp([1j * angle, -1j * angle]))
        changed = lfilter([1.0], np.real(np.poly(poles)), residual) * window
        energy = np.sum(changed**2)
        if energy > 0:
            changed *= np.sqrt(np.sum((frame * window) ** 2) / energy)
        out[k * hop : k * hop + length] += changed
    return out[hop : hop + len(signal)]
