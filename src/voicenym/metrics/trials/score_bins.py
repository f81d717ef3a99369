"""Bins of the order of scores, by which replicates of a bootstrap count millions of trials.

What depends on the order of the scores alone (equal error rates, the ROC and its hull, PAV) does
not change when a run of trials of one class becomes one point. Up to :data:`EXACT` runs, each is a
bin, and replicates are exact. Of more trials, neighbouring runs share a bin: near both ends of the
scores a bin has at most the share :data:`FINE` of the trials beyond it, and anywhere at most about
the share :data:`COARSE` of a class. The number of bins then grows with the logarithm of that of
the trials.

Error of figures of bins, where d is the largest share that a bin of several runs has of the weight
of a class. At the best threshold of a prior pi, a bin adds at most min(pi, 1 - pi) d to the cost,
since one of its two borders costs no more than that. The integral over all thresholds gives
0 <= min C_llr of bins - min C_llr <= d bit, 0 <= D_ECE - D_ECE of bins <= d / (2 ln 2) bit, and the
hull's equal error rate is too high by at most d / 2. The equal error rate and the miss rate at a
false-alarm rate differ by at most d. ZEBRA's worst case is too low by at most log10 (1 + r), where
the weight of a class in a bin of several runs is r times one more than its weight beyond the bin,
and r the smaller one of both classes. The differences that occur are far smaller.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voicenym.metrics.trials.scores import Array, Sorted

EXACT = 4096
"""Number of runs up to which each is a bin."""
FINE = 1.0 / 64.0
"""Largest share of a bin in the trials between it and the nearer end of the scores."""
COARSE = 1.0 / 1024.0
"""Largest share of a bin in its class."""


def bins(scores: Sorted) -> npt.NDArray[np.intp]:
    """``[bin]``, indices of the scores at which bins begin, ascending; the first is 0.

    Args:
        scores: with their numbers of trials.

    Example:
        >>> bins(Sorted.of([1.0, 2.0, 4.0], [0.0, 3.0]))
        array([0, 1, 3, 4])
    """
    runs = scores.runs()
    if len(runs) <= EXACT:
        return runs
    points = scores.joined(runs)
    alone = np.zeros(len(runs), dtype=bool)
    for trials in (points.target, points.nontarget):
        cell = grid(np.append(0.0, np.cumsum(trials)))
        alone |= cell[1:] != cell[:-1]  # a run that goes on into another cell shares no bin
    begin = alone.copy()
    begin[1:] |= alone[:-1]
    begin[0] = True
    return runs[begin]


def grid(ranks: Array) -> npt.NDArray[np.intp]:
    """Cells of ranks ``[place]``, from 0 to the number of trials, fine at both ends.

    Args:
        ranks: numbers of trials below a place, ascending; the last is the number of all trials.
    """
    everything = float(ranks[-1])
    left = np.minimum(ranks, everything - ranks)
    # a step is one trial up to here, FINE of the rank up to there, and then COARSE of all
    here = min(1.0 / FINE, everything / 2.0)
    there = min(max(here, COARSE * everything / FINE), everything / 2.0)

    def cells(rank: Array) -> Array:
        single = np.minimum(rank, here)
        relative = np.log(np.clip(rank, here, there) / here) / FINE
        even = np.maximum(rank - there, 0.0) / (FINE * there)
        return np.asarray(single + relative + even)

    found = cells(left)
    middle = cells(np.array([everything / 2.0]))[0]
    return np.floor(np.where(ranks > everything / 2.0, 2.0 * middle - found, found) + 1e-9).astype(
        np.intp
    )
