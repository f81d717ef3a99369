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
