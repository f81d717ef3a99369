"""ZEBRA: expected and worst-case disclosure of scores, over all priors of an attacker.

Nautsch et al., "The privacy ZEBRA: zero evidence biometric recognition assessment", Interspeech
2020, arXiv 2005.09413.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voicenym.metrics.interval_options import Method, is_made
from voicenym.metrics.intervals.interval import (
    NO_LIMITS,
    Interval,
    Seed,
    enough,
    percentiles,
    varied,
)
from voicenym.metrics.intervals.unbiased import unbiased_loss
from voicenym.metrics.metric import BOOTSTRAP, CORRECTED, FEW_ERRORS, Display, Estimate, Metric
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.metrics.trials.pav import joined_steps
from voicenym.metrics.trials.pav_batches import Blocks, blocks
from voicenym.metrics.trials.scores import Array, Scores, Sorted, Speakers
from voicenym.metrics.trials.sorted_trials import SortedTrials
from voicenym.metrics.verification.few_errors import decision_llr, error_limit

NOTHING = 1e-6
"""log10 of a likelihood ratio below which it is one: sums of floats never give exactly one."""
TAGS = ((NOTHING, "0"), (1.0, "A"), (2.0, "B"), (4.0, "C"), (5.0, "D"), (6.0, "E"))
"""Upper limits (included) of the categories; beyond is F. The paper says F for "at least" a million
and E up to a million: exactly a million is E here."""
MOST = 0.5 / math.log(2.0)
"""D_ECE of separated classes in bits."""
SMALL, LARGE = 1e-3, 300.0
"""Between them Z has its closed form; below it would lose all digits, above e^a is infinite."""


@dataclass(frozen=True)
class Zebra:
    """Expected and worst-case disclosure.

    Args:
        expected: D_ECE in bits, 0 (nothing) to 0.7213, on average over all priors.
        expected_interval: its limits, corrected for what PAV gains from the noise of few trials
            (:func:`.unbiased_loss`), and for errors that so few speakers may hide
            (:mod:`.few_errors`); NaN for fewer than five, as those of the worst case.
        worst_case: log10 of the largest likelihood ratio (either way) of any trial.
        worst_case_interval: percentiles of the bootstrap, which show how much the figure varies,
            extended to the figure. They need not hold the worst case of endless trials: few trials
            at the ends of the scores decide the figure, however many there are in all. NaN where it
            does not vary.
        tag: category of the worst case: 0, A (little) to F (a million to one).
        targets, nontargets: numbers of trials, on which the worst case depends: at most about
            log10 of the non-target trials can be seen.
    """

    expected: float
    expected_interval: Interval
    worst_case: float
    worst_case_interval: Interval
    tag: str
    targets: int
    nontargets: int
    unit: str = "bit"

    @property
    def value(self) -> float:
        """The expected disclosure, which needs fewer trials than the worst case."""
        return self.expected

    @property
    def interval(self) -> Interval:
        """Limits of the expected disclosure."""
        return self.expected_interval


def zebra(
    target: Scores | SortedTrials,
    nontarget: Scores | None = None,
    speakers: Speakers | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: Seed = 0,
    interval: Method = "auto",
) -> Zebra:
    """Expected and worst-case disclosure, after calibration by PAV.

    The expectation is taken without Laplace's rule, the worst case with it, as published. By that
    rule even scores that are all equal have a ratio of (Nt + 1) Nn / ((Nn + 1) Nt), which is one
    only where there are as many target as non-target trials.

    Args:
        target, nontarget: scores of any scale; or :class:`.SortedTrials` alone.
        speakers: of the trials, for the intervals.
        level, replicates, seed: of the bootstrap.
        interval: None leaves both intervals out.

    Raises:
        ScoreError: NaN, a class without trials, or an interval that is neither "auto" nor None.

    Example:
        >>> found = zebra([0.0, 1.0], [0.0, 1.0], replicates=2)
        >>> found.expected, found.worst_case, found.tag
        (0.0, 0.0, '0')
    """
    trials = SortedTrials.of(target, nontarget, speakers)
    expected, worst = _disclosed(*trials.pooled), worst_case(trials.whole)
    expected_interval = worst_interval = NO_LIMITS
    if is_made(interval):
        drawn = trials.replicates(replicates, seed)
        losses = MOST - drawn.of_blocks(_disclosures)
        low, high = unbiased_loss(MOST - expected, losses, MOST, level)
        expected_interval = min(MOST - high, expected), max(MOST - low, expected)
        if error := error_limit(trials, level):
            least = min(expected_interval[0], _decided(error))
            expected_interval = least, expected_interval[1]
        low, high = percentiles(drawn.each(_worst_cases), level)
        # replicates repeat trials and leave some out: the figure itself may lie above all of them
        worst_interval = min(low, worst), max(high, worst)
        expected_interval, worst_interval = (
            enough(trials.people, varied(limits)) for limits in (expected_interval, worst_interval)
        )
    return Zebra(
        expected,
        expected_interval,
        worst,
        worst_interval,
        tag(worst),
        trials.target.size,
        trials.nontarget.size,
    )


def tag(log10_ratio: float) -> str:
    """Category of a worst case: ``0``, ``A`` ... ``F``."""
    return next((name for limit, name in TAGS if log10_ratio <= limit), "F")


def _decided(error: float) -> float:
    """D_ECE in bits of decisions of which this share is wrong."""
    right, wrong = gain(np.array([1.0, -1.0]) * decision_llr(error))
    return max(0.0, 2.0 * float((1.0 - error) * right + error * wrong) / math.log(2.0))


def disclosure(scores: Sorted) -> float:
    """D_ECE in bits of weighted scores: the integral over priors of h2(pi) - ECE(pi).

    In closed form [Z(L_target) + Z(-L_nontarget)] / ln 2, Z(a) = mean (1/4 + (a - b) / (2 b^2)),
    b = e^a - 1.
    """
    return _disclosed(*joined_steps(scores))


def _disclosed(scores: Sorted, llr: Array) -> float:
    total = 0.0
    for weights, ratios in ((scores.target, llr), (scores.nontarget, -llr)):
        some = weights > 0
        total += float(weights[some] @ gain(ratios[some]) / weights[some].sum())
    # PAV never loses on the scores it was fitted to: less than nothing is rounding
    return max(0.0, total / float(np.log(2.0)))


def _disclosures(blocks: Blocks) -> Array:
    """D_ECE of replicates, ``[replicate]``."""
    target, nontarget = blocks.means(gain(blocks.llr), gain(-blocks.llr))
    found: Array = np.maximum(0.0, (target + nontarget) / np.log(2.0))
    return found


def gain(llr: Array) -> Array:
    """Z of LLRs ``[...]`` in nats: 1/4 for infinite ones, 0 for 0, negative for wrong ones."""
    a = np.asarray(llr, dtype=np.float64)
    small, large = np.abs(a) < SMALL, a > LARGE
    middle = np.where(small | large, 1.0, a)
    b = np.expm1(middle)
    closed = 0.25 + (middle - b) / (2.0 * b * b)
    series = np.where(small, a, 0.0)
    series = series / 6.0 - series * series / 24.0
    return np.where(small, series, np.where(large, 0.25, closed))


def worst_case(scores: Sorted) -> float:
    """Largest |LLR| of any trial as log10 of the ratio, by PAV with Laplace's rule."""
    _, llr = joined_steps(scores, laplace=True)
    return float(np.abs(llr).max() / np.log(10.0))


def _worst_cases(target: Array, nontarget: Array) -> Array:
    """Worst cases of replicates ``[replicate]``, from weights ``[replicate, bin]``."""
    found = blocks(target, nontarget, laplace=True)
    most: Array = np.maximum.reduceat(np.abs(found.llr), found.first) / np.log(10.0)
    return most


def limits(target: Scores | SortedTrials, nontarget: Scores | None = None) -> tuple[str, ...]:
    """Sentences on figures that the numbers of trials limit, rather than the scores.

    Where the highest (or lowest) scores are of one class alone, PAV gives them an infinite ratio.
    Laplace's rule makes it finite: (k + 1) Nn / Nt of k targets above all non-targets, at most
    (Nt + 1) Nn / Nt. Without the rule, the expected disclosure of separated classes is
    1 / (2 ln 2) = 0.72 bit, whatever more a larger test would show.

    Args:
        target, nontarget: scores of any scale; or :class:`.SortedTrials` alone.

    Raises:
        ScoreError: NaN, or a class without trials.

    Example:
        >>> [len(limits([2.0, 3.0], [0.0, 1.0])), len(limits([0.0, 1.0], [0.0, 1.0]))]
        [2, 0]
    """
    scores = SortedTrials.of(target, nontarget).whole
    steps, llr = joined_steps(scores, laplace=True)
    targets, others = float(scores.target.sum()), float(scores.nontarget.sum())
    found = []
    extreme = int(np.abs(llr).argmax())
    alone = steps.target[extreme], steps.nontarget[extreme]
    worst = float(np.abs(llr).max() / np.log(10.0))
    if worst > NOTHING and min(alone) == 0.0:
        top = alone[1] == 0.0
        most = (targets + 1.0) * others / targets if top else (others + 1.0) * targets / others
        kinds = ("target", "above", "non-target") if top else ("non-target", "below", "target")
        found.append(
            f"the worst case of {worst:.2f} is a limit of the test: {max(alone):.0f} {kinds[0]} "
            f"scores lie {kinds[1]} all {kinds[2]} scores, and their ratio follows from the "
            f"numbers of trials, which allow at most {np.log10(most):.2f}; a larger test may show "
            "more"
        )
    if scores.target @ (np.cumsum(scores.nontarget[::-1])[::-1]) == 0.0:
        found.append(
            "the scores separate all trials, so that D_ECE and min C_llr have their extreme values "
            "(0.72 and 0 bit); a larger test could show how close to certainty the attacker is"
        )
    return tuple(found)


def _worst(scores: TrialScores) -> Estimate:
    found = scores.shared(zebra)
    return Estimate(found.worst_case, found.worst_case_interval)


EXPECTED_DISCLOSURE = Metric(
    name="D_ECE",
    unit="bit",
    better="lower",
    chance=0.0,
    interval=f"{CORRECTED}; {FEW_ERRORS}",
    definition="Expected disclosure of ZEBRA: information about the identity that the scores "
    "disclose, on average over all priors, 0 to 0.72 bit (Nautsch et al. 2020)",
    data=TrialScores,
    measure=lambda scores: scores.shared(zebra),
    display=Display(table="attackers"),
    originals=True,
)
WORST_CASE = Metric(
    name="worst case",
    unit="log10 l",
    better="lower",
    chance=0.0,
    interval=f"{BOOTSTRAP}, extended to the figure, which show how much it varies; the worst "
    "case of endless trials may lie outside",
    definition="Worst-case disclosure of ZEBRA: log10 of the largest likelihood ratio of any "
    "trial; the tag is its category, 0 (none), A (little) to F (a million to one)",
    data=TrialScores,
    measure=_worst,
    display=Display(table="attackers"),
    originals=True,
)
