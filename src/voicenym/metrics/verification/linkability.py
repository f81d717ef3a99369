"""Linkability D_sys of scores: how well they show that two recordings are of one speaker.

Gomez-Barrero et al., "General framework to evaluate unlinkability in biometric template
protection systems", IEEE TIFS 13 (2018); for speech Maouche et al., Interspeech 2020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voicenym.errors import ScoreError
from voicenym.metrics.interval_options import Method, is_made, tail
from voicenym.metrics.intervals.interval import NO_LIMITS, Interval, Seed, enough, varied
from voicenym.metrics.intervals.unbiased import unbiased
from voicenym.metrics.metric import CORRECTED, FEW_ERRORS, Display, Metric
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.metrics.trials.scores import Array, Scores, Speakers
from voicenym.metrics.trials.sorted_trials import SortedTrials
from voicenym.metrics.verification.eer import crossing
from voicenym.metrics.verification.few_errors import error_limit

MOST_BINS = 100
TARGETS_PER_BIN = 10
FEWEST_BINS = 2
FINER = 2
"""Bins of the interval in each bin of the figure."""
TOLERANCE = 0.05
"""Difference of D_sys from its lower bound that is not worth a sentence."""


@dataclass(frozen=True)
class Linkability:
    """Global and local linkability.

    Args:
        value: D_sys as published, 0 (both classes have the same distribution) to 1. Small values
            are biased upwards: with few trials, bins differ by chance.
        interval: lower and upper limit of what endless trials would give; it always holds the
            value, and near 0 lies mostly below it; NaN for fewer than five speakers. It joins those
            of the same figure with these bins and with half as wide ones, since few trials have
            bins so wide that they hide a part of it. With equal priors it also holds what errors
            may leave that so few speakers hide (:mod:`.few_errors`), and what bins hide that do
            not resolve the scores (:func:`limits`). In simulations (10 to 47 speakers with 5 or 6
            recordings, equal error rates of 3 to 45 %) it holds the truth in 96 to 100 % of cases.
        corrected: the value without its bias, estimated from the replicates.
        baseline: what D_sys is, on average, of scores whose labels were shuffled: noise makes it
            greater than 0, the more the fewer the trials.
        edges: ``[bin + 1]`` of the histograms.
        local: ``[bin]``, D(s).
        target, nontarget: ``[bin]`` shares of trials.
        low, high: ``[bin]``, limits of ``local`` bin by bin, percentiles of the replicates; where
            nothing is linked they lie above 0 as ``local`` does, since bins differ by chance.
    """

    value: float
    interval: Interval
    corrected: float
    baseline: float
    edges: Array
    local: Array
    target: Array
    nontarget: Array
    low: Array
    high: Array
    unit: str = ""


def linkability(
    target: Scores | SortedTrials,
    nontarget: Scores | None = None,
    speakers: Speakers | None = None,
    *,
    omega: float = 1.0,
    level: float = 0.95,
    replicates: int = 1000,
    shuffles: int = 20,
    seed: Seed = 0,
    interval: Method = "auto",
) -> Linkability:
    """D_sys = sum over bins of p(s|H) D(s), D(s) = max(0, 2 w LR / (1 + w LR) - 1).

    Both classes are counted in the same bins of equal width, min(targets / 10, 100) of them over
    the range of all scores. Where the circulating estimator integrates densities by the trapezoid
    rule over bin centres, and so loses half of both end bins (separated classes give less than
    one), bins are summed here. Infinite scores are in the end bins.

    Args:
        target, nontarget: scores; or :class:`.SortedTrials` alone.
        speakers: of the trials, for the interval.
        omega: prior odds of the same speaker, positive and finite.
        level, replicates, seed: of the bootstrap.
        shuffles: of the labels, for the baseline.
        interval: None leaves the intervals and the corrected value, which is NaN, out.

    Raises:
        ScoreError: NaN, a class without trials, prior odds out of range, finite scores so far
            apart (or so little) that floats have no bins between them, or an interval that is
            neither "auto" nor None.

    Example:
        >>> linkability([2.0, 3.0], [0.0, 1.0], replicates=2).value
        1.0
    """
    trials = SortedTrials.of(target, nontarget, speakers)
    t, n = trials.target, trials.nontarget
    if not 0.0 < omega < np.inf:
        raise ScoreError(f"the prior odds omega are {omega}; they must be positive and finite")
    edges, at_t, at_n = _binned(t, n)
    bins = len(edges) - 1
    fine_t, fine_n = (np.bincount(at, minlength=FINER * bins)[None] for at in (at_t, at_n))
    counts = _coarse(fine_t)[0], _coarse(fine_n)[0]
    mated, others = (count / count.sum() for count in counts)
    local = _local(mated, others, omega)
    plain = float(mated @ local)
    corrected, limits = math.nan, NO_LIMITS
    lowest, highest = np.full((2, bins), math.nan)
    if is_made(interval):
        draws = trials.draws(replicates, seed).counted(at_t, at_n, FINER * bins)
        found = [
            (*_linked(_coarse(mates), _coarse(rest), omega), _linked(mates, rest, omega)[0])
            for mates, rest in draws
        ]
        values, locals_, finer = (np.concatenate(parts) for parts in zip(*found, strict=True))
        corrected, (lower, upper) = unbiased(plain, values, level, people=trials.people)
        resolved = float(_linked(fine_t, fine_n, omega)[0][0])
        _, (below, above) = unbiased(resolved, finer, level, people=trials.people)
        lower, upper = min(lower, below), max(upper, above)
        if omega == 1.0 and (least := _least(crossing(trials.whole)[0])) > plain + TOLERANCE:
            upper = max(upper, least)  # bins that do not resolve the scores hide as much
        if omega == 1.0 and (error := error_limit(trials, level)):
            lower = min(lower, _least(error))
        limits = enough(trials.people, varied((lower, upper)))
        beyond = tail(level)
        lowest, highest = np.quantile(locals_, [beyond, 1.0 - beyond], axis=0)
    pooled = counts[0] + counts[1]
    # which of the pooled trials get the targets' labels: draws without replacement
    shuffled = np.random.default_rng(seed).multivariate_hypergeometric(
        pooled, t.size, size=shuffles, method="marginals"
    )
    return Linkability(
        value=plain,
        interval=limits,
        corrected=corrected,
        baseline=float(_linked(shuffled, pooled - shuffled, omega)[0].mean()),
        edges=edges,
        local=local,
        target=mated,
        nontarget=others,
        low=lowest,
        high=highest,
    )


def limits(found: Linkability, error: float) -> tuple[str, ...]:
    """A sentence where bins of equal width hide what the order of the scores shows.

    With equal priors D_sys is an f-divergence: t max(0, (t - 1) / (t + 1)) is convex, so that no
    bins show more than the scores. The two parts above and below the threshold of equal errors
    alone have (1 - e) (1 - 2 e); a figure below this is too low. A few scores far from the others
    leave most of the others in one bin.

    Args:
        found: with prior odds of 1.
        error: e, the equal error rate of the same scores, as a share.

    Example:
        >>> outlier = linkability([-900.0, 1.0, 2.0], [0.0, -1.0, -2.0], replicates=2)
        >>> len(limits(outlier, 0.0)), len(limits(linkability([2.0], [1.0], replicates=2), 0.0))
        (1, 0)
    """
    least = _least(error)
    if found.value >= least - TOLERANCE:
        return ()
    return (
        f"D_sys of {found.value:.2f} is too low: its {len(found.local)} bins of equal width do not "
        f"resolve these scores, which have {least:.2f} at least by an equal error rate of "
        f"{100.0 * error:.1f} %",
    )


def _binned(target: Array, nontarget: Array) -> tuple[Array, np.ndarray, np.ndarray]:
    """Bins of equal width over the range of all scores.

    Returns:
        Edges ``[bin + 1]``, and for targets and nontargets the indices of their parts of bins, of
        which each bin has :data:`FINER`.

    Raises:
        ScoreError: floats have no bins between finite scores so far apart, or so little.
    """
    finite = [scores[np.isfinite(scores)] for scores in (target, nontarget)]
    low = min((scores.min() for scores in finite if scores.size), default=0.0)
    high = max((scores.max() for scores in finite if scores.size), default=1.0)
    if not high > low:
        reach = max(0.5, abs(float(low)) * 1e-6)  # half a unit is nothing to a large float
        low, high = low - reach, high + reach
    bins = max(FEWEST_BINS, min(target.size // TARGETS_PER_BIN, MOST_BINS))
    width = (float(high) - float(low)) / bins
    if not 0.0 < width < np.inf:
        raise ScoreError(
            f"scores from {low:g} to {high:g} cannot be put in {bins} bins; rescale them, and give "
            "those that stand for certainty as infinities"
        )
    edges = np.linspace(low, high, bins + 1)

    at_target, at_nontarget = (
        np.clip(np.floor(FINER * ((scores - low) / width)), 0, FINER * bins - 1).astype(np.intp)
        for scores in (target, nontarget)
    )
    return edges, at_target, at_nontarget


def _coarse(weights: np.ndarray) -> np.ndarray:
    """Weights by bin ``[replicate, bin]`` from those of the parts of bins."""
    summed: np.ndarray = weights.reshape(len(weights), -1, FINER).sum(2)
    return summed


def _least(error: float) -> float:
    """D_sys with equal priors of a decision that is wrong in a share of both kinds of trials."""
    return (1.0 - error) * (1.0 - 2.0 * error) if error < 0.5 else 0.0


def _linked(target: np.ndarray, nontarget: np.ndarray, omega: float) -> tuple[Array, Array]:
    """D_sys ``[replicate]`` and D(s) ``[replicate, bin]`` from weights ``[replicate, bin]``."""
    mated, others = (part / part.sum(1, keepdims=True) for part in (target, nontarget))
    local = _local(mated, others, omega)
    values: Array = np.einsum("rb,rb->r", mated, local)
    return values, local


def _local(mated: Array, others: Array, omega: float) -> Array:
    """D(s) of each bin from the shares of both classes; 1 where only targets are, 0 where none."""
    weighed = omega * mated
    both = weighed + others
    share = np.divide(2.0 * weighed, both, out=np.zeros_like(both), where=both > 0)
    return np.maximum(0.0, share - 1.0)


GLOBAL_LINKABILITY = Metric(
    name="D_sys",
    unit="",
    better="lower",
    chance=0.0,
    interval=f"{CORRECTED}; its lower limit may lie below what few trials alone produce; "
    f"{FEW_ERRORS}",
    definition="Global linkability: how surely a score shows that two recordings are of one "
    "speaker, 0 to 1; few trials raise it above 0 by chance (Gomez-Barrero et al. 2018)",
    data=TrialScores,
    measure=lambda scores: scores.shared(linkability),
    display=Display(table="attackers"),
    originals=True,
)
