"""Lengths of content units: how long a speaker stays on a sound, in frames of the codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from voicenym.verification.scoring import Array

LONGEST = 12
"""Frames of a run from which on runs are counted together: half a second at 25 codes a second."""


def measure(codes: Sequence[npt.NDArray[np.integer]]) -> Array:
    """Shares of the lengths of runs of equal codes, runs a frame, and the logarithm of frames.

    Args:
        codes: of each recording; NaN where there is none.

    Returns:
        ``[recording, LONGEST + 2]``.

    Example:
        >>> measure([np.array([7, 7, 3, 7])])[0, :2].round(2)
        array([0.67, 0.33])
    """
    found = np.full((len(codes), LONGEST + 2), np.nan)
    for row, own in enumerate(codes):
        if not len(own):
            continue
        starts = np.flatnonzero(np.r_[True, np.diff(own) != 0])
        runs = np.diff(np.r_[starts, len(own)])
        shares = np.bincount(np.minimum(runs, LONGEST), minlength=LONGEST + 1)[1:] / len(runs)
        found[row] = [*shares, len(runs) / len(own), np.log(len(own))]
    return found
