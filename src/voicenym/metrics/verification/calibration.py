"""Logistic calibration: scores to log-likelihood ratios by a slope and an offset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voicenym.errors import ScoreError
from voicenym.metrics.trials.scores import Array, Scores, check
from voicenym.metrics.verification.logistic_regression import regressed

RIDGE = 1e-6
"""Penalty of the squared slope, in units of the scores' variance: the best slope of separated
classes would be infinite."""


@dataclass(frozen=True)
class Affine:
    """LLR = slope * score + offset, in nats."""

    slope: float
    offset: float

    @classmethod
    def fit(cls, target: Scores, nontarget: Scores, prior: float = 0.5) -> Affine:
        """Logistic regression in which both classes weigh as the prior says.

        Brümmer and de Villiers, "The BOSARIS toolkit", 2013: the cross-entropy at ``prior``,
        minimised by Newton's method.

        Args:
            target, nontarget: finite scores.
            prior: of a target, between 0 and 1.

        Raises:
            ScoreError: NaN or infinite scores, a class without trials, or a prior that is not
                between 0 and 1.

        Example:
            >>> rng = np.random.default_rng(0)
            >>> found = Affine.fit(rng.normal(2, 1, 9999), rng.normal(0, 1, 9999))
            >>> round(found.slope), round(found.offset)
            (2, -2)
        """
        t, n = check(target, nontarget)
        if not 0.0 < prior < 1.0:
            raise ScoreError(f"the prior of a target is {prior}; it must lie between 0 and 1")
        scores = np.concatenate([t, n])
        infinite = int(np.isinf(scores).sum())
        if infinite:
            raise ScoreError(
                f"{infinite} of {scores.size} scores are infinite, so that no line fits them; "
                "leave them out, or calibrate by PAV (voicenym.metrics.Calibration)"
            )
        centre, scale = float(scores.mean()), float(scores.std()) or 1.0
        x = np.stack([(scores - centre) / scale, np.ones_like(scores)], axis=1)
        label = np.concatenate([np.ones(t.size), np.zeros(n.size)])
        weight = np.where(label > 0, prior / t.size, (1.0 - prior) / n.size)
        logit = float(np.log(prior / (1.0 - prior)))
        ridge = np.array([RIDGE, 0.0])
        w = regressed(x, label, weight, ridge, logit)
        return cls(float(w[0] / scale), float(w[1] - w[0] * centre / scale))

    def __call__(self, scores: Scores) -> Array:
        """LLRs in nats."""
        return self.slope * np.asarray(scores, dtype=np.float64) + self.offset
