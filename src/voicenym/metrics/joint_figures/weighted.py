"""Weighted means of figures over parts of a benchmark.

Miao et al., "Speaker anonymization using orthogonal Householder neural network", IEEE/ACM TASLP 31
(2023), appendix A: the rate of each data set and sex is measured by itself, with a threshold of its
own, and the mean is over these. That of G_VD is a mean of decibels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.intervals.binomial import of_share
from voicenym.metrics.intervals.bootstrap_draws import Drawn, replicate, share
from voicenym.metrics.intervals.interval import Interval, enough, percentiles
from voicenym.metrics.trials.scores import Scores, Speakers
from voicenym.metrics.verification.eer import WORTH, equal_error
from voicenym.metrics.voice_similarity.similarity import Similarity
from voicenym.metrics.voices.voice_distinctiveness import distinctiveness


@dataclass(frozen=True)
class WeightedMean:
    """Weighted mean of a figure of parts.

    Args:
        value: the mean.
        interval: lower and upper limit, by bootstrap over speakers: within each part, as many as
            it has; one who speaks in several parts is drawn for all of them. NaN for fewer than
            five speakers, but of shares of trials.
        parts: the figure of each part.
        weights: of the parts, scaled to sum to 1.
        unit: of the figure.
        intervals: of the parts' figures, which are NaN alike.
    """

    value: float
    interval: Interval
    parts: tuple[float, ...]
    weights: tuple[float, ...]
    unit: str = "share"
    intervals: tuple[Interval, ...] = ()


def weighted_eer(
    parts: Sequence[tuple[Scores, Scores, Speakers]],
    weights: Sequence[float],
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> WeightedMean:
    """sum_i w_i EER_i / sum_i w_i.

    Args:
        parts: target scores, non-target scores and who speaks in them; numbers of speakers mean
            the same in all parts.
        weights: of the parts, positive; where parts are missing, the others weigh more.
        level, replicates, seed: of the bootstrap.

    Raises:
        ScoreError: no parts, weights that do not fit, NaN, or a part without trials of a class.

    Example:
        >>> who = Speakers(np.array([[0, 0], [1, 1]]), np.array([[0, 1], [1, 0]]))
        >>> separated, mixed = ([2.0, 3.0], [0.0, 1.0], who), ([0.0, 2.0], [1.0, 3.0], who)
        >>> weighted_eer([separated, mixed], [0.75, 0.25], replicates=9).value
        0.125
    """
    drawn = [equal_error(target, nontarget, speakers) for target, nontarget, speakers in parts]
    return weighted_mean(
        drawn, weights, "share", of_trials=True, level=level, replicates=replicates, seed=seed
    )


def weighted_ratio(
    parts: Sequence[tuple[npt.ArrayLike, npt.ArrayLike, Sequence[str]]],
    weights: Sequence[float],
    *,
    unit: str = "share",
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> WeightedMean:
    """sum_i w_i (sum of numerators / sum of denominators)_i: word error rates, means of rho_F0.

    Args:
        parts: numerators and denominators ``[recording]``, and whose recordings they are.
        weights: as for :func:`weighted_eer`.
        unit: of the figure.
        level, replicates, seed: of the bootstrap.

    Raises:
        ScoreError: no parts, weights that do not fit, NaN, or a part with nothing to divide by.

    Example:
        >>> parts = [([1, 1], [10, 10], ["ann", "bob"]), ([3], [10], ["eve"])]
        >>> round(weighted_ratio(parts, [0.5, 0.5], replicates=9).value, 3)
        0.2
    """
    drawn = [share(above, below, speakers) for above, below, speakers in parts]
    return weighted_mean(drawn, weights, unit, level=level, replicates=replicates, seed=seed)


def weighted_gain(
    parts: Sequence[tuple[Similarity, Similarity]],
    weights: Sequence[float],
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> WeightedMean:
    """sum_i w_i G_VD_i in dB.

    Args:
        parts: matrices M_oo and M_aa of each part.
        weights: as for :func:`weighted_eer`.
        level, replicates, seed: of the bootstrap.

    Raises:
        ScoreError: no parts, weights that do not fit, or matrices of different speakers.

    Example:
        >>> clear = Similarity(np.array([[0.9, 0.1], [0.1, 0.9]]), ("a", "b"))
        >>> faint = Similarity(np.array([[0.5, 0.42], [0.42, 0.5]]), ("a", "b"))
        >>> round(weighted_gain([(clear, faint), (clear, clear)], [3, 1], replicates=9).value, 2)
        -7.5
    """
    drawn = [distinctiveness(oo, aa) for oo, aa in parts]
    return weighted_mean(drawn, weights, "dB", level=level, replicates=replicates, seed=seed)


def weighted_mean(
    parts: Sequence[Drawn],
    weights: Sequence[float],
    unit: str = "share",
    *,
    of_trials: bool = False,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> WeightedMean:
    """sum_i w_i x_i / sum_i w_i of figures whose speakers are drawn together.

    Args:
        parts: the figure of each part.
        weights: as for :func:`weighted_eer`.
        unit: of the figures.
        of_trials: whether they are shares of trials, whose intervals :func:`.of_share` extends.
            Where it extends one, the interval of the mean also contains sum_i w_i x_i -+
            sqrt(sum_i (w_i d_i)^2), d_i being the distance of a part's figure from its limit: that
            of a sum of independent estimates (Zou and Donner, "Construction of confidence limits
            about effect measures", Statistics in Medicine 27, 2008).
        level, replicates, seed: of the bootstrap.

    Raises:
        ScoreError: no parts, or weights that do not fit.
    """
    weigh = np.asarray(weights, dtype=np.float64)
    if not len(parts) or weigh.shape != (len(parts),) or not (weigh > 0.0).all():
        raise ScoreError(f"{len(parts)} parts need as many positive weights, not {list(weights)}")
    weigh = weigh / weigh.sum()
    values = np.array([part.value for part in parts])
    draws = replicate(parts, replicates, seed)
    mean, whole = float(weigh @ values), percentiles(weigh @ draws, level)
    drawn = [percentiles(own, level) for own in draws]
    intervals = [enough(len(part.speakers), own) for part, own in zip(parts, drawn, strict=True)]
    if of_trials:
        intervals = [
            of_share(part.value, own, len(part.speakers), part.trials, level, worth=WORTH)
            for part, own in zip(parts, draws, strict=True)
        ]
    if not of_trials:
        people = len(np.unique(np.concatenate([part.speakers for part in parts])))
        whole = enough(people, whole)
    elif intervals != drawn:
        low, high = (np.abs(np.array(side) - values) for side in zip(*intervals, strict=True))
        whole = (
            min(whole[0], max(0.0, mean - float(np.linalg.norm(weigh * low)))),
            max(whole[1], min(1.0, mean + float(np.linalg.norm(weigh * high)))),
        )
    return WeightedMean(
        mean, whole, tuple(values.tolist()), tuple(weigh.tolist()), unit, tuple(intervals)
    )
