"""Curves to draw: ROC and DET."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voicenym.errors import DependencyError
from voicenym.metrics.intervals.interval import Seed, percentiles
from voicenym.metrics.trials.scores import Array, Scores, Speakers, error_rates
from voicenym.metrics.trials.sorted_trials import SortedTrials

LEAST = 1e-5
"""Rates are drawn on a normal-deviate axis no nearer to 0 and 1 than this."""


@dataclass(frozen=True)
class Curve:
    """Error rates over all thresholds.

    Args:
        alarm: false-alarm rates, falling (for :func:`det`, normal deviates of them).
        miss: miss rates, rising.
        thresholds: scores at and above which trials are accepted; the last is infinite.
    """

    alarm: Array
    miss: Array
    thresholds: Array


@dataclass(frozen=True)
class Band:
    """Pointwise confidence band of a ROC, over speakers.

    Args:
        alarm: ``[point]`` false-alarm rates, rising.
        low, high: ``[point]`` limits of the miss rate there.
    """

    alarm: Array
    low: Array
    high: Array
    unit: str = "share"


def roc_band(
    target: Scores | SortedTrials,
    nontarget: Scores | None = None,
    speakers: Speakers | None = None,
    *,
    alarm: Scores | None = None,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
) -> Band:
    """Interval of the miss rate at each of some false-alarm rates, by bootstrap.

    Args:
        target, nontarget: scores; or :class:`.SortedTrials` alone.
        speakers: of the trials; None takes trials as independent.
        alarm: rates, rising; by default 100 that are evenly spread on the axis of a DET.
        level, replicates, seed: of the bootstrap.

    Raises:
        ScoreError: NaN, or a class without trials.

    Example:
        >>> found = roc_band([1.0, 2.0], [0.0], alarm=[0.0, 1.0], replicates=9)
        >>> found.low, found.high
        (array([0., 0.]), array([0., 0.]))
    """
    places = _spread() if alarm is None else np.asarray(alarm, dtype=np.float64)
    trials = SortedTrials.of(target, nontarget, speakers)
    drawn = trials.replicates(replicates, seed).each(lambda t, n: _misses(t, n, places))
    limits = np.array([percentiles(column, level) for column in drawn.T])
    return Band(places, limits[:, 0], limits[:, 1])


def _misses(target: Array, nontarget: Array, places: Array) -> Array:
    """Miss rates of replicates at false-alarm rates, ``[replicate, rate]``."""
    miss, alarm = error_rates(target, nontarget)
    rows, width = miss.shape
    # one ascending sequence: rates rise from right to left and by 2 from row to row
    rising = (alarm[:, ::-1] + 2.0 * np.arange(rows)[:, None]).ravel()
    wanted = places + 1e-9 + 2.0 * np.arange(rows)[:, None]
    # the lowest threshold whose false alarms are not more
    allowed = np.searchsorted(rising, wanted, side="right") - width * np.arange(rows)[:, None]
    return np.asarray(np.take_along_axis(miss, width - allowed, axis=1))


def _spread() -> Array:
    logit = np.linspace(-9.0, 9.0, 100)  # as good as normal deviates, and without scipy
    rates: Array = 1.0 / (1.0 + np.exp(-logit))
    return rates


def roc(target: Scores | SortedTrials, nontarget: Scores | None = None) -> Curve:
    """Miss and false-alarm rates at every threshold, from accepting all to accepting none.

    Args:
        target, nontarget: scores; or :class:`.SortedTrials` alone.

    Raises:
        ScoreError: NaN, or a class without trials.

    Example:
        >>> roc([1.0], [0.0]).miss
        array([0., 0., 1.])
    """
    scores = SortedTrials.of(target, nontarget).whole
    miss, alarm = scores.rates()
    return Curve(alarm, miss, np.append(scores.thresholds, np.inf))


def det(target: Scores | SortedTrials, nontarget: Scores | None = None) -> Curve:
    """The same on axes of normal deviates, on which Gaussian scores give a straight line.

    Martin et al., "The DET curve in assessment of detection task performance", Eurospeech 1997.

    Args:
        target, nontarget: scores; or :class:`.SortedTrials` alone.

    Raises:
        ScoreError: NaN, or a class without trials.
        DependencyError: no scipy.

    Example:
        >>> det([1.0, 2.0], [0.0, 1.0]).miss.round(2)
        array([-4.26, -4.26,  0.  ,  4.26])
    """
    try:
        from scipy.special import ndtri
    except ImportError as error:
        raise DependencyError("DET needs scipy: pip install 'voicenym[evaluate]'") from error
    curve = roc(target, nontarget)
    alarm, miss = (ndtri(np.clip(rate, LEAST, 1.0 - LEAST)) for rate in (curve.alarm, curve.miss))
    return Curve(alarm, miss, curve.thresholds)
