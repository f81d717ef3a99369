"""V-Cloak's rates at a threshold: how often a person is not, or wrongly, recognised.

Deng et al., "V-Cloak", USENIX Security 2023, section 5.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from voicenym.metrics.interval import Interval
from voicenym.metrics.scores import Scores, check


@dataclass(frozen=True)
class Rate:
    """A share of trials with Wilson's interval, which takes trials as independent."""

    value: float
    interval: Interval
    unit: str = "share"


def miss_match_rate(target: Scores, threshold: float, level: float = 0.95) -> Rate:
    """MMR: share of target trials below the threshold at which the verifier works.

    Args:
        target: scores of anonymized speech against its own speaker.
        threshold: fixed on original speech, such as :func:`voicenym.metrics.eer`'s.

    Example:
        >>> miss_match_rate([0.1, 0.9, 0.2, 0.3], 0.25).value
        0.5
    """
    scores, _ = check(target, [0.0])
    return _share(int((scores < threshold).sum()), scores.size, level)


def wrong_match_rate(nontarget: Scores, threshold: float, level: float = 0.95) -> Rate:
    """WMR: share of non-target trials at or above the threshold.

    Args:
        nontarget: scores of anonymized speech against other speakers.
        threshold: as for :func:`miss_match_rate`.
    """
    scores, _ = check(nontarget, [0.0])
    return _share(int(np.sum(scores >= threshold)), scores.size, level)


def _share(hits: int, trials: int, level: float) -> Rate:
    """Wilson, "Probable inference, the law of succession, and statistical inference", 1927."""
    z = NormalDist().inv_cdf(0.5 + level / 2.0)
    p = hits / trials
    centre = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials**2))
    return Rate(p, (max(0.0, centre - half), min(1.0, centre + half)))
