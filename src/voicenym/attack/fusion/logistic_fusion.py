"""Fusion of several attackers' scores by logistic regression.

Brümmer and du Preez, "Application-independent evaluation of speaker detection" (2006), and Brümmer
et al., "Fusion of heterogeneous speaker recognition systems" (2007): the fused log-likelihood ratio
is an affine function of the scores that minimises the cross-entropy of trials with known answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.errors import ScoreError
from voicenym.metrics.verification.logistic_regression import regressed
from voicenym.verification.scoring import Array

RIDGE = 1e-4
"""Penalty of squared weights, the scores being standardised."""


@dataclass(frozen=True)
class LogisticFusion:
    """LLR = offset + sum of weight times score, in nats.

    Args:
        weights: ``[system]``, not negative.
        offset: in nats.
    """

    weights: Array
    offset: float

    @classmethod
    def fit(cls, scores: Array, target: np.ndarray) -> LogisticFusion:
        """Logistic regression in which targets and non-targets have equal weight.

        Weights are not negative, because higher scores mean the same speaker: attackers with
        negative weights are left out, the most negative one first.

        Args:
            scores: ``[trial, system]``, finite.
            target: ``[trial]`` bool.

        Raises:
            ScoreError: scores that are not finite, or a class without trials.
        """
        x, label = np.asarray(scores, dtype=np.float64), np.asarray(target, dtype=bool)
        if not np.isfinite(x).all():
            raise ScoreError("scores to fuse must be finite")
        if not label.any() or label.all():
            raise ScoreError("fusion needs trials of the same and of different speakers")
        kept = np.flatnonzero(x.std(0) > 0.0)
        weights, offset = np.zeros(x.shape[1]), 0.0
        while len(kept):
            own, offset = _regression(x[:, kept], label)
            if (own >= 0.0).all():
                weights[kept] = own
                break
            kept = np.delete(kept, own.argmin())
        return cls(weights, offset if len(kept) else 0.0)

    def __call__(self, scores: Sequence[Array]) -> Array:
        """Fused LLRs of the shape of each system's scores."""
        found: Array = self.offset + np.tensordot(self.weights, np.stack(list(scores)), axes=1)
        return found


def _regression(x: Array, label: np.ndarray) -> tuple[Array, float]:
    """Weights ``[system]`` of scores ``[trial, system]``, and the offset."""
    centre, scale = x.mean(0), x.std(0)
    design = np.column_stack([(x - centre) / scale, np.ones(len(x))])
    balance = np.where(label, 0.5 / label.sum(), 0.5 / (~label).sum())
    ridge = np.append(np.full(x.shape[1], RIDGE), 0.0)
    w = regressed(design, label, balance, ridge)
    weights = w[:-1] / scale
    return weights, float(w[-1] - weights @ centre)
