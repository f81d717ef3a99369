"""Fusion by ranks: invariances, bounded outliers, and agreement with the plain regression."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.attack.fusion.logistic_fusion import LogisticFusion
from voicenym.attack.fusion.ranked_fusion import NormalScores, RankedFusion
from voicenym.errors import ScoreError
from voicenym.metrics import eer


def trials(count, seed=0):
    """Two attackers, of which the second knows more."""
    rng = np.random.default_rng(seed)
    target = rng.random(count) < 0.1
    return rng.normal(size=(count, 2)) + target[:, None] * [0.7, 2.0], target


def errors(fusion, x, target):
    found = fusion(list(x.T))
    return 100.0 * eer(found[target], found[~target], interval=None).value


def test_normal_scores_of_gaussian_scores_are_the_scores():
    x = np.random.default_rng(0).normal(size=100_000)
    test = np.linspace(-2.0, 2.0, 9)
    np.testing.assert_allclose(NormalScores.of(x)(test), test, atol=0.02)


@pytest.mark.parametrize("known", [np.array([1.0, 1.0, 2.0, 7.0]), np.zeros(3), np.arange(50.0)])
def test_the_order_of_trials_is_kept_beyond_the_known_ones(known):
    test = np.array([-1e9, -5.0, 0.0, 0.5, 1.0, 1.5, 8.0, 1e3, 1e9])
    found = NormalScores.of(known)(test)
    assert np.isfinite(found).all()
    assert (np.diff(found) >= 0.0).all()
    outside = (test < known.min()) | (test > known.max())
    assert (np.diff(found[outside]) > 0.0).all()


def test_monotone_scores_are_fused_alike():
    x, target = trials(4_000)
    test, owner = trials(4_000, seed=1)
    bent = lambda scores: np.stack([np.exp(scores[:, 0]), scores[:, 1] ** 3], axis=1)  # noqa: E731
    plain, other = RankedFusion.fit(x, target), RankedFusion.fit(bent(x), target)
    np.testing.assert_allclose(plain.weights, other.weights)
    assert errors(other, bent(test), owner) == pytest.approx(errors(plain, test, owner), abs=0.3)


def test_one_extreme_trial_does_not_silence_an_attacker():
    x, target = trials(4_000)
    test, owner = trials(20_000, seed=1)
    best = errors(LogisticFusion.fit(x, target), test, owner)
    assert errors(RankedFusion.fit(x, target), test, owner) < best + 0.5
    x[np.flatnonzero(target)[0], 1] = -500.0
    assert errors(RankedFusion.fit(x, target), test, owner) < best + 0.5
    assert errors(LogisticFusion.fit(x, target), test, owner) > best + 5.0


def test_scores_that_are_not_finite_are_refused():
    with pytest.raises(ScoreError, match="finite"):
        RankedFusion.fit(np.array([[np.nan], [1.0]]), np.array([True, False]))
