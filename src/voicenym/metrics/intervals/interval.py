"""Bootstrap intervals over speakers: the variation of a figure between samples of speakers.

Trials that share a speaker are not independent. Therefore speakers are drawn with replacement, and
all of their trials with them. A trial's weight in a replicate is how often its
enrolment's and its trial's speaker were drawn, multiplied (once where they are the same person).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.interval_options import checked_replicates, tail
from voicenym.metrics.trials.scores import Array, Scores, Sorted, Speakers, check, places

Interval = tuple[float, float]
Statistic = Callable[[Sorted], float]
Seed = int | np.random.Generator
Places = npt.NDArray[np.integer]
PAIRS = 1 << 16
"""Pairs of speakers whose weights are looked up in a table, 512 KB, however few the trials are."""
NO_LIMITS: Interval = (math.nan, math.nan)
FEW_PEOPLE = 5
"""Speakers below which a bootstrap has too few different draws for an interval of 95 %: four have
35, whose tails of 2.5 % are less than one draw, and two have one draw with trials of both kinds."""


def bootstrap(
    statistic: Statistic,
    target: Scores,
    nontarget: Scores,
    speakers: Speakers | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
    order_only: bool = False,
) -> Interval:
    """Percentile interval of a statistic of weighted scores.

    Args:
        statistic: from scores whose counts are weights; the order of trials does not matter to it.
        target, nontarget: scores.
        speakers: of the trials; None takes trials as independent.
        level: of the interval.
        replicates: draws.
        seed: of the draws, or a generator, which is then advanced.
        order_only: see :func:`resampled`.

    Returns:
        Lower and upper limit.

    Raises:
        ScoreError: NaN, a class without trials, or speakers that do not fit the trials.

    Example:
        >>> def accepted(scores):
        ...     return float(scores.target[scores.thresholds > 0].sum() / scores.target.sum())
        >>> bootstrap(accepted, [1.0, 2.0], [-1.0], replicates=9)
        (1.0, 1.0)
    """
    # one at a time: all replicates of a large set of trials are gigabytes
    draws = resampled(
        target, nontarget, speakers, replicates=replicates, seed=seed, order_only=order_only
    )
    return percentiles([statistic(draw) for draw in draws], level)


def percentiles(values: list[float] | Array, level: float = 0.95) -> Interval:
    """The middle ``level`` of values; those that are not numbers are left out."""
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if not known.size:
        return NO_LIMITS
    beyond = tail(level)
    # "lower" and "higher" give values that occurred, so that infinities do not become NaN
    low = np.quantile(known, beyond, method="lower")
    high = np.quantile(known, 1.0 - beyond, method="higher")
    return float(low), float(high)


def enough(people: int, interval: Interval) -> Interval:
    """An interval by bootstrap over speakers; none where they are fewer than :data:`FEW_PEOPLE`.

    The draws of two speakers lie between the figures of both, or are all alike: they would hold the
    truth in half of all cases, or in none.

    Args:
        people: number of speakers.
        interval: from the draws.

    Example:
        >>> enough(5, (0.1, 0.2)), enough(4, (0.1, 0.2))
        ((0.1, 0.2), (nan, nan))
    """
    return interval if people >= FEW_PEOPLE else NO_LIMITS


def varied(interval: Interval) -> Interval:
    """An interval by bootstrap; none where all draws are alike, which says nothing of others.

    Args:
        interval: from the draws.

    Example:
        >>> varied((0.1, 0.2)), varied((1.0, 1.0))
        ((0.1, 0.2), (nan, nan))
    """
    return NO_LIMITS if math.isclose(*interval, rel_tol=1e-9, abs_tol=1e-12) else interval


def ratio_of_sums(
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    speakers: Sequence[str] | np.ndarray,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
) -> Interval:
    """Interval of sum(numerators) / sum(denominators), speakers being drawn: error rates, means.

    Args:
        numerators, denominators: ``[recording]``.
        speakers: of each recording.
        level: of the interval.
        replicates, seed: of the bootstrap.

    Returns:
        Lower and upper limit; NaN with fewer than :data:`FEW_PEOPLE` speakers.

    Example:
        >>> ratio_of_sums([1, 3, 2, 2, 2], [1, 1, 1, 1, 1], ["ann", "bob", "cy", "di", "eve"])
        (1.4, 2.6)
        >>> ratio_of_sums([1, 3], [1, 1], ["ann", "bob"])
        (nan, nan)
    """
    people = len(np.unique(np.asarray(speakers)))
    if people < FEW_PEOPLE:
        return NO_LIMITS
    drawn = drawn_ratios(numerators, denominators, speakers, replicates=replicates, seed=seed)
    return percentiles(drawn, level)


def drawn_ratios(
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    speakers: Sequence[str] | np.ndarray,
    *,
    replicates: int = 1000,
    seed: Seed = 0,
) -> Array:
    """sum(numerators) / sum(denominators) of drawn speakers, ``[replicate]``.

    Args:
        numerators, denominators, speakers, replicates, seed: as for :func:`ratio_of_sums`.
    """
    names, index = np.unique(np.asarray(speakers), return_inverse=True)
    pairs = np.stack([np.asarray(numerators, float), np.asarray(denominators, float)], axis=1)
    people = np.zeros((len(names), 2))
    np.add.at(people, index, pairs)
    drawn = np.random.default_rng(seed).integers(
        0, len(people), (checked_replicates(replicates), len(people))
    )
    above, below = people[drawn].sum(1).T
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = above / below
    return found


def resampled(
    target: Scores,
    nontarget: Scores,
    speakers: Speakers | None = None,
    *,
    replicates: int = 1000,
    seed: Seed = 0,
    order_only: bool = False,
) -> Iterator[Sorted]:
    """Replicates of scores; sorting is done once, a replicate only weighs the trials anew.

    A replicate that has lost all trials of a class (few speakers) is drawn again. The arrays of a
    replicate are overwritten by the next one.

    Args:
        target, nontarget: scores.
        speakers: of the trials; None takes trials as independent.
        replicates: how many.
        seed: of the draws, or a generator, which is then advanced.
        order_only: what is computed depends on the order of the scores and not on their values
            (EER, hull, PAV). Runs of one class are then one point each, which changes nothing and
            leaves less to compute; ``thresholds`` are where they begin.

    Raises:
        ScoreError: NaN, a class without trials, or speakers that do not fit the trials.
    """
    t, n = check(target, nontarget)
    thresholds, at_t, at_n = places(t, n)
    order_t, order_n = (np.argsort(at, kind="stable") for at in (at_t, at_n))
    at_t, at_n = at_t[order_t], at_n[order_n]
    if order_only:
        counts = (np.bincount(at, minlength=len(thresholds)) for at in (at_t, at_n))
        begin = Sorted(thresholds, *(count.astype(np.float64) for count in counts)).runs()
        at_t, at_n = (np.searchsorted(begin, at, side="right") - 1 for at in (at_t, at_n))
        thresholds = thresholds[begin]
    if speakers is not None:
        _fit(speakers, t.size, n.size)
        speakers = Speakers(speakers.target[order_t], speakers.nontarget[order_n])
    for weights in _weighted(at_t, at_n, len(thresholds), speakers, replicates, seed):
        yield Sorted(thresholds, *weights)


def _fit(speakers: Speakers, targets: int, nontargets: int) -> None:
    if len(speakers.target) != targets or len(speakers.nontarget) != nontargets:
        raise ScoreError(
            f"speakers of {len(speakers.target)} and {len(speakers.nontarget)} trials do not "
            f"fit {targets} target and {nontargets} non-target scores"
        )


def _weighted(
    at_t: Places,
    at_n: Places,
    count: int,
    speakers: Speakers | None,
    replicates: int,
    seed: Seed,
) -> Iterator[tuple[Array, Array]]:
    """Weights ``[count]`` of both classes; trials ascend, so that sums go through memory once."""
    rng = np.random.default_rng(seed)
    if speakers is None:
        weigh = _by_trial(at_t.size, at_n.size, rng)
    else:
        weigh = _by_speaker(speakers.target, speakers.nontarget, rng)
    sum_t, sum_n = _adder(at_t, count), _adder(at_n, count)
    for _ in range(checked_replicates(replicates)):
        while True:
            weight_t, weight_n = weigh()
            if weight_t.any() and weight_n.any():
                break
        yield sum_t(weight_t), sum_n(weight_n)


def _adder(at: Places, count: int) -> Callable[[Array], Array]:
    """Adds weights of trials at the same place, ``at`` ascending, into one array ``[count]``.

    The array is the same in every call: a fresh one of some megabytes costs the system more time
    than the sums do.
    """
    begin = np.flatnonzero(np.append(True, at[1:] != at[:-1]))
    there = at[begin]
    found = np.zeros(count)
    if len(begin) == len(at):  # no ties

        def add(weights: Array) -> Array:
            found[there] = weights
            return found

    else:

        def add(weights: Array) -> Array:
            found[there] = np.add.reduceat(weights, begin)
            return found

    return add


def _by_trial(
    targets: int, nontargets: int, rng: np.random.Generator
) -> Callable[[], tuple[Array, Array]]:
    def weigh() -> tuple[Array, Array]:
        drawn = (
            np.bincount(rng.integers(0, size, size), minlength=size)
            for size in (targets, nontargets)
        )
        first, second = (weights.astype(np.float64) for weights in drawn)
        return first, second

    return weigh


def _by_speaker(
    target: np.ndarray, nontarget: np.ndarray, rng: np.random.Generator
) -> Callable[[], tuple[Array, Array]]:
    names, index = np.unique(np.concatenate([target, nontarget]), return_inverse=True)
    count = len(names)
    first, second = index.reshape(-1, 2).T
    halves = slice(0, len(target)), slice(len(target), None)
    weights = np.empty(len(target)), np.empty(len(nontarget))
    if count * count > max(len(first), PAIRS):  # a table of all pairs would be larger than they are
        same = first == second

        def weigh_each() -> tuple[Array, Array]:
            times = np.bincount(rng.integers(0, count, count), minlength=count)
            both = times[first] * np.where(same, 1, times[second])
            for half, out in zip(halves, weights, strict=True):
                out[:] = both[half]
            return weights

        return weigh_each
    pair = first * count + second

    def weigh() -> tuple[Array, Array]:
        drawn = rng.integers(0, count, count)
        times = np.bincount(drawn, minlength=count).astype(np.float64)
        both = np.outer(times, times)  # looked up by pair: small enough for the cache
        np.fill_diagonal(both, times)
        for half, out in zip(halves, weights, strict=True):
            np.take(both, pair[half], out=out, mode="clip")  # other modes go by a copy
        return weights

    return weigh


def bengio_mariethoz(miss: float, alarm: float, targets: int, nontargets: int, z: float) -> float:
    """Half width of an interval of the half total error rate, for independent trials.

    z sqrt(FAR (1 - FAR) / (4 N_n) + FRR (1 - FRR) / (4 N_t)): Bengio and Mariéthoz, "A statistical
    significance test for person authentication", Odyssey 2004, as Tomashenko et al. use it for the
    VoicePrivacy 2020 Challenge. Too narrow where speakers recur.

    Args:
        miss, alarm: rates at the threshold.
        targets, nontargets: numbers of trials.
        z: 1.645, 1.960 or 2.576 for 90, 95 or 99 %.

    Example:
        >>> round(bengio_mariethoz(0.1, 0.1, 100, 10_000, 1.96), 4)
        0.0295
    """
    return z * math.sqrt(
        alarm * (1.0 - alarm) / (4.0 * nontargets) + miss * (1.0 - miss) / (4.0 * targets)
    )
