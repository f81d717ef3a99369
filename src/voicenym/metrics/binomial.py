"""Exact intervals of a share of few independent trials, and of the largest of several shares."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voicenym.errors import DependencyError, ScoreError
from voicenym.metrics.interval import Interval


def clopper_pearson(
    hits: npt.ArrayLike, trials: npt.ArrayLike, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits that hold the true share at least as often as ``level`` says.

    Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial", Biometrika 26 (1934): tests of both sides at half of the error, inverted.

    Args:
        hits, trials: counts ``[...]``; hits that are shares of a trial are rounded away from the
            limit, so that the interval is not too narrow.
        level: of the interval.

    Raises:
        ScoreError: no trials, or more hits than trials.
        DependencyError: no scipy.

    Example:
        >>> low, high = clopper_pearson(6, 6)
        >>> round(float(low), 3), float(high)
        (0.541, 1.0)
    """
    try:
        from scipy.special import betaincinv
    except ImportError as error:
        raise DependencyError("exact intervals need scipy: pip install 'voicenym[evaluate]'") from (
            error
        )
    k, n = (np.asarray(x, dtype=np.float64) for x in (hits, trials))
    if not ((n > 0) & (k >= 0) & (k <= n)).all():
        raise ScoreError(f"{k.tolist()} hits of {n.tolist()} trials are no share")
    tail = (1.0 - level) / 2.0
    down, up = np.floor(k), np.ceil(k)
    with np.errstate(invalid="ignore"):
        low = np.where(down > 0, betaincinv(np.maximum(down, 1), n - down + 1, tail), 0.0)
        high = np.where(up < n, betaincinv(up + 1, np.maximum(n - up, 1), 1.0 - tail), 1.0)
    return low, high


def of_largest(hits: npt.ArrayLike, trials: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Interval of the largest true share of several groups, such as speakers.

    The largest observed share is too large by chance: of 100 speakers with a true share of a half
    and six trials each, one or two are found in all. Each group has an exact interval at the level
    that Bonferroni's inequality asks for, 1 - (1 - level) / groups; then the largest of all lower
    limits and the largest of all upper limits hold the largest true share.

    Args:
        hits, trials: counts ``[group]``.
        level: of the interval.

    Raises:
        ScoreError: no groups, or as of :func:`clopper_pearson`.

    Example:
        >>> low, high = of_largest([6, 0], [6, 6])
        >>> round(low, 2), high
        (0.48, 1.0)
    """
    count = np.size(hits)
    if not count:
        raise ScoreError("there are no groups, and so no largest share")
    low, high = clopper_pearson(hits, trials, 1.0 - (1.0 - level) / count)
    return float(low.max()), float(high.max())
