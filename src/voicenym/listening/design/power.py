"""How many listeners a test needs, in closed form, and the power of a number of listeners.

A listener's mean difference of two systems is normal with variance 2 (s^2 / k + t^2): s is the
deviation of one rating, k the ratings of each system by a listener, t the deviation by which
listeners differ in their opinion of a system. The number of listeners of a paired t test follows
with Guenther's correction ("Sample size formulas for normal theory t tests", American Statistician
35, 1981).
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from voicenym.errors import VoicenymError

RATING, OPINION = 0.8, 0.3
"""Default deviations on a scale of five: of a rating (0.65 to 0.86 in table 6 of Turner et al.
2022) and between listeners."""
STEPS_OF_FIVE = 4.0
"""Width of that scale; other scales have deviations in proportion."""
_NORMAL = NormalDist()


def spread(difference: float, ratings: int, rating: float, opinion: float) -> float:
    """Deviation of a listener's mean difference of two systems, for a check of the arguments.

    Raises:
        VoicenymError: a difference, deviation or number that is not positive.
    """
    if not (difference > 0.0 and math.isfinite(difference)):
        raise VoicenymError("the difference to find is a positive number of points of the scale")
    if ratings < 1 or rating < 0.0 or opinion < 0.0 or rating + opinion == 0.0:
        raise VoicenymError("power needs a rating of each system at least, and positive deviations")
    return math.sqrt(2.0 * (rating**2 / ratings + opinion**2))


def listeners_needed(
    difference: float,
    ratings: int,
    rating: float = RATING,
    opinion: float = OPINION,
    *,
    comparisons: int = 1,
    level: float = 0.05,
    power: float = 0.8,
) -> int:
    """Listeners with whom a difference of two systems' means is found.

    Args:
        difference: of the means, in points of the scale.
        ratings: of each system by each listener.
        rating, opinion: deviations, in points of the scale.
        comparisons: tests among which errors are shared (Bonferroni's bound, which Holm's method
            never exceeds).
        level: of error of the first kind, two-sided.
        power: probability that the test finds the difference.

    Raises:
        VoicenymError: a difference, deviations or probabilities that no test has.

    Example:
        >>> listeners_needed(0.5, 4)
        18
    """
    deviation = spread(difference, ratings, rating, opinion)
    _check_test(level, power, comparisons)
    alpha, beta = (_NORMAL.inv_cdf(p) for p in (1.0 - level / (2.0 * comparisons), power))
    needed = ((alpha + beta) * deviation / difference) ** 2 + alpha**2 / 2.0
    return max(2, math.ceil(needed))


def listeners_for_share(
    share: float, chance: float, trials: int, *, level: float = 0.05, power: float = 0.8
) -> int:
    """Listeners with whom a share of right answers is told from chance (normal approximation).

    Args:
        share: to be found, above or below chance.
        chance: of a listener who guesses.
        trials: of each listener, taken as independent.

    Raises:
        VoicenymError: shares or probabilities that no test has.

    Example:
        >>> listeners_for_share(0.4, 0.2, 5)
        8
    """
    if not (0.0 < share < 1.0 and 0.0 < chance < 1.0) or share == chance or trials < 1:
        raise VoicenymError("the share to find lies between 0 and 1, and is not that of chance")
    _check_test(level, power)
    alpha, beta = (_NORMAL.inv_cdf(p) for p in (1.0 - level / 2.0, power))
    sides = alpha * math.sqrt(chance * (1 - chance)) + beta * math.sqrt(share * (1 - share))
    return max(2, math.ceil((sides / (share - chance)) ** 2 / trials))


def simulated_power(
    listeners: int,
    difference: float,
    ratings: int,
    rating: float = RATING,
    opinion: float = OPINION,
    *,
    level: float = 0.05,
    studies: int = 4000,
    seed: int = 0,
) -> float:
    """Share of simulated studies in which a paired t test finds the difference.

    Args:
        listeners: of each study.
        studies: how many are simulated.
        seed: of the draws.

    Raises:
        VoicenymError: as :func:`listeners_needed`; fewer than two listeners, or no study.
    """
    from voicenym.libraries import library

    t: type = library("scipy.stats").t
    spread(difference, ratings, rating, opinion)
    _check_test(level)
    if listeners < 2 or studies < 1:
        raise VoicenymError("a t test needs two listeners at least, and its power a study")
    rng = np.random.default_rng(seed)
    means = rng.normal(0.0, opinion, (2, studies, listeners))
    means += rng.normal(0.0, rating, (2, studies, listeners, ratings)).mean(-1)
    found = means[0] - means[1] + difference
    statistic = found.mean(1) / (found.std(1, ddof=1) / math.sqrt(listeners))
    limit = float(t.ppf(1.0 - level / 2.0, listeners - 1))  # type: ignore[attr-defined]
    return float((np.abs(statistic) > limit).mean())


def _check_test(level: float, power: float = 0.5, comparisons: int = 1) -> None:
    if not (0.0 < level < 1.0 and 0.0 < power < 1.0 and comparisons >= 1):
        raise VoicenymError(
            f"level and power are probabilities between 0 and 1, and comparisons 1 or more, not "
            f"{level}, {power} and {comparisons}"
        )
