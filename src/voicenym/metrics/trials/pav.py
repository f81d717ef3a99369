"""Calibration by pool-adjacent-violators: the best monotone map of scores to likelihood ratios.

Brümmer and du Preez, "Application-independent evaluation of speaker detection", CSL 20 (2006).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voicenym.errors import DependencyError, ScoreError
from voicenym.metrics.trials.scores import Array, Scores, Sorted, check, places


@dataclass(frozen=True)
class Calibration:
    """A rising step function from scores to log-likelihood ratios.

    Args:
        thresholds: ``[step]``, the lowest score of each step, ascending.
        llr: ``[step]`` in nats, rising; the ends may be infinite without Laplace's rule.
    """

    thresholds: Array
    llr: Array

    @classmethod
    def fit(cls, target: Scores, nontarget: Scores, laplace: bool = False) -> Calibration:
        """Fit to scores; equal scores are one point, so ties never look like separation.

        Args:
            target, nontarget: scores.
            laplace: put a target and a non-target trial of either kind at both ends, so that no
                ratio is infinite.

        Example:
            >>> Calibration.fit([1.0, 2.0], [0.0, 1.0]).llr.round(2)
            array([-inf,   0.,  inf])
        """
        scores = Sorted.of(target, nontarget)
        edges, llr = steps(scores, laplace)
        return cls(scores.thresholds[edges[:-1]], llr)

    def __call__(self, scores: Scores) -> Array:
        """LLRs in nats of new scores ``[...]``; beyond both ends the outermost step holds.

        Raises:
            ScoreError: NaN, which would otherwise sort above all scores.
        """
        values = np.asarray(scores, dtype=np.float64)
        bad = int(np.isnan(values).sum())
        if bad:
            raise ScoreError(f"{bad} of {values.size} scores are NaN; mend or leave out those")
        step = np.searchsorted(self.thresholds, values, side="right") - 1
        found: Array = self.llr[np.maximum(step, 0)]
        return found


def steps(scores: Sorted, laplace: bool = False) -> tuple[np.ndarray, Array]:
    """PAV of weighted scores.

    Args:
        scores: thresholds with weights; those of weight zero join the step before them.
        laplace: see :class:`Calibration`.

    Returns:
        ``[step + 1]`` indices where steps begin (the last is the number of scores), and LLRs
        ``[step]`` in nats: ln (targets / non-targets) of the step - ln (all targets / all
        non-targets).
    """
    # neighbours of one class would be pooled anyway, and joining them is quicker
    there = np.flatnonzero(scores.target + scores.nontarget > 0)
    known = Sorted(scores.thresholds[there], scores.target[there], scores.nontarget[there])
    runs = known.runs()
    there, known = there[runs], known.joined(runs)
    target, nontarget = known.target, known.nontarget
    everything = float(target.sum()), float(nontarget.sum())
    if laplace:
        # 1 then 0 at either end is the violating order, so that each pair joins an end step
        target = np.concatenate([[1.0, 0.0], target, [1.0, 0.0]])
        nontarget = np.concatenate([[0.0, 1.0], nontarget, [0.0, 1.0]])
    edges = pool(target, nontarget)
    targets = np.add.reduceat(target, edges[:-1])
    nontargets = np.add.reduceat(nontarget, edges[:-1])
    with np.errstate(divide="ignore"):
        llr = np.log(targets) - np.log(nontargets) - np.log(everything[0] / everything[1])
    if laplace:
        edges = np.clip(edges - 2, 0, len(there))
        real = np.diff(edges) > 0  # a step may hold nothing but what was put at the ends
        edges, llr = np.append(edges[:-1][real], edges[-1]), llr[real]
    begin = np.append(there, len(scores.thresholds))[edges]
    begin[0] = 0
    return begin, llr


def pool(target: Array, nontarget: Array, offset: Array | float = 0.0) -> np.ndarray:
    """Starts of the blocks within which the isotonic share of targets is constant.

    Args:
        target, nontarget: ``[score]``, weights in the order of the scores, none with both zero.
        offset: ``[score]``, added to the shares: where it rises by more than 1, a block begins.

    Returns:
        ``[block + 1]``, the last being the number of scores.

    Raises:
        DependencyError: no scipy, or one older than 1.12.
    """
    try:
        from scipy.optimize import isotonic_regression
    except ImportError as error:
        raise DependencyError("PAV needs scipy 1.12: pip install 'voicenym[evaluate]'") from error
    total = target + nontarget
    edges: np.ndarray = isotonic_regression(target / total + offset, weights=total).blocks
    return edges


def joined_steps(scores: Sorted, laplace: bool = False) -> tuple[Sorted, Array]:
    """The weights on each step and its LLR: all that a cost of calibrated scores needs."""
    edges, llr = steps(scores, laplace)
    return scores.joined(edges[:-1]), llr


def spread(scores: Sorted, laplace: bool = False) -> Array:
    """LLR of each different score, ``[score]``."""
    edges, llr = steps(scores, laplace)
    return np.repeat(llr, np.diff(edges))


def llr(target: Scores, nontarget: Scores, laplace: bool = False) -> tuple[Array, Array]:
    """Calibrated LLRs in nats of the trials themselves, in their order.

    Args:
        target, nontarget: scores.
        laplace: see :class:`Calibration`.

    Example:
        >>> t, n = llr([1.0, 2.0, 3.0], [0.0, 2.0], laplace=True)
        >>> t.round(2)
        array([0.29, 0.29, 0.29])
    """
    t, n = check(target, nontarget)
    _, at_t, at_n = places(t, n)
    found = spread(Sorted.of(t, n), laplace)
    return found[at_t], found[at_n]
