"""Exact PAV of millions of pairs of segments from a histogram, without sorting all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voicenym.metrics.trials.pav import pool, spread
from voicenym.metrics.trials.scores import Array, Sorted
from voicenym.metrics.voice_similarity.segment_pairs import SegmentPairs

BINS = 1 << 16
"""Number of bins of the histogram of scores: the index of a bin takes 16 bits."""


@dataclass(frozen=True)
class Grid:
    """Bins of equal width on the axis of scores: a monotone map of scores that needs no sorting."""

    low: float
    scale: float

    @classmethod
    def over(cls, scores: Array) -> Grid:
        low, high = float(scores.min()), float(scores.max())
        if not math.isfinite(high - low):
            known = scores[np.isfinite(scores)]
            low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
        scale = (BINS - 1) / (high - low) if high > low else 1.0
        return cls(low, scale if 0.0 < scale < math.inf else 1.0)

    def __call__(self, scores: Array) -> np.ndarray:
        place = scores - self.low
        place *= self.scale
        return np.clip(place, 0, BINS - 1, out=place).astype(np.intp)


@dataclass(frozen=True)
class StepsByBin:
    """A calibration by PAV that is looked up by bin, and by score in doubtful bins.

    Args:
        grid: of the bins.
        llr: ``[bin]`` in nats; in a doubtful bin, that of the last score before it.
        doubtful: ``[bin]``, whether a step may begin within.
        scores, bins, score_llr: ``[score]``, those of doubtful bins, ascending.
    """

    grid: Grid
    llr: Array
    doubtful: np.ndarray
    scores: Array
    bins: np.ndarray
    score_llr: Array

    def __call__(self, scores: Array) -> Array:
        return self.at(scores, self.grid(scores))

    def at(self, scores: Array, bins: np.ndarray) -> Array:
        """LLRs of scores whose bins are known."""
        found: Array = self.llr.take(bins)
        if self.scores.size:
            inside = self.doubtful.take(bins)
            below = np.searchsorted(self.scores, scores[inside], side="right") - 1
            known = (below >= 0) & (self.bins[below] == bins[inside])
            found[inside] = np.where(known, self.score_llr[below], found[inside])
        return found


def fit(trials: SegmentPairs) -> tuple[StepsByBin | None, np.ndarray]:
    """Exact PAV with Laplace's rule of all pairs, and the bin of each pair.

    PAV is the greatest convex minorant of targets against trials, both counted upward in score
    (its slope is the share of targets). That of the bins as points can only change within a
    bin if, with all of its non-targets before its targets, the sum would come to lie below the
    minorant. Only pairs in such bins are sorted: for millions of pairs, some thousands.
    """
    grid = Grid.over(trials.scores)
    everything, targets = np.zeros((2, BINS), dtype=np.int64)
    table = np.empty(trials.scores.shape, dtype=np.uint16)
    for strip in trials.strips():
        bins = grid(trials.scores[strip])
        table[strip] = bins
        itself = trials.itself[strip]
        same = (trials.row[strip, None] == trials.column) & ~itself
        everything += np.bincount(bins.ravel(), minlength=BINS)
        everything -= np.bincount(bins[itself], minlength=BINS)
        targets += np.bincount(bins[same], minlength=BINS)
    if not targets.any() or (targets == everything).all():
        return None, table
    target: Array = targets * np.float64(trials.weight)
    nontarget: Array = (everything - targets) * np.float64(trials.weight)
    there = np.flatnonzero(everything)
    mixed = _doubtful(target[there], nontarget[there])
    doubtful = np.zeros(BINS, dtype=bool)
    doubtful[there[mixed]] = True
    clear = there[~mixed]

    gathered: list[tuple[Array, np.ndarray]] = []
    for strip in trials.strips():
        part = trials.scores[strip]
        inside = doubtful.take(table[strip]) & ~trials.itself[strip]
        gathered.append((part[inside], (trials.row[strip, None] == trials.column)[inside]))
    values, same = (np.concatenate(parts) for parts in zip(*gathered, strict=True))
    scores, which = np.unique(values, return_inverse=True)
    fine = np.bincount(which, minlength=len(scores)) * trials.weight
    fine_target = np.bincount(which[same], minlength=len(scores)) * trials.weight
    place = np.concatenate([clear, grid(scores)])
    order = np.argsort(place, kind="stable")
    points = Sorted(
        np.arange(len(place), dtype=np.float64),
        np.concatenate([target[clear], fine_target])[order],
        np.concatenate([nontarget[clear], fine - fine_target])[order],
    )
    ratios = spread(points, laplace=True)
    before, behind = (
        np.searchsorted(place[order], np.arange(BINS), side=side) for side in ("left", "right")
    )
    llr = ratios[np.maximum(np.where(doubtful, before, behind) - 1, 0)]
    found = np.empty(len(place))
    found[order] = ratios
    # in most doubtful bins no step begins: such a bin has one ratio
    bins, score_llr = place[len(clear) :], found[len(clear) :]
    first = np.flatnonzero(np.diff(bins, prepend=-1))
    last = np.append(first[1:], len(bins))[: len(first)] - 1
    whole = first[score_llr[first] == score_llr[last]]
    llr[bins[whole]], doubtful[bins[whole]] = score_llr[whole], False
    kept = doubtful[bins]
    return StepsByBin(grid, llr, doubtful, scores[kept], bins[kept], score_llr[kept]), table


def _doubtful(target: Array, nontarget: Array) -> np.ndarray:
    """Bins within which the minorant may bend."""
    # Laplace's rule: a target and a non-target, in violating order, at both ends
    target = np.concatenate([[1.0, 0.0], target, [1.0, 0.0]])
    nontarget = np.concatenate([[0.0, 1.0], nontarget, [0.0, 1.0]])
    total = target + nontarget
    edges = pool(target, nontarget)
    x, y = (np.concatenate([[0.0], np.cumsum(counts)]) for counts in (total, target))
    corner = x[:-1] + nontarget
    minorant = np.interp(corner, x[edges], y[edges])
    both = (target > 0) & (nontarget > 0)
    doubtful: np.ndarray = both & (y[:-1] < minorant + 1e-9 * y[-1])
    return doubtful[2:-2]
