"""Tempo of phrases: a speaking rate that the key draws, with pauses that take up the difference.

The speaking rate identifies speakers. A pseudonym has a rate of its own, as a share of the
speaker's; each phrase varies around it. A phrase starts where it did in the input, and its end
moves into the pause after it, or away from it. The length of the recording is kept.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voicenym.dsp.phrases import Phrases

OWN = 0.25
"""Largest change of the logarithm of the duration of phrases, one for a pseudonym."""
EACH = 0.1
"""Largest further change, one for each phrase."""
FARTHEST = 1.0
"""Seconds that the end of a phrase moves at most."""
SHORTER, LONGER = 0.5, 2.0
"""Shares of a pause by which it becomes shorter or longer at most."""

Knots = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Times of output and input in seconds, both increasing; linear in between."""


def tempo_knots(phrases: Phrases, seed: int) -> Knots:
    """Times between which the tempo is constant.

    Args:
        phrases: of the input.
        seed: of the rates. Phrases of the same place have the same rate.

    Returns:
        Times of the output and of the input, each ``[2 * phrase + 2]``.

    Example:
        >>> output, source = tempo_knots(Phrases(np.array([[0.5, 2.5]]), 4.0), 7)
        >>> source.tolist(), output[[0, 1, 3]].tolist()
        ([0.0, 0.5, 2.5, 4.0], [0.0, 0.5, 4.0])
    """
    spans, seconds = phrases
    starts, ends = spans[:, 0], spans[:, 1]
    drawn = np.random.default_rng(seed).uniform(-1.0, 1.0, 1 + len(spans))
    factors = np.exp(OWN * drawn[0] + EACH * drawn[1:])
    pauses = np.append(starts[1:], seconds) - ends
    most, least = SHORTER * pauses, LONGER * pauses
    moves = (factors - 1.0) * (ends - starts)
    moves = np.clip(moves, -np.minimum(least, FARTHEST), np.minimum(most, FARTHEST))
    moved = np.stack([starts, ends + moves], axis=1)
    return (
        np.concatenate([[0.0], moved.ravel(), [seconds]]),
        np.concatenate([[0.0], spans.ravel(), [seconds]]),
    )


def between_knots(knots: Knots, seconds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Times of the input, ``[time]``, that the output has at ``seconds``; the same beyond its ends.

    Args:
        knots: of :func:`tempo_knots`.
        seconds: ``[time]`` of the output.
    """
    output, source = knots
    found = np.interp(seconds, output, source)
    outside = (seconds < output[0]) | (seconds > output[-1])
    return np.where(outside, seconds, found)
