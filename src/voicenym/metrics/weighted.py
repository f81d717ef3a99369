"""A mean of equal error rates over parts of a benchmark, each with its weight.

Miao et al., "Speaker anonymization using orthogonal Householder neural network", IEEE/ACM TASLP 31
(2023), appendix A: the rate of each data set and sex is measured by itself, with a threshold of its
own, and the mean is over these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.errors import ScoreError
from voicenym.metrics.eer import crossing
from voicenym.metrics.interval import Interval, percentiles
from voicenym.metrics.scores import Array, Scores, Sorted, Speakers, check, places


@dataclass(frozen=True)
class WeightedEER:
    """Weighted mean of equal error rates.

    Args:
        value: share.
        interval: lower and upper limit, by bootstrap over speakers: within each part, as many as
            it has; one who speaks in several parts is drawn for all of them.
        parts: the rate of each part.
        weights: of the parts, scaled to sum to 1.
    """

    value: float
    interval: Interval
    parts: tuple[float, ...]
    weights: tuple[float, ...]
    unit: str = "share"


def weighted_eer(
    parts: Sequence[tuple[Scores, Scores, Speakers]],
    weights: Sequence[float],
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> WeightedEER:
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
        >>> apart, mixed = ([2.0, 3.0], [0.0, 1.0], who), ([0.0, 2.0], [1.0, 3.0], who)
        >>> weighted_eer([apart, mixed], [0.75, 0.25], replicates=9).value
        0.125
    """
    share = np.asarray(weights, dtype=np.float64)
    if not len(parts) or share.shape != (len(parts),) or not (share > 0.0).all():
        raise ScoreError(f"{len(parts)} parts need as many positive weights, not {list(weights)}")
    share = share / share.sum()
    checked = [(*check(target, nontarget), speakers) for target, nontarget, speakers in parts]
    rates = [crossing(Sorted.of(t, n))[0] for t, n, _ in checked]
    pairs = [np.concatenate([s.target, s.nontarget]) for _, _, s in checked]
    names = np.unique(np.concatenate(pairs))
    strata = [np.searchsorted(names, group) for group in _groups(pairs)]
    drawn = [
        _drawing(t, n, np.searchsorted(names, pair), len(names))
        for (t, n, _), pair in zip(checked, pairs, strict=True)
    ]
    rng = np.random.default_rng(seed)
    draws = []
    for _ in range(replicates):
        people = np.concatenate([rng.choice(group, len(group)) for group in strata])
        times = np.bincount(people, minlength=len(names))
        both = np.outer(times, times).astype(np.float64)
        np.fill_diagonal(both, times)
        draws.append(float(share @ [rate(both) for rate in drawn]))
    value = float(share @ rates)
    return WeightedEER(value, percentiles(draws, level), tuple(rates), tuple(share.tolist()))


def _groups(pairs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Speakers of the parts, those of parts that share some together."""
    groups: list[set[int]] = []
    for pair in pairs:
        mine = set(np.unique(pair).tolist())
        shared = [group for group in groups if group & mine]
        groups = [group for group in groups if not group & mine] + [mine.union(*shared)]
    return [np.array(sorted(group)) for group in groups]


def _drawing(
    target: Array, nontarget: Array, pairs: np.ndarray, speakers: int
) -> Callable[[Array], float]:
    """The rate of a part where trials of two speakers count as often as a table says.

    NaN, which leaves out the replicate, where no trial of a class is left.
    """
    if len(pairs) != target.size + nontarget.size:
        raise ScoreError(
            f"speakers of {len(pairs)} trials do not fit {target.size + nontarget.size} scores"
        )
    thresholds, at_t, at_n = places(target, nontarget)
    flat = pairs[:, 0] * speakers + pairs[:, 1]
    of_t, of_n = flat[: target.size], flat[target.size :]

    def rate(both: Array) -> float:
        weights = both.ravel()
        counts = [
            np.bincount(at, weights[of], minlength=len(thresholds)).astype(np.float64)
            for at, of in ((at_t, of_t), (at_n, of_n))
        ]
        if not all(count.any() for count in counts):
            return math.nan
        return crossing(Sorted(thresholds, counts[0], counts[1]))[0]

    return rate
