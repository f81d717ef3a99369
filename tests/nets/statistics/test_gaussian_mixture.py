"""Mixtures against densities and statistics computed one Gaussian at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from voicenym.nets.statistics import gaussian_mixture
from voicenym.nets.statistics.gaussian_mixture import (
    Mixture,
    diagonal_places,
    pack,
    packed_squares,
    unpack,
)


def draw(full: bool, components: int = 3, d: int = 4, offset: float = 0.0, seed: int = 0):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(components, 5.0))
    means = offset + 2.0 * rng.normal(size=(components, d))
    if full:
        roots = rng.normal(size=(components, d, d))
        covariances = roots @ roots.transpose(0, 2, 1) / d + 0.1 * np.eye(d)
    else:
        covariances = rng.uniform(0.2, 2.0, (components, d))
    frames = offset + 2.0 * rng.normal(size=(200, d))
    return Mixture(*map(torch.from_numpy, (weights, means, covariances))), torch.from_numpy(frames)


def joint(mixture: Mixture, frames: torch.Tensor) -> np.ndarray:
    """ln of weight times density ``[frame, component]``, by scipy."""
    columns = []
    for w, m, c in zip(*(t.double().numpy() for t in vars_of(mixture)), strict=True):
        covariance = c if c.ndim == 2 else np.diag(c)
        columns.append(np.log(w) + multivariate_normal.logpdf(frames.numpy(), m, covariance))
    return np.stack(columns, axis=1)


def vars_of(mixture: Mixture):
    return mixture.weights, mixture.means, mixture.covariances


@pytest.mark.parametrize("full", [False, True])
def test_densities_and_statistics_are_the_definitions(full):
    mixture, frames = draw(full)
    expected = joint(mixture, frames)
    found = mixture.log_densities(frames).numpy()
    np.testing.assert_allclose(found, logsumexp(expected, axis=1), rtol=1e-10)
    shares = np.exp(expected - logsumexp(expected, axis=1, keepdims=True))
    counts, sums = mixture.statistics(frames)
    np.testing.assert_allclose(counts.numpy(), shares.sum(0), rtol=1e-9)
    np.testing.assert_allclose(sums.numpy(), shares.T @ frames.numpy(), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("full", [False, True])
def test_single_precision_is_enough_far_from_the_origin(full):
    mixture, frames = draw(full, offset=100.0)
    found = mixture.to(torch.float32).log_densities(frames.float()).double()
    torch.testing.assert_close(found, mixture.log_densities(frames), atol=2e-2, rtol=1e-4)


@pytest.mark.parametrize("full", [False, True])
def test_small_blocks_give_the_same(full, monkeypatch):
    mixture, frames = draw(full)
    counts, sums = mixture.statistics(frames)
    densities = mixture.log_densities(frames)
    monkeypatch.setattr(gaussian_mixture, "BLOCK_NUMBERS", 60)
    blocks = list(mixture.blocks(frames))
    assert len(blocks) > 20
    assert max(block.shape[0] * mixture.moments(block).shape[1] for block in blocks) <= 60
    torch.testing.assert_close(mixture.statistics(frames)[0], counts)
    torch.testing.assert_close(mixture.statistics(frames)[1], sums)
    torch.testing.assert_close(mixture.log_densities(frames), densities)


def test_no_frames_have_no_counts():
    mixture, frames = draw(True)
    counts, sums = mixture.statistics(frames[:0])
    assert not counts.any()
    assert not sums.any()
    assert mixture.log_densities(frames[:0]).shape == (0,)


def test_means_move_from_the_background_to_the_speaker_with_frames():
    mixture, frames = draw(False)
    counts, sums = mixture.statistics(frames)
    own = sums / counts[:, None]
    torch.testing.assert_close(mixture.adapted_means(0 * counts, 0 * sums), mixture.means)
    torch.testing.assert_close(mixture.adapted_means(1e9 * counts, 1e9 * sums), own)
    halfway = mixture.adapted_means(counts, sums, relevance=float(counts[0]))
    torch.testing.assert_close(halfway[0], 0.5 * (own[0] + mixture.means[0]))


@pytest.mark.parametrize("full", [False, True])
def test_adapted_means_fit_the_speaker_better(full):
    mixture, frames = draw(full)
    speaker = frames + 0.5
    adapted = mixture.with_means(mixture.adapted_means(*mixture.statistics(speaker)))
    assert adapted.log_densities(speaker).mean() > mixture.log_densities(speaker).mean()


@pytest.mark.parametrize("full", [False, True])
def test_whitening_makes_the_mahalanobis_distance_euclidean(full):
    mixture, _ = draw(full)
    deviation = torch.randn(5, 3, 4, dtype=torch.float64, generator=torch.Generator())
    matrices = mixture.covariances if full else torch.diag_embed(mixture.covariances)
    expected = torch.einsum("nci,cij,ncj->nc", deviation, matrices.inverse(), deviation)
    torch.testing.assert_close(mixture.whitened(deviation).square().sum(-1), expected)


def test_packed_triangles_come_back():
    x = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    outer = x[:, :, None] * x[:, None, :]
    torch.testing.assert_close(packed_squares(x), pack(outer))
    torch.testing.assert_close(unpack(pack(outer), 5), outer)
    torch.testing.assert_close(pack(outer)[:, diagonal_places(5)], x.square())
