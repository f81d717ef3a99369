"""Rank-1 rate of a search among N people, extrapolated from the scores of a test.

A verification test compares a recording with few candidates; a real search has thousands. If the
N - 1 other people score as the test's non-target trials do, independently of each other, the
speaker comes first with probability E[F(s)^(N - 1)], where s is a target score and F the
distribution function of the non-target scores. An EER alone says little about it: 33 % is
compatible with next to nobody and with one speaker in six found first among 20,000.

Up to N - 1 = number of non-target scores F is their empirical distribution. Beyond, its tail is a
generalized Pareto distribution, fitted to the 2 sqrt(n) highest of n scores (Pickands,
"Statistical inference using extreme order statistics", Annals of Statistics 3, 1975) by
probability-weighted moments (Hosking and Wallis, Technometrics 29, 1987). Of Gaussian scores the
fit ends too early, so that the share of large crowds is rather too high: of 20,000 non-target
scores 2.5 deviations below the targets, 6.5 % instead of 4.7 % among 50,000 people, with a
deviation of 3.1 % between samples. A power of the empirical distribution is too high too, but less
so: 10.7 % instead of 9.8 % among 10,000 people, with a deviation of 2.6 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from voicenym.errors import ScoreError
from voicenym.metrics.intervals.binomial import clopper_pearson, unanimous
from voicenym.metrics.intervals.interval import percentiles
from voicenym.metrics.metric import Display, Estimate, Metric
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.metrics.trials.scores import Array, Scores, Speakers
from voicenym.metrics.trials.sorted_trials import SortedTrials

PEOPLE = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
"""Sizes of crowds for a curve."""
REPORTED = 1000
"""Size of the crowd in the tables."""
FEWEST_IN_TAIL = 20
"""Scores below which no tail is fitted: the bounds alone are then given."""
SHAPES = (-0.5, 0.45)
"""Shapes of the tail that probability-weighted moments estimate with a finite variance."""


@dataclass(frozen=True)
class Crowd:
    """Share of recordings whose speaker comes first, by the size of the crowd.

    Args:
        people: ``[size]``, N, the speaker included.
        found: ``[size]``, 0 to 1.
        low, high: ``[size]``, limits by bootstrap over speakers; the lower one is the lower of
            the percentile and of the basic bootstrap, because few scores give too high a share.
            Beyond the data they also hold what two extreme tails give: that nobody scores higher
            than the highest non-target score, and that as many do as its exact interval allows.
            Where all recordings come first, the lower limit holds the second of these too. Where
            all or none do, or fewer than one speaker's, the limits are :func:`.unanimous`.
        speakers: ``[speaker]``, of the target trials, as numbered in them.
        each: ``[speaker, size]``, the share of each speaker's recordings.
        measured_up_to: the largest crowd that the non-target scores describe without a tail.
    """

    people: np.ndarray
    found: Array
    low: Array
    high: Array
    speakers: np.ndarray
    each: Array
    measured_up_to: int

    @property
    def extrapolated(self) -> np.ndarray:
        """``[size]``, whether a crowd is larger than the data describe."""
        beyond: np.ndarray = self.people > self.measured_up_to
        return beyond

    def at(self, people: int) -> Estimate:
        """The figure of one of :attr:`people`."""
        place = int(np.flatnonzero(self.people == people)[0])
        limits = float(self.low[place]), float(self.high[place])
        return Estimate(float(self.found[place]), limits)


def first_among(
    target: Scores | SortedTrials,
    nontarget: Scores | None = None,
    speakers: Speakers | None = None,
    *,
    people: tuple[int, ...] = PEOPLE,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> Crowd:
    """P(first among N) = E[F(s)^(N - 1)] over target scores s; ties are broken at random.

    Args:
        target, nontarget: scores of trials with one scale; or :class:`.SortedTrials` alone.
        speakers: of the trials: limits are then a bootstrap over speakers; None takes trials as
            independent and as of different speakers.
        people: sizes N of crowds, at least 2.
        level, replicates, seed: of the bootstrap.

    Raises:
        ScoreError: NaN or infinite scores, a class without trials, or a crowd of one.

    Example:
        >>> found = first_among([3.0, 0.5], [0.0, 1.0], people=(2, 3), replicates=2)
        >>> found.found
        array([0.75 , 0.625])
    """
    trials = SortedTrials.of(target, nontarget, speakers)
    t, n = trials.target, trials.nontarget
    if not (np.isfinite(t).all() and np.isfinite(n).all()):
        raise ScoreError("scores are infinite; a crowd's distribution needs finite ones")
    sizes = np.array(people)
    if (sizes < 2).any():
        raise ScoreError(f"a crowd has two people at least, not {sizes.min()}")
    known = trials.speakers
    who = np.arange(t.size) if known is None else np.asarray(known.target)[:, 0]
    order = np.argsort(n, kind="stable")
    share = _Share(t, n[order], sizes - 1.0)
    first = np.stack([one[0] for one in share(share.sizes[None])], axis=1)
    names, index = np.unique(who, return_inverse=True)
    sums = np.stack([np.bincount(index, column) for column in first.T], axis=1)
    each = sums / np.bincount(index).astype(np.float64)[:, None]
    piece = np.empty(n.size, dtype=np.intp)
    piece[order] = np.repeat(np.arange(len(share.sizes)), share.sizes.astype(np.intp))
    draws = trials.draws(replicates, seed).counted(
        np.arange(t.size), piece, (t.size, len(share.sizes))
    )
    drawn = np.concatenate([_means(share(others), weights) for weights, others in draws])
    found = first.mean(0)
    low, high = np.array([percentiles(column, level) for column in drawn.T]).T
    # a power of F is too high on average, and that of a replicate twice as much
    low = np.minimum(low, np.maximum(0.0, 2.0 * found - high))
    beyond, sure = share.beyond, found == 1.0
    if (beyond | sure).any():
        least, most = (bound.mean(1) for bound in share.bounds(level))
        low = np.where(beyond | sure, np.minimum(low, least), low)
        high = np.where(beyond, np.maximum(high, most), high)
    limits = zip(found.round(9).tolist(), low.tolist(), high.tolist(), strict=True)
    low, high = np.array(
        [unanimous(v, (a, b), len(names), level, rare=True) for v, a, b in limits]
    ).T
    return Crowd(sizes, found, low, high, names, each, n.size + 1)


def _means(shares: Iterator[Array], weights: Array) -> Array:
    """Weighted means over the targets ``[replicate, size]`` of shares ``[replicate, target]``."""
    totals = weights.sum(1)
    return np.stack([np.einsum("rt,rt->r", one, weights) / totals for one in shares], axis=1)


class _Share:
    """P(first among N) of each target score and crowd, for weights of the non-target scores.

    Between two neighbouring target scores the non-target scores are one piece; in the tail, each is
    one. ``sizes`` are the pieces' numbers of scores. Crowds that the scores describe use their
    empirical distribution; only larger crowds use the fitted tail.
    """

    def __init__(self, target: Array, ascending: Array, others: Array) -> None:
        self.target, self.others, self.count = target, others, len(ascending)
        self.beyond = others > self.count
        self.below = np.searchsorted(ascending, target, side="left")
        self.upto = np.searchsorted(ascending, target, side="right")
        self.start = 0
        start = self.count - max(FEWEST_IN_TAIL, round(2.0 * self.count**0.5))
        enough = start >= FEWEST_IN_TAIL and ascending[-1] > ascending[start - 1]
        if enough and self.beyond.any():
            self.threshold = float(ascending[start - 1])
            self.start = int(np.searchsorted(ascending, self.threshold, side="right"))
            self.excess = ascending[self.start :] - self.threshold
            self.above = np.flatnonzero(target > self.threshold)
        tail = np.arange(self.start or self.count, self.count)
        self.edges = np.unique(np.concatenate([[0], self.below, self.upto, tail]).astype(np.intp))
        self.edges = self.edges[self.edges < self.count]
        self.sizes = np.diff(self.edges, append=self.count).astype(np.float64)

    def __call__(self, weights: Array) -> Iterator[Array]:
        """``[replicate, target]`` for each crowd.

        Args:
            weights: of the pieces, ``[replicate, piece]``.
        """
        total = np.pad(np.cumsum(weights, axis=1), ((0, 0), (1, 0)))
        everything = total[:, -1:]
        below, upto = (
            total[:, np.searchsorted(self.edges, place)] / everything
            for place in (self.below, self.upto)
        )
        empirical = _first_of(below, upto, self.others[~self.beyond])
        if self.start:
            tail = int(np.searchsorted(self.edges, self.start))
            below, upto = self._with_tail(below, upto, weights[:, tail:], everything)
        extrapolated = _first_of(below, upto, self.others[self.beyond])
        for beyond in self.beyond:
            yield next(extrapolated if beyond else empirical)

    def _with_tail(
        self, below: Array, upto: Array, weights: Array, everything: Array
    ) -> tuple[Array, Array]:
        """Copies of the distribution functions with the fitted tail above the threshold.

        Args:
            below, upto: shares of lower scores, and of those that are not higher,
                ``[replicate, target]``.
            weights: of the tail's scores, ``[replicate, score]``.
            everything: weight of all non-target scores, ``[replicate, 1]``.
        """
        rest = weights.sum(1, keepdims=True)
        shape, scale = _pareto(self.excess, weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            y = (self.target[self.above] - self.threshold) / scale
            fitted = 1.0 - rest / everything * _survival(y, shape)
        fits = (rest > 0.0) & (scale > 0.0)
        below, upto = below.copy(), upto.copy()
        for share in (below, upto):
            share[:, self.above] = np.where(fits, fitted, share[:, self.above])
        return below, upto

    def bounds(self, level: float) -> tuple[Array, Array]:
        """``[size, target]`` with as many higher scores as can be, and with none beyond the last.

        The first takes the upper limit of the exact interval of the share of higher scores.
        """
        higher = (self.count - self.below).astype(np.float64)
        _, most = clopper_pearson(higher, np.full(higher.shape, float(self.count)), level)
        below, upto = self.below / self.count, self.upto / self.count
        return (
            np.stack(list(_first_of(1.0 - most, 1.0 - most, self.others))),
            np.stack(list(_first_of(below, upto, self.others))),
        )


def _first_of(below: Array, upto: Array, others: Array) -> Iterator[Array]:
    """Probability of rank 1 with random ties: (F^N - G^N) / (N (F - G)), G below, F up to s.

    Args:
        below, upto: G and F, ``[...]``.
        others: N - 1 of each crowd.

    Returns:
        ``[...]`` for each crowd.
    """
    with np.errstate(divide="ignore"):
        logarithm = np.log(below)  # one for all powers, which are then a third of the time
    tied = upto > below
    g, f = below[tied], upto[tied]
    for other in others:
        # e^-700 is as good as nothing, and quicker to compute than less
        found = np.exp(np.maximum(other * logarithm, -700.0))
        if g.size:
            people = other + 1.0
            found[tied] = (f**people - g**people) / (people * (f - g))
        yield found


def _pareto(excess: Array, weights: Array) -> tuple[Array, Array]:
    """Shape and scale of generalized Pareto distributions, ``[replicate, 1]``.

    Args:
        excess: ``[score]``, ascending.
        weights: ``[replicate, score]``.
    """
    total = weights.sum(1, keepdims=True)
    rank = np.cumsum(weights, axis=1) - 0.5 * weights
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = weights @ excess[:, None] / total
        lower = (weights * (1.0 - rank / total)) @ excess[:, None] / total
        gap = mean - 2.0 * lower
        shape = np.where(gap > 0.0, np.clip(2.0 - mean / gap, *SHAPES), 0.0)
    return shape, mean * (1.0 - shape)


def _survival(y: Array, shape: Array) -> Array:
    """1 - F of generalized Pareto distributions of scale 1, ``[replicate, score]``."""
    straight = np.abs(shape) < 1e-9
    power = np.where(straight, 1.0, shape)
    base = np.maximum(1.0 + power * y, 0.0)
    return np.where(straight, np.exp(-y), base ** (-1.0 / power))


def chances(llr: float, people: int, recordings: int = 1) -> float:
    """One in how many searches among N people ends with the right person, for a likelihood ratio.

    By Bayes' rule with equal priors, and ratios of the other people whose mean is 1, as it is for
    calibrated ratios: the right person has the share l / (l + N - 1).

    Args:
        llr: log-likelihood ratio of one recording in nats.
        people: N, the speaker included.
        recordings: that speak for the same person; their ratios are multiplied as if they were
            independent, which is the worst case.

    Example:
        >>> chances(0.0, 100), round(chances(math.log(99.0), 100), 6)
        (100.0, 2.0)
    """
    return 1.0 + (people - 1) * math.exp(-min(recordings * llr, 700.0))


def _first(scores: TrialScores) -> Estimate | None:
    if not all(np.isfinite(part).all() for part in (scores.target, scores.nontarget)):
        return None
    return first_among(scores.trials, people=(REPORTED,), **scores.bootstrap).at(REPORTED)


FIRST_AMONG = Metric(
    name=f"first of {REPORTED:,}",
    unit="%",
    better="lower",
    chance=100.0 / REPORTED,
    interval="percentiles of a bootstrap over speakers, the lower limit also by the basic "
    "bootstrap; where all or no recordings come first, or of fewer than five speakers, also "
    "Wilson's with the number of speakers as the number of trials (1927), whose upper limit also "
    "counts where less than one speaker's share comes first; where the crowd is "
    "larger than the number of non-target scores, also the limits of two extreme tails",
    definition=f"Share of recordings whose speaker would come first among {REPORTED:,} people, if "
    "the others score as the non-target trials do",
    data=TrialScores,
    measure=_first,
    display=Display(table="attackers", digits=1),
    scale=100.0,
    originals=True,
)
