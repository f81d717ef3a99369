"""Cost of log-likelihood ratios (C_llr) and its minimum over calibrations.

Brümmer and du Preez, "Application-independent evaluation of speaker detection", CSL 20 (2006);
equation 1 of the supplement to Tomashenko et al., "The VoicePrivacy 2020 Challenge: Results and
findings" (2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voicenym.metrics.interval_options import Method, is_made
from voicenym.metrics.intervals.bootstrap_draws import Drawn, of_bins
from voicenym.metrics.intervals.interval import (
    NO_LIMITS,
    Interval,
    Seed,
    enough,
    percentiles,
    varied,
)
from voicenym.metrics.intervals.unbiased import unbiased_loss
from voicenym.metrics.metric import BOOTSTRAP, CORRECTED, FEW_ERRORS, Display, Metric
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.metrics.trials.pav_batches import Blocks, blocks
from voicenym.metrics.trials.scores import Array, Scores, Sorted, Speakers
from voicenym.metrics.trials.sorted_trials import SortedTrials
from voicenym.metrics.trials.speaker_pairs import SpeakerPairs
from voicenym.metrics.verification.few_errors import decision_llr, error_limit


@dataclass(frozen=True)
class Cllr:
    """C_llr in bits: 0 for perfect ratios, 1 for uninformative ones, more for misleading ones.

    Args:
        value: in bits; infinite where an infinite ratio has the wrong sign.
        interval: lower and upper limit; NaN for fewer than five speakers. The upper limit is
            infinite where C_llr is 0: ratios of certainty cost endlessly where one is wrong.
    """

    value: float
    interval: Interval
    unit: str = "bit"


def cllr(
    target: Scores | SortedTrials,
    nontarget: Scores | None = None,
    speakers: Speakers | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
    interval: Method = "auto",
) -> Cllr:
    """C_llr = 1/2 mean_target log2 (1 + e^-L) + 1/2 mean_nontarget log2 (1 + e^L).

    Args:
        target, nontarget: log-likelihood ratios in nats, infinities allowed; or
            :class:`.SortedTrials` alone.
        speakers: of the trials, for the interval.
        level, replicates, seed: of the bootstrap.
        interval: None leaves it out.

    Raises:
        ScoreError: NaN, a class without trials, or an interval that is neither "auto" nor None.

    Example:
        >>> cllr([0.0], [0.0], replicates=2).value
        1.0
    """
    trials = SortedTrials.of(target, nontarget, speakers)
    value = cost(trials.whole, trials.whole.thresholds)
    if not is_made(interval):
        return Cllr(value, NO_LIMITS)
    each = np.logaddexp(0.0, -trials.target), np.logaddexp(0.0, trials.nontarget)
    means = trials.draws(replicates, seed).means(*each)
    low, high = percentiles((means[0] + means[1]) / (2.0 * math.log(2.0)), level)
    if value == 0.0:
        high = math.inf
    return Cllr(value, enough(trials.people, varied((low, high))))


def min_cllr(
    target: Scores | SortedTrials,
    nontarget: Scores | None = None,
    speakers: Speakers | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
    interval: Method = "auto",
) -> Cllr:
    """C_llr after the best monotone calibration (PAV), 0 to 1 bit.

    PAV also fits the noise of few trials, so that the value is too low; the interval is corrected
    for it (:func:`.unbiased_loss`). Where hardly a trial is an error, its upper limit is at least
    h2 of the largest equal error rate that there may be (:mod:`.few_errors`).

    Args:
        target, nontarget: scores of any scale.
        speakers, level, replicates, seed, interval: as in :func:`cllr`.

    Example:
        >>> min_cllr([2.0, 3.0], [0.0, 1.0], replicates=2).value
        0.0
    """
    trials = SortedTrials.of(target, nontarget, speakers)
    value = cost(*trials.pooled)
    if not is_made(interval):
        return Cllr(value, NO_LIMITS)
    costs = trials.replicates(replicates, seed).of_blocks(_least_costs)
    low, high = unbiased_loss(value, costs, 1.0, level)
    if error := error_limit(trials, level):
        high = max(high, _decided(error))
    return Cllr(value, enough(trials.people, varied((low, high))))


def _decided(error: float) -> float:
    """h2, the cost in bits of decisions of which this share is wrong."""
    right, wrong = _costs(np.array(decision_llr(error)))
    return float((1.0 - error) * right + error * wrong) / math.log(2.0)


def least_cost(target: Scores, nontarget: Scores, speakers: Speakers) -> Drawn:
    """:func:`min_cllr` as a function of drawn speakers, in bits.

    Args:
        target, nontarget: scores.
        speakers: of the trials.

    Raises:
        ScoreError: NaN, a class without trials, or speakers that do not fit the trials.

    Example:
        >>> who = Speakers(np.array([[0, 0], [1, 1]]), np.array([[0, 1]]))
        >>> found = least_cost([0.0, 3.0], [1.0], who)
        >>> round(found.value, 3), found.again(np.array([0.0, 2.0]))
        (0.689, nan)
    """
    trials = SortedTrials(target, nontarget, speakers)
    pairs = SpeakerPairs(speakers, (trials.target.size, trials.nontarget.size))
    target_bins, nontarget_bins, count = trials.bins
    return of_bins(
        cost(*trials.pooled),
        pairs,
        (target_bins, nontarget_bins),
        count,
        lambda t, n: _least_costs(blocks(t, n)),
    )


def _least_costs(pooled: Blocks) -> Array:
    target, nontarget = pooled.means(*_costs(pooled.llr))
    found: Array = (target + nontarget) / (2.0 * math.log(2.0))
    return found


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
    measure=lambda scores: scores.shared(cllr),
    display=Display(table="attackers"),
    originals=True,
)
MIN_COST = Metric(
    name="min C_llr",
    unit="bit",
    better="higher",
    chance=1.0,
    interval=f"{CORRECTED}; {FEW_ERRORS}",
    definition="Cost of the log-likelihood ratios after the best monotone calibration of the "
    "scores: 0 where they separate all trials (Brümmer and du Preez 2006)",
    data=TrialScores,
    measure=lambda scores: scores.shared(min_cllr),
    display=Display(table="attackers"),
    originals=True,
)
