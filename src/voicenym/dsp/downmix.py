"""One channel of several, in which channels of opposite phase do not cancel each other.

A cable that is wired the wrong way round inverts the channel of a microphone. In the mean of such
channels the speech is gone: nobody is heard where somebody speaks, and what attackers are measured
on is the noise that is left.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

LEAST_SHARE = 0.25
"""Power of the mean, relative to that of channels that have nothing in common, below which channels
cancel each other: 6 dB. Equal channels have a share of their number, one alone has 1."""


def downmix(channels: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Mean of channels ``[channel, time]``, as ``[time]``; where they cancel each other, those that
    are opposite to the first one count with the other sign.

    Example:
        >>> left = np.array([0.5, -0.5, 0.25], np.float32)
        >>> downmix(np.stack([left, left])).tolist()
        [0.5, -0.5, 0.25]
        >>> downmix(np.stack([left, -left])).tolist()
        [0.5, -0.5, 0.25]
    """
    mean: npt.NDArray[np.float32] = channels.mean(0)
    if len(channels) < 2:
        return mean
    powers = np.array([np.dot(row, row) for row in channels], np.float64)
    # channels without anything in common: 1 / n^2 of the sum of their powers
    if float(np.dot(mean, mean)) * len(channels) ** 2 >= LEAST_SHARE * powers.sum():
        return mean
    loudest = channels[int(powers.argmax())]
    signs = np.array([-1.0 if np.dot(row, loudest) < 0 else 1.0 for row in channels], np.float32)
    signs *= signs[0]  # the first keeps its sign, in every block of a recording
    turned: npt.NDArray[np.float32] = (signs[:, None] * channels).mean(0)
    return turned
