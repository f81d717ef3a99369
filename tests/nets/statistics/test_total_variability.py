"""i-vectors against conditioning one long Gaussian vector on all frames."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from voicenym.nets.statistics import total_variability
from voicenym.nets.statistics.gaussian_mixture import Mixture
from voicenym.nets.statistics.total_variability import TotalVariability, start


def matrices(model: TotalVariability) -> np.ndarray:
    c = model.covariances
    return (c if c.ndim == 3 else torch.diag_embed(c)).numpy()


def draw_model(full: bool, components: int = 3, d: int = 2, rank: int = 4, seed: int = 0):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(components, d, d))
    covariances = roots @ roots.transpose(0, 2, 1) / d + 0.5 * np.eye(d)
    if not full:
        covariances = np.stack([np.diag(c) for c in covariances])
    means, factors = rng.normal(size=(components, d)), rng.normal(size=(components, d, rank))
    return TotalVariability(*map(torch.from_numpy, (means, factors, covariances)))


def draw_recording(model: TotalVariability, frames: int, rng: np.random.Generator):
    """Frames ``[frame, d]`` and the component of each."""
    which = rng.integers(0, len(model.means), frames)
    w = rng.normal(size=model.rank)
    means = (model.means + model.factors @ torch.from_numpy(w)).numpy()
    roots = np.linalg.cholesky(matrices(model))
    noise = rng.normal(size=(frames, model.means.shape[1]))
    return means[which] + np.einsum("nij,nj->ni", roots[which], noise), which


def statistics(frames: np.ndarray, which: np.ndarray, components: int):
    hot = np.eye(components)[which]
    return torch.from_numpy(hot.sum(0)), torch.from_numpy(hot.T @ frames)


def long_gaussian(model: TotalVariability, which: np.ndarray):
    """Mean and covariance of all frames in a row, and their covariance with w."""
    mean = model.means.numpy()[which].ravel()
    loading = model.factors.numpy()[which].reshape(len(mean), -1)
    noise = matrices(model)[which]
    d = model.means.shape[1]
    covariance = loading @ loading.T
    for i, block in enumerate(noise):
        covariance[i * d : (i + 1) * d, i * d : (i + 1) * d] += block
    return mean, covariance, loading


@pytest.mark.parametrize("full", [False, True])
def test_the_posterior_is_that_of_the_joint_gaussian(full):
    rng = np.random.default_rng(1)
    model = draw_model(full)
    recordings = [draw_recording(model, n, rng) for n in (1, 7, 40)]
    stacked = [statistics(x, which, 3) for x, which in recordings]
    counts, sums = (torch.stack(part) for part in zip(*stacked, strict=True))
    found = model.posterior(counts, sums)
    for u, (x, which) in enumerate(recordings):
        mean, covariance, loading = long_gaussian(model, which)
        gain = loading.T @ np.linalg.inv(covariance)
        np.testing.assert_allclose(found.mean[u], gain @ (x.ravel() - mean), atol=1e-8)
        np.testing.assert_allclose(found.covariance[u], np.eye(4) - gain @ loading, atol=1e-8)
        without = covariance - loading @ loading.T
        evidence = multivariate_normal.logpdf(x.ravel(), mean, covariance)
        evidence -= multivariate_normal.logpdf(x.ravel(), mean, without)
        assert float(found.evidence[u]) == pytest.approx(evidence, abs=1e-7)


def test_without_frames_it_is_what_is_expected_of_anybody():
    model = draw_model(True)
    found = model.posterior(torch.zeros(1, 3).double(), torch.zeros(1, 3, 2).double())
    assert not found.mean.any()
    torch.testing.assert_close(found.covariance[0], torch.eye(4).double())
    assert float(found.evidence) == pytest.approx(0.0)
    assert model.ivectors(torch.zeros(0, 3), torch.zeros(0, 3, 2)).shape == (0, 4)


def test_many_frames_tell_w():
    rng = np.random.default_rng(2)
    model = draw_model(True)
    which = rng.integers(0, 3, 20_000)
    w = rng.normal(size=4)
    means = (model.means + model.factors @ torch.from_numpy(w)).numpy()
    frames = means[which] + rng.normal(size=(20_000, 2))
    counts, sums = statistics(frames, which, 3)
    found = model.ivectors(counts[None], sums[None])
    np.testing.assert_allclose(found[0], w, atol=0.1)


def test_blocks_and_single_precision_give_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    model = draw_model(True)
    parts = [statistics(*draw_recording(model, 30, rng), 3) for _ in range(9)]
    counts, sums = (torch.stack(part) for part in zip(*parts, strict=True))
    whole = model.ivectors(counts, sums)
    single = model.to(torch.float32).ivectors(counts.float(), sums.float())
    torch.testing.assert_close(single, whole, atol=1e-4, rtol=1e-4)
    monkeypatch.setattr(total_variability, "BLOCK_NUMBERS", 32)
    fresh = draw_model(True)
    assert len(list(fresh.blocks(counts, sums))) == 5
    torch.testing.assert_close(fresh.ivectors(counts, sums), whole)


@pytest.mark.parametrize("full", [False, True])
def test_the_start_is_seeded_and_as_spread_as_it_says(full):
    covariances = torch.full((64, 3), 4.0) if not full else 4.0 * torch.eye(3).repeat(64, 1, 1)
    mixture = Mixture(torch.full((64,), 1 / 64), torch.zeros(64, 3), covariances)
    once, again, other = (
        start(mixture, 20, torch.Generator().manual_seed(s), spread=0.5) for s in (0, 0, 1)
    )
    assert torch.equal(once.factors, again.factors)
    assert not torch.equal(once.factors, other.factors)
    assert float(once.factors.square().sum(2).mean().sqrt()) == pytest.approx(1.0, rel=0.05)
