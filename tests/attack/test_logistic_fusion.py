"""Fusion by logistic regression, against Gaussian scores with known log-likelihood ratios."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.attack.fusion.logistic_fusion import LogisticFusion
from voicenym.errors import ScoreError
from voicenym.metrics import eer


def scores(count: int, seed: int = 0):
    """Two independent Gaussian systems with d' = 2 and 1, and one of noise."""
    rng = np.random.default_rng(seed)
    target = np.arange(count) % 2 == 0
    means = np.outer(target, [2.0, 1.0, 0.0])
    return means + rng.normal(size=(count, 3)), target


def test_weights_are_those_of_the_log_likelihood_ratio():
    # ln N(x; d, 1) - ln N(x; 0, 1) = d x - d^2 / 2, summed over independent systems
    x, target = scores(40_000)
    fusion = LogisticFusion.fit(x, target)
    np.testing.assert_allclose(fusion.weights, [2.0, 1.0, 0.0], atol=0.06)
    assert fusion.offset == pytest.approx(-2.5, abs=0.1)


def test_the_fusion_is_better_than_its_best_part():
    fusion = LogisticFusion.fit(*scores(2_000))
    x, target = scores(20_000, 1)
    fused = fusion([x[:, 0], x[:, 1], x[:, 2]])
    # d' of the sum is sqrt(2^2 + 1^2): EER = Phi(-sqrt(5) / 2)
    assert eer(fused[target], fused[~target]).value == pytest.approx(0.1318, abs=0.01)
    assert eer(x[target, 0], x[~target, 0]).value == pytest.approx(0.1587, abs=0.01)


def test_a_system_that_is_wrong_or_constant_is_left_out():
    x, target = scores(2_000)
    x[:, 1] *= -1.0
    x[:, 2] = 7.0
    weights = LogisticFusion.fit(x, target).weights
    assert weights[0] > 1.0
    assert weights[1] == weights[2] == 0.0


def test_separated_classes_have_finite_weights():
    fusion = LogisticFusion.fit(np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([0, 0, 1, 1]))
    assert np.isfinite(fusion.weights).all()


def test_bad_scores_are_refused():
    with pytest.raises(ScoreError, match="finite"):
        LogisticFusion.fit(np.array([[np.nan], [1.0]]), np.array([True, False]))
    with pytest.raises(ScoreError, match="different speakers"):
        LogisticFusion.fit(np.ones((3, 1)), np.array([True] * 3))
