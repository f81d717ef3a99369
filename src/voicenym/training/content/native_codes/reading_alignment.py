"""Alignment in time of a recording with a reading of the same text, and the reading's codes for it.

Dynamic time warping (Sakoe and Chiba, IEEE Trans. ASSP 1978): the monotonic path of least cost
through the distances of two sequences of Whisper's states. Both say the same words, so that each
code of the recording gets the code that the reader has at the same place of the text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

STAY = 0.05
"""Penalty of a step along one sequence alone, in cosine distances."""
SKIPPED = 0.7
"""Weight of the distance in a step along the reading alone."""
QUIET = 35.0
"""Codes so many dB below the loudest of a recording are silence."""
LEAST_POWER = 1e-10
LEAST_NORM = 1e-6


class Alignment(NamedTuple):
    """A reading aligned with a recording.

    Args:
        places: index of the reading's element for each of the recording, ``[element]``; it does not
            decrease.
        cost: of the path, per element of both sequences: cosine distances and penalties.
    """

    places: np.ndarray
    cost: float


def features(states: np.ndarray, every: int) -> np.ndarray:
    """Directions of states, ``[code, size]``: means of ``every`` states, minus the sequence's mean.

    Args:
        states: ``[state, size]``.
        every: states per code; a rest is left out.
    """
    count = len(states) // every
    pooled = states[: count * every].reshape(count, every, states.shape[1]).mean(1)
    if count:
        pooled = pooled - pooled.mean(0)
    return pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), LEAST_NORM)


def aligned(recording: np.ndarray, reading: np.ndarray) -> Alignment:
    """The reading's element for each of the recording.

    From (i - 1, j - 1), (i - 1, j) or (i, j - 1) the path goes to (i, j); steps of the latter two
    kinds have the penalty :data:`STAY`, and the distance counts :data:`SKIPPED` times in the last.
    Of several elements of the reading at one of the recording, the nearest is taken.

    Args:
        recording, reading: :func:`features`, ``[element, size]``.

    Raises:
        ValueError: a sequence is empty.
    """
    rows, columns = len(recording), len(reading)
    if not rows or not columns:
        raise ValueError("an empty sequence has no alignment")
    distances = 1.0 - recording.astype(np.float64) @ reading.astype(np.float64).T
    steps, total = _steps(distances)
    first, last = np.full(rows, columns), np.full(rows, -1)
    i, j = rows - 1, columns - 1
    while True:
        first[i], last[i] = min(first[i], j), max(last[i], j)
        if i == j == 0:
            break
        step = steps[i + j, i]
        i, j = i - (step != 2), j - (step != 1)
    places = [low + int(distances[row, low : high + 1].argmin())
              for row, (low, high) in enumerate(zip(first, last, strict=True))]  # fmt: skip
    return Alignment(np.array(places), total / (rows + columns))


def _steps(distances: np.ndarray) -> tuple[np.ndarray, float]:
    """Best last step to each place, and the cost of the best path.

    Steps are ``[i + j, i]``: 0 along both, 1 along the recording, 2 along the reading. Places on
    one diagonal do not depend on each other.
    """
    rows, columns = distances.shape
    diagonals = rows + columns - 1
    wide = np.full((rows, diagonals + 1), np.inf)
    wide[:, :columns] = distances
    # rows that are one element shorter shift each row by one more place: [i, i + j]
    skewed = np.ascontiguousarray(wide.ravel()[: rows * diagonals].reshape(rows, diagonals).T)
    steps = np.zeros((diagonals, rows), dtype=np.int8)
    costs = np.full((3, rows), np.inf)
    before, last = np.full((2, rows), np.inf)
    last[0] = skewed[0, 0]
    for diagonal in range(1, diagonals):
        here = skewed[diagonal]
        costs[0, 1:] = before[:-1] + here[1:]
        costs[1, 1:] = last[:-1] + STAY + here[1:]
        costs[2] = last + STAY + SKIPPED * here
        best = costs.argmin(0)
        steps[diagonal] = best
        before, last = last, costs.min(0)
    return steps, float(last[-1])


def quiet(samples: np.ndarray, hop: int) -> np.ndarray:
    """Whether each code ``[code]`` of a recording ``[time]`` is silence.

    Args:
        samples: of the recording.
        hop: samples per code; the last code may have fewer.
    """
    count = -(-len(samples) // hop)
    padded = np.pad(samples.astype(np.float64), (0, count * hop - len(samples)))
    power = 10.0 * np.log10(np.square(padded).reshape(count, hop).mean(1) + LEAST_POWER)
    return np.asarray(power < power.max(initial=-np.inf) - QUIET)


def native_codes(
    places: np.ndarray, reading: np.ndarray, silent: np.ndarray, silence: int
) -> np.ndarray:
    """Codes of the reading on the time axis of the recording, ``[code]``.

    Args:
        places: of an alignment, ``[element]``; codes after the last element repeat it.
        reading: codes of the reading, ``[code]``.
        silent: of :func:`quiet`, ``[code]``.
        silence: code of these.
    """
    known = reading[np.minimum(places, len(reading) - 1)]
    rest = np.minimum(np.arange(len(silent)), len(known) - 1)
    return np.where(silent, silence, known[rest])
