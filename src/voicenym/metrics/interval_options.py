"""Options of intervals: whether one is made, its level, and the replicates of a bootstrap."""

from __future__ import annotations

import math
from numbers import Integral
from statistics import NormalDist
from typing import Literal

from voicenym.errors import ScoreError

Method = Literal["auto"] | None
"""How a metric's interval is made: by its own method, or (None) not at all, which saves the time of
a bootstrap; its limits are then NaN."""


def is_made(interval: Method) -> bool:
    """Whether a metric makes its interval.

    Raises:
        ScoreError: it is neither "auto" nor None, such as a level.

    Example:
        >>> is_made("auto"), is_made(None)
        (True, False)
    """
    if interval is None:
        return False
    if isinstance(interval, str) and interval == "auto":
        return True
    raise ScoreError(
        f'an interval is "auto", for the metric\'s own, or None, for none, not {interval!r}; its '
        "level is another option: level=0.95"
    )


def tail(level: float) -> float:
    """Share of a distribution beyond each limit of an interval.

    Raises:
        ScoreError: the level is no share above 0, of 1 at most.

    Example:
        >>> round(tail(0.95), 3)
        0.025
    """
    try:
        inside = 0.0 < level <= 1.0
    except TypeError:  # a text, an array
        inside = False
    if not inside:
        raise ScoreError(f"a level is a share above 0, of 1 at most, such as 0.95, not {level!r}")
    return (1.0 - level) / 2.0


def normal_quantile(level: float) -> float:
    """Half the width, in standard deviations, of a normal distribution's middle ``level``.

    Raises:
        ScoreError: as :func:`tail`.

    Example:
        >>> round(normal_quantile(0.95), 2)
        1.96
    """
    if not tail(level):  # all of it, without limits
        return math.inf
    return NormalDist().inv_cdf(0.5 + level / 2.0)


def student_quantile(level: float, degrees: int) -> float:
    """The same of Student's distribution, by Cornish and Fisher's expansion.

    It is 0.3 % too low at 4 degrees of freedom and less at more, and needs no scipy.

    Args:
        level: of the interval.
        degrees: of freedom, from 1.

    Raises:
        ScoreError: as :func:`tail`.

    Example:
        >>> round(student_quantile(0.95, 9), 2), round(student_quantile(0.95, 10**6), 2)
        (2.26, 1.96)
    """
    z = normal_quantile(level)
    if math.isinf(z):
        return z
    terms = (
        (z**3 + z) / 4.0,
        (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0,
        (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0,
    )
    return z + sum(term / float(degrees) ** power for power, term in enumerate(terms, 1))


def few_speakers_factor(people: int, level: float) -> float:
    """How much wider an interval of few speakers is than the spread of a bootstrap over them.

    sqrt(n / (n - 1)) t / z: a bootstrap takes the variance of n speakers without Bessel's
    correction, and as known (Hesterberg, "What teachers should know about the bootstrap", American
    Statistician 69, 2015).

    Args:
        people: number of speakers, n.
        level: of the interval.

    Raises:
        ScoreError: as :func:`tail`.

    Example:
        >>> round(few_speakers_factor(10, 0.95), 2), round(few_speakers_factor(1000, 0.95), 2)
        (1.22, 1.0)
    """
    z = normal_quantile(level)
    if people < 2 or math.isinf(z):
        return 1.0
    return math.sqrt(people / (people - 1.0)) * student_quantile(level, people - 1) / z


def checked_replicates(replicates: int) -> int:
    """A number of draws.

    Raises:
        ScoreError: it is no whole number from 1.
    """
    if not isinstance(replicates, Integral) or isinstance(replicates, bool) or replicates < 1:
        raise ScoreError(
            f"replicates are a whole number from 1, such as 1000, not {replicates!r}; "
            "interval=None leaves the interval out, where a metric has that option"
        )
    return int(replicates)
