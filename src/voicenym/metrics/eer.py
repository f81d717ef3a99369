"""Equal error rate, on the steps of the ROC and on its convex hull."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from voicenym.metrics.interval import Interval, Seed, bengio_mariethoz, bootstrap
from voicenym.metrics.pav import joined_steps
from voicenym.metrics.scores import Array, Scores, Sorted, Speakers, check


@dataclass(frozen=True)
class EER:
    """Where misses are as frequent as false alarms.

    Args:
        value: share, 0 to 1; 0.5 is chance, more says that scores point the wrong way.
        interval: lower and upper limit.
        threshold: score at and above which trials are accepted.
        method: how the interval was made.
    """

    value: float
    interval: Interval
    threshold: float
    method: str
    unit: str = "share"


def eer(
    target: Scores,
    nontarget: Scores,
    speakers: Speakers | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
) -> EER:
    """Equal error rate with its interval.

    Equal scores are accepted or rejected together, so ties never look like separation; between
    two thresholds the rates are interpolated linearly.

    Args:
        target, nontarget: scores, in any order.
        speakers: of the trials: the interval is then a bootstrap over speakers; without, it is
            Bengio and Mariéthoz's for independent trials, which is too narrow where speakers recur.
        level: of the interval.
        replicates, seed: of the bootstrap.

    Raises:
        ScoreError: NaN, or a class without trials.

    Example:
        >>> found = eer([2.0, 3.0, 4.0], [0.0, 1.0, 2.5])
        >>> round(found.value, 4), found.threshold
        (0.3333, 2.5)
    """
    t, n = check(target, nontarget)
    scores = Sorted.of(t, n)
    value, threshold = crossing(scores)
    if speakers is not None:
        interval = bootstrap(
            lambda draw: crossing(draw)[0],
            t,
            n,
            speakers,
            level=level,
            replicates=replicates,
            seed=seed,
            order_only=True,
        )
        return EER(value, interval, threshold, "bootstrap over speakers")
    z = NormalDist().inv_cdf(0.5 + level / 2.0)
    half = bengio_mariethoz(value, value, t.size, n.size, z)
    interval = (max(0.0, value - half), min(1.0, value + half))
    return EER(value, interval, threshold, "Bengio and Mariéthoz, independent trials")


def crossing(scores: Sorted) -> tuple[float, float]:
    """Equal error rate of weighted scores, and its threshold."""
    value, after = _meeting(*scores.rates())
    last = len(scores.thresholds) - 1
    return value, float(scores.thresholds[min(after, last)])


def _meeting(miss: Array, alarm: Array) -> tuple[float, int]:
    """Where rising misses meet falling alarms, and the first point at or behind it."""
    after = int(np.argmax(miss >= alarm))  # at the last one all is rejected: it always exists
    before = max(after - 1, 0)
    gap = (alarm[before] - miss[before]) + (miss[after] - alarm[after])
    share = (alarm[before] - miss[before]) / gap if gap > 0 else 0.0
    return float(miss[before] + share * (miss[after] - miss[before])), after


@dataclass(frozen=True)
class HullEER:
    """Equal error rate on the convex hull of the ROC.

    Args:
        value: share, 0 to 0.5.
        interval: lower and upper limit, by bootstrap.
    """

    value: float
    interval: Interval
    unit: str = "share"


def rocch_eer(
    target: Scores,
    nontarget: Scores,
    speakers: Speakers | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
) -> HullEER:
    """Equal error rate on the convex hull of the ROC: what the best monotone decision reaches.

    At most 0.5. Brümmer and de Villiers, "The BOSARIS toolkit", 2013; paper 4, section 4.1.

    Args:
        target, nontarget: scores.
        speakers: of the trials, for the interval; None takes trials as independent.
        level, replicates, seed: of the bootstrap.

    Raises:
        ScoreError: NaN, or a class without trials.

    Example:
        >>> round(rocch_eer([0.0, 1.0], [2.0, 3.0], replicates=2).value, 3)
        0.5
    """
    interval = bootstrap(
        hull_eer,
        target,
        nontarget,
        speakers,
        level=level,
        replicates=replicates,
        seed=seed,
        order_only=True,
    )
    return HullEER(hull_eer(Sorted.of(target, nontarget)), interval)


def hull(scores: Sorted) -> tuple[Array, Array]:
    """Miss and false-alarm rates at the vertices of the ROC's convex hull.

    The hull's edges are the blocks that isotonic regression of the labels on the scores pools.
    """
    blocks, _ = joined_steps(scores)
    return blocks.rates()


def hull_eer(scores: Sorted) -> float:
    """Value of :func:`rocch_eer`, of weighted scores."""
    return _meeting(*hull(scores))[0]
