"""PAV of many replicates of a bootstrap at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.metrics.trials.pav import pool
from voicenym.metrics.trials.scores import Array


@dataclass(frozen=True)
class Blocks:
    """Blocks of PAV of several replicates, one replicate after another.

    Args:
        target, nontarget: ``[block]``, weights of both classes, with those of Laplace's rule.
        llr: ``[block]`` in nats, rising within a replicate.
        first: ``[replicate]``, the first block of each.
    """

    target: Array
    nontarget: Array
    llr: Array
    first: npt.NDArray[np.intp]

    @property
    def replicate(self) -> npt.NDArray[np.intp]:
        """``[block]``, the replicate of each."""
        sizes = np.diff(self.first, append=len(self.llr))
        found: npt.NDArray[np.intp] = np.repeat(np.arange(len(self.first)), sizes)
        return found

    def means(self, target: Array, nontarget: Array) -> tuple[Array, Array]:
        """Means of figures ``[block]`` over the trials of each class, ``[replicate]``.

        Figures that no trial has do not count, even if they are infinite.
        """
        found = []
        for weights, values in ((self.target, target), (self.nontarget, nontarget)):
            paid = np.where(weights > 0, values, 0.0) * weights
            sums = (np.add.reduceat(part, self.first) for part in (paid, weights))
            found.append(next(sums) / next(sums))
        return found[0], found[1]

    def meeting(self) -> Array:
        """Equal error rate on the hull of the ROC, ``[replicate]``."""
        which = self.replicate
        miss, alarm = (
            _cumulated(part, self.first, which) for part in (self.target, self.nontarget)
        )
        # of the points behind each block; the point before the first has no misses and all alarms
        alarm = 1.0 - alarm
        before = np.add.reduceat((miss < alarm).astype(np.intp), self.first)
        after = self.first + before
        inner = before > 0
        low_miss = np.where(inner, miss[after - 1], 0.0)
        low_alarm = np.where(inner, alarm[after - 1], 1.0)
        return crossed(low_miss, low_alarm, miss[after], alarm[after])


def _cumulated(weights: Array, first: npt.NDArray[np.intp], which: npt.NDArray[np.intp]) -> Array:
    """Shares of the weights up to each block within its replicate, ``[block]``."""
    sums = np.cumsum(weights)
    begin = np.append(0.0, sums)[first]
    totals = np.add.reduceat(weights, first)
    shares: Array = (sums - begin[which]) / totals[which]
    return shares


def crossed(low_miss: Array, low_alarm: Array, miss: Array, alarm: Array) -> Array:
    """Rate where the straight line between two points of a ROC has as many misses as alarms."""
    gap = (low_alarm - low_miss) + (miss - alarm)
    share = np.divide(low_alarm - low_miss, gap, out=np.zeros_like(gap), where=gap > 0)
    found: Array = low_miss + share * (miss - low_miss)
    return found


def blocks(target: Array, nontarget: Array, laplace: bool = False) -> Blocks:
    """PAV of each row of weights.

    All rows are one sequence for PAV: the shares of targets of each row are above those of the row
    before, so that no block reaches from one into the next.

    Args:
        target, nontarget: ``[replicate, bin]``, weights in the order of the scores; each row has
            both classes.
        laplace: put a target and a non-target trial at both ends of each row.

    Raises:
        DependencyError: no scipy, or one older than 1.12.

    Example:
        >>> found = blocks(np.array([[0.0, 1, 1], [1, 0, 0]]), np.array([[1.0, 0, 1], [0, 1, 0]]))
        >>> found.llr.round(2), found.first
        (array([-inf, 0.69, 0.  ]), array([0, 2]))
    """
    rows = len(target)
    totals = target.sum(1) / nontarget.sum(1)
    if laplace:
        # 1 then 0 at either end is the violating order, so that each pair joins an end block
        target, nontarget = (
            np.pad(weights, ((0, 0), (2, 2)), constant_values=0.0)
            for weights in (target, nontarget)
        )
        target[:, [0, -2]] = nontarget[:, [1, -1]] = 1.0
    width = target.shape[1]
    there = np.flatnonzero((target + nontarget).ravel() > 0)
    t, n = target.ravel()[there], nontarget.ravel()[there]
    row, column = np.divmod(there, width)
    # shares are 0 to 1: those of one row end before those of the next begin
    begin = pool(t, n, 2.0 * row)[:-1]
    t, n, where = np.add.reduceat(t, begin), np.add.reduceat(n, begin), row[begin]
    if laplace:
        # a block may hold nothing but what was put at the ends
        real = np.add.reduceat(((column > 1) & (column < width - 2)).astype(np.intp), begin) > 0
        t, n, where = t[real], n[real], where[real]
    with np.errstate(divide="ignore"):
        llr = np.log(t) - np.log(n) - np.log(totals)[where]
    return Blocks(t, n, llr, np.searchsorted(where, np.arange(rows)))
