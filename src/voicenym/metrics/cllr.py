"""Cost of log-likelihood ratios (C_llr) and its minimum over calibrations.

Brümmer and du Preez, "Application-independent evaluation of speaker detection", CSL 20 (2006);
equation 3 of Tomashenko et al., "The VoicePrivacy 2020 Challenge: Results and findings" (2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voicenym.metrics.interval import Interval, Seed, bootstrap
from voicenym.metrics.metric import BOOTSTRAP, Display, Metric
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.metrics.pav import joined_steps
from voicenym.metrics.scores import Array, Scores, Sorted, Speakers


@dataclass(frozen=True)
class Cllr:
    """C_llr in bits: 0 for perfect ratios, 1 for uninformative ones, more for misleading ones.

    Args:
        value: in bits; infinite where an infinite ratio has the wrong sign.
        interval: lower and upper limit.
    """

    value: float
    interval: Interval
    unit: str = "bit"


def cllr(
    target: Scores,
    nontarget: Scores,
    speakers: Speakers | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
) -> Cllr:
    """C_llr = 1/2 mean_target log2 (1 + e^-L) + 1/2 mean_nontarget log2 (1 + e^L).

    Args:
        target, nontarget: log-likelihood ratios in nats, infinities allowed.
        speakers: of the trials, for the interval.
        level, replicates, seed: of the bootstrap.

    Raises:
        ScoreError: NaN, or a class without trials.

    Example:
        >>> cllr([0.0], [0.0], replicates=2).value
        1.0
    """
    scores = Sorted.of(target, nontarget)
    # replicates have the same ratios with other weights
    wrong = _costs(scores.thresholds)

    def mean_cost(draw: Sorted) -> float:
        return _mean(draw, wrong)

    interval = bootstrap(
        mean_cost, target, nontarget, speakers, level=level, replicates=replicates, seed=seed
    )
    return Cllr(mean_cost(scores), interval)


def min_cllr(
    target: Scores,
    nontarget: Scores,
    speakers: Speakers | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
) -> Cllr:
    """C_llr after the best monotone calibration (PAV), 0 to 1 bit.

    Args:
        target, nontarget: scores of any scale.
        speakers, level, replicates, seed: as in :func:`cllr`.

    Example:
        >>> min_cllr([2.0, 3.0], [0.0, 1.0], replicates=2).value
        0.0
    """
    value = _least_cost(Sorted.of(target, nontarget))
    interval = bootstrap(
        _least_cost,
        target,
        nontarget,
        speakers,
        level=level,
        replicates=replicates,
        seed=seed,
        order_only=True,
    )
    return Cllr(value, interval)


def _least_cost(scores: Sorted) -> float:
    return cost(*joined_steps(scores))


def cost(scores: Sorted, llr: Array) -> float:
    """C_llr in bits of weighted scores that have the LLRs ``[score]``."""
    return _mean(scores, _costs(llr))


def _costs(llr: Array) -> tuple[Array, Array]:
    """Cost of each ratio for a target and for a non-target trial, in nats."""
    return np.logaddexp(0.0, -llr), np.logaddexp(0.0, llr)


def _mean(scores: Sorted, costs: tuple[Array, Array]) -> float:
    """Mean of both classes' mean costs, in bits."""
    total = 0.0
    for weights, each in zip((scores.target, scores.nontarget), costs, strict=True):
        total_weight = float(weights.sum())
        if each.max() == math.inf:
            some = weights > 0  # an infinite cost that nobody pays is no cost
            weights, each = weights[some], each[some]
        total += float(weights @ each) / total_weight
    return total / (2.0 * math.log(2.0))


COST = Metric(
    name="C_llr",
    unit="bit",
    better="higher",
    chance=1.0,
    interval=BOOTSTRAP,
    definition="Cost of the scores as log-likelihood ratios, without calibration; the difference "
    "to min C_llr is the calibration loss, which is large for scores that are no log-likelihood "
    "ratios, such as cosines (Brümmer and du Preez 2006)",
    data=TrialScores,
    measure=lambda scores: scores.estimate(cllr),
    display=Display(table="attackers"),
    originals=True,
)
MIN_COST = Metric(
    name="min C_llr",
    unit="bit",
    better="higher",
    chance=1.0,
    interval=BOOTSTRAP,
    definition="Cost of the log-likelihood ratios after the best monotone calibration of the "
    "scores: 0 where they separate all trials (Brümmer and du Preez 2006)",
    data=TrialScores,
    measure=lambda scores: scores.estimate(min_cllr),
    display=Display(table="attackers"),
    originals=True,
)
