"""Empirical cross-entropy of calibrated scores over priors: the curve under which ZEBRA integrates.

Ramos and Gonzalez-Rodriguez, "Cross-entropy analysis of the information in forensic speaker
recognition", Odyssey 2008; Nautsch et al. (2020), as in :mod:`voicenym.metrics.verification.zebra`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voicenym.metrics.intervals.interval import Seed
from voicenym.metrics.intervals.unbiased import unbiased_loss
from voicenym.metrics.trials.pav_batches import Blocks
from voicenym.metrics.trials.scores import Array, Scores, Speakers
from voicenym.metrics.trials.sorted_trials import SortedTrials
from voicenym.metrics.verification.few_errors import decision_llr, error_limit


@dataclass(frozen=True)
class EceProfile:
    """Empirical cross-entropy over priors, to draw.

    Args:
        log_odds: ``[prior]``, logit of the prior in nats, -10 to 10.
        ece: ``[prior]`` in bits, of the calibrated scores.
        default: ``[prior]`` in bits, without any evidence: the entropy of the prior.
        low, high: ``[prior]``, limits of ``ece`` by bootstrap, where replicates were asked for,
            corrected for what PAV gains from the noise of few trials (:func:`.unbiased_loss`), and
            for errors that few speakers may hide (:mod:`.few_errors`).
    """

    log_odds: Array
    ece: Array
    default: Array
    low: Array | None = None
    high: Array | None = None
    unit: str = "bit"


def ece_profile(
    target: Scores | SortedTrials,
    nontarget: Scores | None = None,
    points: int = 201,
    speakers: Speakers | None = None,
    *,
    level: float = 0.95,
    replicates: int = 0,
    seed: Seed = 0,
) -> EceProfile:
    """ECE(pi) = pi mean_target log2 (1 + e^-L (1 - pi) / pi) + (1 - pi) mean_nontarget ...

    Args:
        target, nontarget: scores of any scale, calibrated by PAV; or :class:`.SortedTrials` alone.
        points: of the profile.
        speakers: of the trials, for the limits.
        level, replicates, seed: of the bootstrap; without replicates there are no limits.

    Raises:
        ScoreError: NaN, or a class without trials.

    Example:
        >>> found = ece_profile([1.0, 2.0], [0.0, 1.0], points=3)
        >>> found.log_odds, found.ece.round(2), found.default.round(2)
        (array([-10.,   0.,  10.]), array([0. , 0.5, 0. ]), array([0., 1., 0.]))
    """
    odds = np.linspace(-10.0, 10.0, points)
    prior = 1.0 / (1.0 + np.exp(-odds))
    entropy = -(prior * np.log2(prior) + (1.0 - prior) * np.log2(1.0 - prior))
    trials = SortedTrials.of(target, nontarget, speakers)
    scores, llr = trials.pooled
    whole = Blocks(scores.target, scores.nontarget, llr, np.zeros(1, dtype=np.intp))
    values = _entropies(whole, odds, prior)[0]
    low = high = None
    if replicates:
        drawn = trials.replicates(replicates, seed).of_blocks(
            lambda some: _entropies(some, odds, prior)
        )
        each = zip(values.tolist(), drawn.T, entropy.tolist(), strict=True)
        limits = np.array([unbiased_loss(*one, level) for one in each])
        low, high = limits.T
        if error := error_limit(trials, level):
            llr = np.array([1.0, -1.0]) * decision_llr(error)
            share = np.array([1.0 - error, error])
            decided = Blocks(share, share[::-1], llr, np.zeros(1, dtype=np.intp))
            high = np.maximum(high, _entropies(decided, odds, prior)[0])
    return EceProfile(odds, values, entropy, low, high)


def _entropies(blocks: Blocks, odds: Array, prior: Array) -> Array:
    """ECE in bits of replicates at each prior, ``[replicate, prior]``."""
    columns = []
    for one, share in zip(odds, prior, strict=True):
        wrong = np.logaddexp(0.0, -blocks.llr - one), np.logaddexp(0.0, blocks.llr + one)
        target, nontarget = blocks.means(*wrong)
        columns.append(share * target + (1.0 - share) * nontarget)
    bits: Array = np.stack(columns, axis=1) / np.log(2.0)
    return bits
