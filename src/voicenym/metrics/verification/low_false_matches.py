"""True-match rates at low false-match rates, for attackers who must avoid false matches.

An equal error rate near 50 % and a true-match rate of 10 % at one false match in a thousand are
compatible: few speakers are found, but these for sure.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from voicenym.errors import ScoreError
from voicenym.metrics.interval_options import Method, is_made
from voicenym.metrics.intervals.binomial import of_share
from voicenym.metrics.intervals.interval import NO_LIMITS, Interval, Seed
from voicenym.metrics.metric import BOOTSTRAP_OF_SHARE, Display, Metric
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.metrics.trials.scores import Array, Scores, Speakers, error_rates
from voicenym.metrics.trials.sorted_trials import SortedTrials

RATES = (0.01, 0.001)
"""False-match rates that are reported."""


@dataclass(frozen=True)
class TrueMatchRate:
    """Share of target trials that are accepted at a threshold of a given false-match rate.

    Args:
        value: 0 to 1.
        interval: lower and upper limit.
        false_match_rate: at the threshold.
    """

    value: float
    interval: Interval
    false_match_rate: float
    unit: str = "share"


def true_match_rates(
    target: Scores | SortedTrials,
    nontarget: Scores | None = None,
    speakers: Speakers | None = None,
    *,
    rates: tuple[float, ...] = RATES,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
    interval: Method = "auto",
) -> tuple[TrueMatchRate, ...]:
    """TMR at each of some false-match rates.

    Equal scores are accepted together; between two adjacent thresholds the rates are interpolated
    linearly, as for the equal error rate.

    Args:
        target, nontarget: scores; or :class:`.SortedTrials` alone.
        speakers: of the trials, for the intervals (:func:`.of_share`); None takes trials as
            independent.
        rates: false-match rates, between 0 and 1.
        level, replicates, seed: of the bootstrap.
        interval: None leaves the intervals out.

    Raises:
        ScoreError: NaN, a class without trials, rates that are not between 0 and 1, or an
            interval that is neither "auto" nor None.

    Example:
        >>> true_match_rates([1.0, 3.0], [0.0, 2.0], rates=(0.25,), replicates=2)[0].value
        0.5
    """
    wanted = np.array(rates, dtype=np.float64)
    if not ((wanted > 0.0) & (wanted < 1.0)).all():
        raise ScoreError(f"false-match rates lie between 0 and 1, not {rates}")
    trials = SortedTrials.of(target, nontarget, speakers)
    values = at_rates(trials.whole.target[None], trials.whole.nontarget[None], wanted)[0]
    limits = [NO_LIMITS] * len(rates)
    if is_made(interval):
        drawn = trials.replicates(replicates, seed).each(lambda t, n: at_rates(t, n, wanted))
        limits = [
            of_share(value, column, trials.people, trials.target.size, level)
            for value, column in zip(values.tolist(), drawn.T, strict=True)
        ]
    return tuple(
        TrueMatchRate(float(value), limit, rate)
        for value, limit, rate in zip(values, limits, rates, strict=True)
    )


def at_rates(target: Array, nontarget: Array, rates: Array) -> Array:
    """True-match rates ``[replicate, rate]`` of weighted scores.

    Args:
        target, nontarget: weights in the order of the scores, ``[replicate, score]``.
        rates: false-match rates, ``[rate]``, between 0 and 1.
    """
    miss, alarm = error_rates(target, nontarget)
    rows = np.arange(len(miss))
    columns = []
    for rate in rates:
        # where several thresholds have one false-match rate, the lowest one misses least
        below = (alarm > rate).sum(1)
        # the threshold next to it: the ROC is straight between adjacent thresholds only
        above = below - 1
        low, high = alarm[rows, below], alarm[rows, above]
        share = (high - rate) / (high - low)
        misses = miss[rows, above] + share * (miss[rows, below] - miss[rows, above])
        columns.append(1.0 - np.where(low == rate, miss[rows, below], misses))
    return np.stack(columns, axis=1)


def _at(number: int) -> Callable[[TrialScores], TrueMatchRate | None]:
    def measure(scores: TrialScores) -> TrueMatchRate | None:
        if len(scores.nontarget) * RATES[number] < 1.0:
            return None  # not one false match among so few trials
        return scores.shared(true_match_rates)[number]

    return measure


def _metric(number: int) -> Metric[TrialScores]:
    percent = 100.0 * RATES[number]
    least = math.ceil(1.0 / RATES[number])
    return Metric(
        name=f"TMR at FMR {percent:g} %",
        unit="%",
        better="lower",
        chance=percent,
        interval=BOOTSTRAP_OF_SHARE,
        definition="True-match rate: share of trials of one speaker that are accepted at the "
        f"threshold at which {percent:g} % of trials of two speakers are; measured from {least:,} "
        "trials of two speakers on",
        data=TrialScores,
        measure=_at(number),
        display=Display(table="attackers", digits=1),
        scale=100.0,
        originals=True,
    )


TRUE_MATCHES_AT_1, TRUE_MATCHES_AT_01 = (_metric(number) for number in range(len(RATES)))
