"""Fusion of attackers by the ranks of their scores.

One trial with an extreme score, such as a likelihood ratio under covariances from few recordings,
would decide the weight of its attacker in a logistic regression of scores. Normal scores (van der
Waerden, "Order tests for the two-sample problem and their power", 1952) keep the order of trials
and bound such outliers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from voicenym.attack.fusion.logistic_fusion import LogisticFusion
from voicenym.verification.scoring import Array


@dataclass(frozen=True)
class NormalScores:
    """Strictly increasing map of scores to normal quantiles of their rank among known scores.

    Between known scores it is linear; beyond them it rises by the logarithm of the distance.

    Args:
        known: distinct known scores, ascending.
        quantiles: their normal quantiles.
        scale: standard deviation of the known scores.
    """

    known: Array
    quantiles: Array
    scale: float

    @classmethod
    def of(cls, scores: Array) -> NormalScores:
        """The map by scores ``[trial]``; equal ones share their mean rank."""
        known, counts = np.unique(scores, return_counts=True)
        ranks = (np.cumsum(counts) - 0.5 * counts) / len(scores)
        quantiles = np.array([NormalDist().inv_cdf(rank) for rank in ranks.tolist()])
        return cls(known, quantiles, float(scores.std()) or 1.0)

    def __call__(self, scores: Array) -> Array:
        """Normal scores of the same shape."""
        below = np.maximum(self.known[0] - scores, 0.0)
        above = np.maximum(scores - self.known[-1], 0.0)
        found: Array = np.interp(scores, self.known, self.quantiles)
        return found + np.log1p(above / self.scale) - np.log1p(below / self.scale)


@dataclass(frozen=True)
class RankedFusion:
    """Logistic regression of normal scores.

    Args:
        normal: map of each system's scores.
        fusion: of the mapped scores.
    """

    normal: tuple[NormalScores, ...]
    fusion: LogisticFusion

    @classmethod
    def fit(cls, scores: Array, target: np.ndarray) -> RankedFusion:
        """Fit to trials with known answers.

        Args:
            scores: ``[trial, system]``, finite.
            target: ``[trial]`` bool.

        Raises:
            ScoreError: as :meth:`voicenym.attack.fusion.logistic_fusion.LogisticFusion.fit`.
        """
        normal = tuple(NormalScores.of(column) for column in np.asarray(scores, np.float64).T)
        columns = [one(column) for one, column in zip(normal, scores.T, strict=True)]
        return cls(normal, LogisticFusion.fit(np.stack(columns, axis=1), target))

    @property
    def weights(self) -> Array:
        """Weight of each system's normal scores."""
        return self.fusion.weights

    def __call__(self, scores: Sequence[Array]) -> Array:
        """Fused LLRs of the shape of each system's scores."""
        return self.fusion([one(own) for one, own in zip(self.normal, scores, strict=True)])
