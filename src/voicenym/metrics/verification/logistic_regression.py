"""Weighted logistic regression by Newton's method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicenym.metrics.trials.scores import Array

STEPS = 100
"""Most steps of Newton's method."""


def regressed(
    design: Array, label: NDArray[Any], weight: Array, ridge: Array, offset: float = 0.0
) -> Array:
    """Weights ``[measure]`` that minimise ``sum_t weight_t (ln(1 + e^z_t) - label_t z_t) +
    sum_m ridge_m w_m^2 / 2`` with ``z = design w + offset``. Steps that raise the cost are halved.

    Args:
        design: ``[trial, measure]``; a column of ones stands for a constant.
        label: ``[trial]``, 0 or 1.
        weight: of the trials, ``[trial]``.
        ridge: of the squared weights, ``[measure]``.
        offset: of z, in nats.
    """
    w = np.zeros(design.shape[1])

    def cost(w: Array) -> float:
        z = design @ w + offset
        return float(weight @ (np.logaddexp(0.0, z) - label * z) + 0.5 * ridge @ (w * w))

    for _ in range(STEPS):
        p = 0.5 * (1.0 + np.tanh(0.5 * (design @ w + offset)))
        slope = design.T @ (weight * (p - label)) + ridge * w
        curve = (design * (weight * p * (1.0 - p))[:, None]).T @ design + np.diag(ridge + 1e-12)
        step = np.linalg.solve(curve, slope)
        size, before = 1.0, cost(w)
        while cost(w - size * step) > before and size > 1e-6:
            size *= 0.5
        w = w - size * step
        if np.abs(size * step).max() < 1e-9:
            break
    return w
