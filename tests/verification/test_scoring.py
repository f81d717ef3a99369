"""Back ends against plain densities, and refused input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from voicenym.errors import VoicenymError
from voicenym.verification.scoring import Cosine, DiagonalGaussian, diagonal_llr, grouped


def brute_force(models: list[np.ndarray], trials: np.ndarray, w: np.ndarray, b: np.ndarray):
    """LLR by the joint Gaussian of all vectors, mean zero, of full covariances."""

    def log_density(vectors: np.ndarray) -> float:
        n = len(vectors)
        covariance = np.kron(np.eye(n), w) + np.kron(np.ones((n, n)), b)
        return multivariate_normal.logpdf(vectors.ravel(), cov=covariance)

    return np.array(
        [
            [log_density(np.vstack([m, t])) - log_density(m) - log_density(t[None]) for t in trials]
            for m in models
        ]
    )


def test_cosine_is_that_of_the_mean_of_unit_vectors():
    rng = np.random.default_rng(1)
    models = [rng.normal(size=(n, 5)) for n in (1, 4, 2)]
    trials = rng.normal(size=(6, 5))
    found = Cosine().score(models, trials)
    for i, model in enumerate(models):
        mean = np.mean([v / np.linalg.norm(v) for v in model], axis=0)
        for j, trial in enumerate(trials):
            wanted = mean @ trial / np.linalg.norm(mean) / np.linalg.norm(trial)
            assert found[i, j] == pytest.approx(wanted, abs=1e-12)


def test_cosine_knows_no_length_and_does_not_divide_by_zero():
    rng = np.random.default_rng(2)
    model, trials = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    scales = rng.uniform(0.1, 9.0, (5, 1))
    found = Cosine().score([model * 7.0], trials * scales)
    np.testing.assert_allclose(found, Cosine().score([model], trials), atol=1e-12)
    assert Cosine().score([np.zeros((1, 4))], trials).tolist() == [[0.0] * 5]


def test_the_diagonal_ratio_is_that_of_gaussian_densities():
    rng = np.random.default_rng(3)
    psi = np.array([0.0, 0.3, 2.0, 11.0])
    models = [rng.normal(size=(n, 4)) * 2.0 for n in (1, 3, 8)]
    trials = rng.normal(size=(5, 4)) * 2.0
    found = diagonal_llr(np.stack([m.mean(0) for m in models]), np.array([1, 3, 8]), trials, psi)
    wanted = brute_force(models, trials, np.eye(4), np.diag(psi))
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_diagonal_gaussian_recovers_variances_of_unequal_groups():
    rng = np.random.default_rng(4)
    within, between = np.array([1.0, 4.0, 0.25]), np.array([9.0, 1.0, 0.0])
    count = rng.integers(2, 12, 1500)
    speakers = np.repeat(np.arange(1500), count)
    x = rng.normal(size=(1500, 3))[speakers] * np.sqrt(between) + [5.0, -2.0, 0.0]
    x = x + rng.normal(size=x.shape) * np.sqrt(within)
    found = DiagonalGaussian.train(x, speakers)
    np.testing.assert_allclose(found.mean, [5.0, -2.0, 0.0], atol=0.2)
    np.testing.assert_allclose(found.within, within, rtol=0.05)
    np.testing.assert_allclose(found.between, between, rtol=0.1, atol=0.01)


def test_diagonal_gaussian_scores_in_the_units_of_the_vectors():
    rng = np.random.default_rng(5)
    backend = DiagonalGaussian(rng.normal(size=3), np.array([1.0, 2.0, 0.5]), np.full(3, 4.0))
    models, trials = [rng.normal(size=(4, 3))], rng.normal(size=(6, 3))
    wanted = brute_force(
        [m - backend.mean for m in models],
        trials - backend.mean,
        np.diag(backend.within),
        np.diag(backend.between),
    )
    np.testing.assert_allclose(backend.score(models, trials), wanted, atol=1e-9)


def test_a_constant_number_tells_nothing():
    speakers = np.repeat(np.arange(4), 5)
    x = np.column_stack([np.ones(20), np.random.default_rng(6).normal(size=20)])
    assert np.isfinite(DiagonalGaussian.train(x, speakers).score([x[:3]], x)).all()


@pytest.mark.parametrize(
    ("models", "trials"),
    [
        ([], np.zeros((1, 2))),
        ([np.zeros((0, 2))], np.zeros((1, 2))),
        ([np.zeros((1, 3))], np.zeros((1, 2))),
        ([np.zeros(2)], np.zeros((1, 2))),
        ([np.zeros((1, 2))], np.zeros(2)),
    ],
)
def test_shapes_that_do_not_fit_are_refused(models, trials):
    with pytest.raises(VoicenymError):
        Cosine().score(models, trials)


@pytest.mark.parametrize(
    ("x", "speakers"),
    [
        (np.zeros((3, 2)), ["a", "a"]),
        (np.zeros((3, 2)), ["a", "a", "a"]),
        (np.zeros((3, 2)), ["a", "b", "c"]),
        (np.full((3, 2), np.nan), ["a", "a", "b"]),
    ],
)
def test_training_data_that_does_not_suffice_is_refused(x, speakers):
    with pytest.raises(VoicenymError):
        grouped(x, speakers)
