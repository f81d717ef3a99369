"""Expectation maximisation: it never goes down, and it finds what data were drawn from."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from voicenym.errors import VoicenymError
from voicenym.nets.statistics import gaussian_mixture
from voicenym.nets.statistics.gaussian_mixture import Mixture
from voicenym.nets.statistics.gaussian_mixture_em import fit, floored, split


def cloud(seed: int, n: int = 400, d: int = 3) -> torch.Tensor:
    """Frames from a few lumps, some of them flat, so that floors are reached."""
    rng = np.random.default_rng(seed)
    centres = 4.0 * rng.normal(size=(4, d))
    scale = np.where(rng.random((4, d)) < 0.3, 1e-3, rng.uniform(0.3, 1.0, (4, d)))
    lump = rng.integers(0, 4, n)
    return torch.from_numpy(centres[lump] + scale[lump] * rng.normal(size=(n, d)))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 12))
def test_the_likelihood_never_decreases(seed, full, components):
    _, rounds = fit(cloud(seed), components, full=full, iterations=6, growing=3, seed=seed)
    assert rounds[-1].components == components
    assert rounds[-1].full == full
    for one in rounds:
        assert np.diff(one.log_likelihoods).min(initial=0.0) > -1e-9


def test_matrices_begin_as_the_variances_that_they_replace():
    lumps = torch.from_numpy(np.random.default_rng(0).normal(size=(400, 3)))
    lumps[200:] += 5.0
    _, rounds = fit(lumps, 2, full=True)
    assert rounds[-1].log_likelihoods[0] == pytest.approx(rounds[-2].log_likelihoods[-1])


def test_matrices_that_would_begin_below_the_floor_begin_on_it():
    _, rounds = fit(cloud(165), 4, full=True, iterations=6, growing=3, seed=165)
    assert np.diff(rounds[-1].log_likelihoods).min() > -1e-9


@pytest.mark.parametrize("full", [False, True])
def test_finds_the_mixture_that_frames_were_drawn_from(full):
    rng = np.random.default_rng(3)
    weights = np.array([0.5, 0.3, 0.2])
    means = np.array([[0.0, 0.0], [6.0, 1.0], [-2.0, 7.0]])
    covariances = np.array([[[1.0, 0.8], [0.8, 1.0]], [[0.5, -0.3], [-0.3, 2.0]], np.eye(2)])
    if not full:
        covariances *= np.eye(2)
    which = rng.choice(3, 20_000, p=weights)
    roots = np.linalg.cholesky(covariances)
    frames = means[which] + np.einsum("nij,nj->ni", roots[which], rng.normal(size=(20_000, 2)))
    mixture, _ = fit(torch.from_numpy(frames), 3, full=full, iterations=30)
    order = [int((mixture.means - torch.from_numpy(m)).norm(dim=1).argmin()) for m in means]
    assert sorted(order) == [0, 1, 2]
    np.testing.assert_allclose(mixture.weights[order], weights, atol=0.01)
    np.testing.assert_allclose(mixture.means[order], means, atol=0.06)
    found = mixture.covariances[order]
    matrices = found if full else torch.diag_embed(found)
    np.testing.assert_allclose(matrices, covariances, atol=0.08)


def test_the_seed_decides_and_small_blocks_do_not(monkeypatch):
    frames = cloud(1)
    once, _ = fit(frames, 5, full=True, seed=4)
    assert torch.equal(fit(frames, 5, full=True, seed=4)[0].means, once.means)
    assert not torch.equal(fit(frames, 5, full=True, seed=5)[0].means, once.means)
    monkeypatch.setattr(gaussian_mixture, "BLOCK_NUMBERS", 100)
    torch.testing.assert_close(fit(frames, 5, full=True, seed=4)[0].means, once.means)


def test_single_precision_follows_double():
    frames = cloud(2)
    double, _ = fit(frames, 4, full=True)
    single, _ = fit(frames.float(), 4, full=True)
    assert single.means.dtype == torch.float32
    difference = single.log_densities(frames.float()).double() - double.log_densities(frames)
    assert difference.mean().abs() < 1e-3


def test_splitting_keeps_the_mean_and_takes_the_heaviest():
    mixture = Mixture(
        torch.tensor([0.2, 0.7, 0.1]),
        torch.randn(3, 2, generator=torch.Generator()),
        torch.ones(3, 2),
    )
    four = split(mixture, 4, torch.Generator().manual_seed(0))
    torch.testing.assert_close(four.weights, torch.tensor([0.2, 0.35, 0.1, 0.35]))
    torch.testing.assert_close(0.5 * (four.means[1] + four.means[3]), mixture.means[1])
    torch.testing.assert_close(four.means[[0, 2]], mixture.means[[0, 2]])
    assert split(mixture, 64, torch.Generator()).components == 6


def test_a_floored_matrix_is_the_likeliest_above_the_floor():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    least = torch.from_numpy(root @ root.T + np.eye(3))
    scatter = torch.diag(torch.tensor([0.01, 1.0, 100.0], dtype=torch.float64))
    found = floored(scatter[None], least)[0]
    assert torch.linalg.eigvalsh(found - least).min() > -1e-9

    def likelihood(covariance: torch.Tensor) -> float:
        return -float(torch.logdet(covariance) + torch.trace(covariance.inverse() @ scatter))

    for _ in range(200):
        noise = torch.from_numpy(rng.normal(size=(3, 3))) * 10 ** rng.uniform(-3, 1)
        other = found + noise + noise.T
        if torch.linalg.eigvalsh(other - least).min() > 0:
            assert likelihood(other) <= likelihood(found) + 1e-9
    torch.testing.assert_close(floored(least[None] * 2, least), least[None] * 2)


def test_says_what_is_wrong_with_frames():
    frames = cloud(0)
    with pytest.raises(VoicenymError, match="64 components need 128 frames"):
        fit(frames[:100], 64)
    frames[3, 1] = float("nan")
    with pytest.raises(VoicenymError, match="not finite"):
        fit(frames, 2)
    with pytest.raises(VoicenymError, match="bound to each other"):
        fit(torch.ones(100, 3), 2)
