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
from voicenym.metrics.interval import Interval, Seed, percentiles, resampled
from voicenym.metrics.metric import BOOTSTRAP, Display, Metric
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.metrics.scores import Scores, Sorted, Speakers

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
    target: Scores,
    nontarget: Scores,
    speakers: Speakers | None = None,
    *,
    rates: tuple[float, ...] = RATES,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
) -> tuple[TrueMatchRate, ...]:
    """TMR at each of some false-match rates.

    Equal scores are accepted together; between two thresholds the rates are interpolated linearly,
    as for the equal error rate.

    Args:
        target, nontarget: scores.
        speakers: of the trials, for the intervals; None takes trials as independent.
        rates: false-match rates, between 0 and 1.
        level, replicates, seed: of the bootstrap.

    Raises:
        ScoreError: NaN, a class without trials, or rates that are not between 0 and 1.

    Example:
        >>> true_match_rates([1.0, 3.0], [0.0, 2.0], rates=(0.25,), replicates=2)[0].value
        0.5
    """
    wanted = np.array(rates, dtype=np.float64)
    if not ((wanted > 0.0) & (wanted < 1.0)).all():
        raise ScoreError(f"false-match rates lie between 0 and 1, not {rates}")
    draws = [
        at_rates(draw, wanted)
        for draw in resampled(
            target, nontarget, speakers, replicates=replicates, seed=seed, order_only=True
        )
    ]
    limits = (percentiles(column, level) for column in np.array(draws).T)
    values = at_rates(Sorted.of(target, nontarget), wanted)
    return tuple(
        TrueMatchRate(float(value), interval, rate)
        for value, interval, rate in zip(values, limits, rates, strict=True)
    )


def at_rates(scores: Sorted, rates: np.ndarray) -> np.ndarray:
    """True-match rates ``[rate]`` of weighted scores."""
    miss, alarm = scores.rates()
    # where several thresholds have one false-match rate, the lowest one misses least
    first = np.flatnonzero(np.append(True, alarm[1:] < alarm[:-1]))
    found: np.ndarray = 1.0 - np.interp(rates, alarm[first][::-1], miss[first][::-1])
    return found


def _at(number: int) -> Callable[[TrialScores], TrueMatchRate | None]:
    def measure(scores: TrialScores) -> TrueMatchRate | None:
        if len(scores.nontarget) * RATES[number] < 1.0:
            return None  # not one false match among so few trials
        return scores.estimate(true_match_rates)[number]

    return measure


def _metric(number: int) -> Metric[TrialScores]:
    percent = 100.0 * RATES[number]
    least = math.ceil(1.0 / RATES[number])
    return Metric(
        name=f"TMR at FMR {percent:g} %",
        unit="%",
        better="lower",
        chance=percent,
        interval=BOOTSTRAP,
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
