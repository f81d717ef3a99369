"""Second speakers: who else speaks where several people do."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt

THRESHOLD = 0.95
"""Probability from which several people speak, by the bundled detector, which learned from mixtures
in which overlaps are far more frequent than in conversations."""
PRECISION = 0.55
"""Share of marked time that is overlapped: the confidence of second speakers."""
LEAST_FRAMES = 10
"""Frames of 10 ms; shorter overlaps are not marked."""
FRAMES_EACH = 2
"""Frames of 10 ms in a frame of the detector."""


def second_speakers(
    labels: npt.NDArray[np.integer],
    overlap: npt.NDArray[np.floating],
    threshold: float = THRESHOLD,
) -> npt.NDArray[np.integer]:
    """Second speaker of each frame; -1 where nobody else speaks.

    The second speaker is the one besides the first whose turn is nearest in time: whoever speaks
    into a turn nearly always spoke before it, or goes on after it.

    Args:
        labels: speaker of each frame of 10 ms; -1 without speech.
        overlap: probabilities that several people speak, ``[frame]`` of 20 ms.
        threshold: of the probabilities.

    Example:
        >>> labels = np.repeat([0, 1, -1, 0], 20)
        >>> overlap = np.zeros(40)
        >>> overlap[5:10] = 0.99
        >>> np.flatnonzero(second_speakers(labels, overlap) == 1).tolist()
        [10, 11, 12, 13, 14, 15, 16, 17, 18, 19]
    """
    several = np.repeat(overlap >= threshold, FRAMES_EACH)[: len(labels)]
    several = np.pad(several, (0, len(labels) - len(several))) & (labels >= 0)
    known = np.unique(labels[labels >= 0]).tolist()
    places = {s: np.flatnonzero(labels == s).astype(np.int32) for s in known}
    found = np.full_like(labels, -1)
    if len(places) < 2:
        return found
    key = np.where(several, labels, labels.dtype.type(-1))
    edges = [0, *(np.flatnonzero(key[1:] != key[:-1]) + 1).tolist(), len(key)]
    for first, last in itertools.pairwise(edges):
        if last - first < LEAST_FRAMES or key[first] < 0:
            continue
        middle = (first + last) / 2
        others = {s: own for s, own in places.items() if s != key[first]}
        found[first:last] = min(others, key=lambda s: _distance(others[s], middle))
    return found


def _distance(places: npt.NDArray[np.int32], middle: float) -> float:
    """Frames between a place and the nearest of sorted places."""
    after = int(np.searchsorted(places, np.int32(math.ceil(middle))))  # a float would copy them
    near = places[max(0, after - 1) : after + 1]
    return float(np.abs(near - middle).min())
