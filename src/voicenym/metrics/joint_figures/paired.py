"""Paired bootstrap test of the difference between two systems on the same speakers.

Some people are easy to find whatever hides them; what two systems share of that does not count
against their difference. Each replicate draws speakers once, for both (Bisani and Ney, "Bootstrap
estimates for confidence intervals in ASR performance evaluation", ICASSP 2004, draw so).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np

from voicenym.metrics.intervals.binomial import of_share
from voicenym.metrics.intervals.bootstrap_draws import Drawn, replicate
from voicenym.metrics.intervals.interval import FEW_PEOPLE, Interval, enough, percentiles
from voicenym.metrics.trials.scores import Scores, Speakers
from voicenym.metrics.verification.eer import WORTH, equal_error


@dataclass(frozen=True)
class Difference:
    """Difference of a figure between two systems.

    Args:
        value: second minus first.
        interval: lower and upper limit, by bootstrap over speakers, the same for both; NaN for
            fewer than five speakers.
        p: two-sided, of no difference: the value over the deviation of the replicates'
            differences, taken as normal; NaN for fewer than five speakers, whose draws hardly
            differ (those of two not at all, so that any difference would look certain).
        unit: of the figure.
    """

    value: float
    interval: Interval
    p: float
    unit: str = "share"


def eer_difference(
    first: tuple[Scores, Scores, Speakers],
    second: tuple[Scores, Scores, Speakers],
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> Difference:
    """Equal error rate of the second minus that of the first.

    Args:
        first, second: target scores, non-target scores and who speaks in them; numbers of speakers
            mean the same in both. The trials may be others.
        level, replicates, seed: of the bootstrap.

    Raises:
        ScoreError: NaN, a class without trials, or speakers that do not fit the trials.

    Example:
        >>> who = Speakers(np.array([[0, 0], [1, 1]]), np.array([[0, 1], [1, 0]]))
        >>> separated, mixed = ([2.0, 3.0], [0.0, 1.0], who), ([0.0, 2.0], [1.0, 3.0], who)
        >>> found = eer_difference(separated, mixed, replicates=99)
        >>> found.value, found.p  # two speakers show nothing
        (0.5, nan)
    """
    pair = [equal_error(*first), equal_error(*second)]
    return differences(pair, level=level, replicates=replicates, seed=seed)[0, 1]


def differences(
    figures: Sequence[Drawn],
    *,
    unit: str = "share",
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> dict[tuple[int, int], Difference]:
    """Of all pairs of figures, by their places ``(first, second)``; each is drawn once.

    Where all draws of each of two shares of trials are alike, as of two systems without an error,
    percentiles of the difference have no width. Its interval is then that of a difference of
    independent estimates, from the intervals of both (Zou and Donner, "Construction of confidence
    limits about effect measures", Statistics in Medicine 27, 2008), and p follows from its width.

    Args:
        figures: of systems that were tried on the same speakers.
        unit: of the figures.
        level, replicates, seed: of the bootstrap.
    """
    draws = replicate(figures, replicates, seed)
    found = {}
    for i, j in combinations(range(len(figures)), 2):
        value = figures[j].value - figures[i].value
        with np.errstate(invalid="ignore"):
            difference = draws[j] - draws[i]
        known = difference[np.isfinite(difference)]
        people = min(len(figures[place].speakers) for place in (i, j))
        low, high = percentiles(difference, level)
        deviation = _deviation(known)
        if all(figures[place].trials and _alike(draws[place]) for place in (i, j)):
            below, above = _independent(figures[i], figures[j], draws[i], draws[j], level)
            low, high = value - below, value + above
            towards = below if value > 0.0 else above
            deviation = towards / NormalDist().inv_cdf(0.5 + level / 2.0)
        chance = math.nan if people < FEW_PEOPLE else two_sided(value, deviation)
        found[i, j] = Difference(value, enough(people, (low, high)), chance, unit)
    return found


def _alike(draws: np.ndarray) -> bool:
    """Whether replicates have no spread."""
    known = draws[np.isfinite(draws)]
    return known.size > 0 and bool(known.max() == known.min())


def _independent(
    first: Drawn, second: Drawn, of_first: np.ndarray, of_second: np.ndarray, level: float
) -> Interval:
    """How far the second minus the first reaches below and above its value, if independent."""
    (low, high), (lower, upper) = (
        of_share(one.value, draws, len(one.speakers), one.trials, level, worth=WORTH)
        for one, draws in ((first, of_first), (second, of_second))
    )
    return (
        math.hypot(second.value - lower, high - first.value),
        math.hypot(upper - second.value, first.value - low),
    )


def two_sided(value: float, deviation: float) -> float:
    """Chance of a normal variable of mean 0 to be as far from it; NaN where nothing is known.

    Example:
        >>> round(two_sided(1.96, 1.0), 3), two_sided(0.0, 0.0), two_sided(1.0, 0.0)
        (0.05, 1.0, 0.0)
    """
    if math.isnan(value) or math.isnan(deviation):
        return math.nan
    if deviation <= 0.0:
        return 0.0 if value else 1.0
    return 2.0 * NormalDist().cdf(-abs(value) / deviation)


def _deviation(draws: np.ndarray) -> float:
    return float(draws.std(ddof=1)) if draws.size > 1 else math.nan
