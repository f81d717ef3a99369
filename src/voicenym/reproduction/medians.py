"""Medians over pairs of speakers' vectors, with intervals over the speakers."""

from __future__ import annotations

import math

import numpy as np

from voicenym.metrics.intervals.bootstrap_draws import Drawn
from voicenym.reproduction.joint_figures import contrast
from voicenym.reproduction.outcome import Figure

AT_ONCE = 1 << 22
"""Weights of pairs that are held at once: 32 MB."""
REPLICATES = 300


def median(values: np.ndarray, pairs: np.ndarray) -> Drawn:
    """Median of values of pairs of speakers as a function of drawn speakers.

    A pair counts as often as both of its speakers were drawn, multiplied; once where they are one.

    Args:
        values: ``[pair]``.
        pairs: ``[pair, 2]``, names or numbers of the speakers.

    Example:
        >>> found = median(np.array([1.0, 5.0, 9.0]), np.array([[0, 1], [0, 2], [1, 2]]))
        >>> found.value, found.again(np.array([1.0, 0.0, 1.0]))
        (5.0, 5.0)
    """
    names, index = np.unique(pairs, return_inverse=True)
    order = np.argsort(values, kind="stable")
    held, (a, b) = values[order], index.reshape(pairs.shape)[order].T
    one = a == b

    def every(times: np.ndarray) -> np.ndarray:
        step = max(1, AT_ONCE // len(held))
        return np.concatenate([_middles(times[i : i + step]) for i in range(0, len(times), step)])

    def _middles(times: np.ndarray) -> np.ndarray:
        weights = times[:, a] * np.where(one, 1.0, times[:, b])
        below = weights.cumsum(1)
        total = below[:, -1]
        # the mean of the two values beside the middle, as numpy.median has it
        left = (below >= total[:, None] / 2).argmax(1)
        right = (below > total[:, None] / 2).argmax(1)
        found = (held[left] + held[right]) / 2
        return np.where(total > 0, found, math.nan)

    value = float(np.median(values))
    return Drawn(value, names, lambda times: float(every(times[None])[0]), every)


def among(vectors: np.ndarray, names: np.ndarray) -> Drawn:
    """Median of the cosines of all pairs of vectors, one of each speaker.

    Args:
        vectors: ``[speaker, element]``.
        names: of the speakers, or their numbers.
    """
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    first, second = np.triu_indices(len(unit), 1)
    return median((unit @ unit.T)[first, second], np.stack([names[first], names[second]], axis=1))


def less(first: Drawn, second: Drawn) -> Figure:
    """The first median minus the second one, with its interval over the speakers of both."""
    return contrast(first, second, REPLICATES)
