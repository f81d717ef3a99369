"""Limits of figures of information where hardly a trial is an error.

Where scores separate all trials, so do those of every replicate of a bootstrap, and an interval of
percentiles has no width, however few the speakers are. But a share of errors of 0 has an upper
limit (Wilson 1927), and scores with an equal error rate e hold at least the information of a
decision that is wrong in a share e of the trials of both kinds: their cost is at most h2(e) bit.

The rule holds where fewer than one speaker's trials are errors, since hardly a replicate of few
speakers then holds more of them than the trials do.
"""

from __future__ import annotations

import math

from voicenym.metrics.intervals.binomial import wilson
from voicenym.metrics.trials.sorted_trials import SortedTrials
from voicenym.metrics.verification.eer import crossing

EVEN = 0.5
"""Error rate of a decision that says nothing."""


def error_limit(trials: SortedTrials, level: float = 0.95) -> float | None:
    """Upper limit of the equal error rate on the hull; None where more than one speaker's trials
    are errors.

    Trials of one speaker may be alike; so the speakers count, not the trials.

    Args:
        trials: sorted.
        level: of the interval.

    Example:
        >>> round(error_limit(SortedTrials([2.0] * 20, [0.0, 1.0])), 3)
        0.161
        >>> error_limit(SortedTrials([0.0, 1.0], [0.0, 1.0]))
    """
    error = crossing(trials.pooled[0])[0]
    people = trials.people
    if error * people >= 1.0:
        return None
    return min(wilson(error * people, people, level)[1], EVEN)


def decision_llr(error: float) -> float:
    """Log-likelihood ratio in nats of a decision for the same speaker; its negative is that of one
    against.

    Args:
        error: share of wrong decisions of both kinds, above 0 and at most 0.5.

    Example:
        >>> round(decision_llr(0.25), 3), decision_llr(0.5)
        (1.099, 0.0)
    """
    return math.log((1.0 - error) / error)
