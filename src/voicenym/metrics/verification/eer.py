"""Equal error rate, on the steps of the ROC and on its convex hull."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from voicenym.metrics.interval_options import Method, is_made, normal_quantile
from voicenym.metrics.intervals.binomial import FEW_ERRORS, of_share, unanimous, wilson
from voicenym.metrics.intervals.bootstrap_draws import Drawn, of_bins
from voicenym.metrics.intervals.interval import (
    NO_LIMITS,
    Interval,
    Seed,
    bengio_mariethoz,
)
from voicenym.metrics.intervals.unbiased import unbiased_loss
from voicenym.metrics.metric import BOOTSTRAP_OF_SHARE, CORRECTED, Axis, Display, Metric
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.metrics.trials.pav_batches import Blocks, crossed
from voicenym.metrics.trials.scores import Array, Scores, Sorted, Speakers, check, error_rates
from voicenym.metrics.trials.sorted_trials import SortedTrials
from voicenym.metrics.trials.speaker_pairs import SpeakerPairs

WORTH = 2.0
"""Trials of a plain share that a target trial is worth (:func:`.of_share`)."""


@dataclass(frozen=True)
class EER:
    """Equal error rate: misses are as frequent as false alarms.

    Args:
        value: share, 0 to 1; 0.5 is chance; above 0.5 the scores are inverted.
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
    target: Scores | SortedTrials,
    nontarget: Scores | None = None,
    speakers: Speakers | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
    interval: Method = "auto",
) -> EER:
    """Equal error rate with its interval.

    Equal scores are accepted or rejected together, so ties never look like separation; between
    two thresholds the rates are interpolated linearly.

    Args:
        target, nontarget: scores, in any order; or :class:`.SortedTrials` alone.
        speakers: of the trials: the interval is then a bootstrap over speakers (:func:`.of_share`
            where errors or speakers are few); without, it is Bengio and Mariéthoz's for independent
            trials (extended alike, with the trials of the smaller class), which is too narrow where
            speakers recur.
        level: of the interval.
        replicates, seed: of the bootstrap.
        interval: None leaves it out.

    Raises:
        ScoreError: NaN, a class without trials, or an interval that is neither "auto" nor None.

    Example:
        >>> found = eer([2.0, 3.0, 4.0], [0.0, 1.0, 2.5])
        >>> round(found.value, 4), found.threshold
        (0.3333, 2.5)
    """
    trials = SortedTrials.of(target, nontarget, speakers)
    value, threshold = crossing(trials.whole)
    if not is_made(interval):
        return EER(value, NO_LIMITS, threshold, "none")
    if trials.speakers is not None:
        rates = trials.replicates(replicates, seed).each(crossings)
        limits = of_share(value, rates, trials.people, trials.target.size, level, worth=WORTH)
        return EER(value, limits, threshold, "bootstrap over speakers")
    z = normal_quantile(level)
    half = bengio_mariethoz(value, value, trials.target.size, trials.nontarget.size, z)
    limits = max(0.0, value - half), min(1.0, value + half)
    fewest = min(trials.target.size, trials.nontarget.size)
    limits = unanimous(value, limits, fewest, level)
    if min(value, 1.0 - value) * fewest < FEW_ERRORS:  # of which a normal distribution has none
        low, high = wilson(value * WORTH * fewest, WORTH * fewest, level)
        limits = min(limits[0], low), max(limits[1], high)
    return EER(value, limits, threshold, "Bengio and Mariéthoz, independent trials")


def limits(found: EER, trials: SortedTrials) -> tuple[str, ...]:
    """Sentences where the equal error rate looks like more protection than the scores show.

    Args:
        found: of the trials, with its interval.
        trials: sorted.

    Example:
        >>> equal, turned = SortedTrials([1.0], [1.0]), SortedTrials([0.0] * 9, [1.0] * 9)
        >>> [len(limits(eer(trials), trials)) for trials in (equal, turned)]
        [1, 1]
    """
    if len(trials.whole.thresholds) == 1:
        return (
            "all scores are equal, and so say nothing of anybody: the recordings are alike, or the "
            "verifier does not work; the figures are no evidence of protection",
        )
    if found.interval[0] > 0.5:
        return (
            "scores of one speaker are lower than those of two: an attacker who reverses them errs "
            f"in {100.0 * (1.0 - found.value):.1f} % of cases, not in {100.0 * found.value:.1f} %",
        )
    return ()


def crossing(scores: Sorted) -> tuple[float, float]:
    """Equal error rate of weighted scores, and its threshold."""
    value, after = _meeting(*scores.rates())
    last = len(scores.thresholds) - 1
    return value, float(scores.thresholds[min(after, last)])


def crossings(target: Array, nontarget: Array) -> Array:
    """Equal error rates of replicates, ``[replicate]``.

    Args:
        target, nontarget: weights in the order of the scores, ``[replicate, score]``.
    """
    miss, alarm = error_rates(target, nontarget)
    after = np.argmax(miss >= alarm, axis=1)  # the last point rejects all: it always exists
    rows = np.arange(len(miss))
    before = np.maximum(after - 1, 0)
    return crossed(miss[rows, before], alarm[rows, before], miss[rows, after], alarm[rows, after])


def _meeting(miss: Array, alarm: Array) -> tuple[float, int]:
    """Crossing of rising misses and falling false alarms, and the first point at or behind it."""
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
        interval: lower and upper limit, by bootstrap, corrected for what the hull gains from the
            noise of few trials (:func:`.unbiased_loss`).
    """

    value: float
    interval: Interval
    unit: str = "share"


def rocch_eer(
    target: Scores | SortedTrials,
    nontarget: Scores | None = None,
    speakers: Speakers | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
    interval: Method = "auto",
) -> HullEER:
    """Equal error rate on the convex hull of the ROC: the rate of the best monotone decision.

    At most 0.5. Brümmer and de Villiers, "The BOSARIS toolkit", 2013; section 3.1 of the
    supplement to Tomashenko et al., "The VoicePrivacy 2020 Challenge: Results and findings" (2022).

    Args:
        target, nontarget: scores.
        speakers: of the trials, for the interval; None takes trials as independent.
        level, replicates, seed: of the bootstrap.
        interval: None leaves it out.

    Raises:
        ScoreError: NaN, a class without trials, or an interval that is neither "auto" nor None.

    Example:
        >>> round(rocch_eer([0.0, 1.0], [2.0, 3.0], replicates=2).value, 3)
        0.5
    """
    trials = SortedTrials.of(target, nontarget, speakers)
    # the hull's edges are the blocks that isotonic regression of the labels on the scores pools
    value = _meeting(*trials.pooled[0].rates())[0]
    if not is_made(interval):
        return HullEER(value, NO_LIMITS)
    rates = trials.replicates(replicates, seed).of_blocks(Blocks.meeting)
    limits = unbiased_loss(value, rates, 0.5, level)
    low, high = unanimous(value, limits, trials.people, level)
    return HullEER(value, (low, max(min(high, 0.5), value)))


def equal_error(target: Scores, nontarget: Scores, speakers: Speakers) -> Drawn:
    """The equal error rate of drawn speakers.

    Args:
        target, nontarget: scores.
        speakers: of the trials.

    Raises:
        ScoreError: NaN, a class without trials, or speakers that do not fit the trials.

    Example:
        >>> who = Speakers(np.array([[0, 0], [1, 1]]), np.array([[0, 1]]))
        >>> found = equal_error([0.0, 3.0], [1.0], who)
        >>> round(found.value, 3), found.again(np.array([0.0, 2.0]))
        (0.5, nan)
    """
    t, n = check(target, nontarget)
    pairs = SpeakerPairs(speakers, (t.size, n.size))
    whole = Sorted.of(t, n)
    # neighbours of one class are merged, which leaves the rate unchanged
    lowest = whole.thresholds[whole.runs()]
    places = tuple(np.searchsorted(lowest, scores, side="right") - 1 for scores in (t, n))
    drawn = of_bins(crossing(whole)[0], pairs, (places[0], places[1]), len(lowest), crossings)
    return replace(drawn, trials=t.size)


EQUAL_ERROR_RATE = Metric(
    name="EER",
    unit="%",
    better="higher",
    chance=50.0,
    interval=BOOTSTRAP_OF_SHARE,
    definition="Equal error rate: the share of errors at the threshold at which as many impostors "
    "are accepted as genuine trials are refused; f and m are women and men alone",
    data=TrialScores,
    measure=lambda scores: scores.shared(eer),
    display=Display(
        table="attackers", digits=1, compared=True, axis=Axis("hides\n(EER)", worst=0.0, best=50.0)
    ),
    scale=100.0,
    originals=True,
    redraw=lambda scores: equal_error(scores.target, scores.nontarget, scores.speakers),
)
HULL_EQUAL_ERROR_RATE = Metric(
    name="ROCCH-EER",
    unit="%",
    better="higher",
    chance=50.0,
    interval=f"{CORRECTED}; without errors, or of fewer than five speakers, also Wilson's with the "
    "number of speakers as the number of trials (1927)",
    definition="Equal error rate on the convex hull of the ROC (Brümmer and de Villiers 2013)",
    data=TrialScores,
    measure=lambda scores: scores.shared(rocch_eer),
    display=Display(table="attackers"),
    scale=100.0,
    originals=True,
)
