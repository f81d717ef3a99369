"""Curves to draw: ROC and DET."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voicenym.errors import DependencyError
from voicenym.metrics.scores import Array, Scores, Sorted

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


def roc(target: Scores, nontarget: Scores) -> Curve:
    """Miss and false-alarm rates at every threshold, from accepting all to accepting none.

    Args:
        target, nontarget: scores.

    Raises:
        ScoreError: NaN, or a class without trials.

    Example:
        >>> roc([1.0], [0.0]).miss
        array([0., 0., 1.])
    """
    scores = Sorted.of(target, nontarget)
    miss, alarm = scores.rates()
    return Curve(alarm, miss, np.append(scores.thresholds, np.inf))


def det(target: Scores, nontarget: Scores) -> Curve:
    """The same on axes of normal deviates, on which Gaussian scores give a straight line.

    Martin et al., "The DET curve in assessment of detection task performance", Eurospeech 1997.

    Args:
        target, nontarget: scores.

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
