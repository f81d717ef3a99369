"""Learning the total variability model: it never goes down, and it finds what made the data."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from voicenym.errors import VoicenymError
from voicenym.nets.statistics.gaussian_mixture import Mixture, pack
from voicenym.nets.statistics.total_variability import TotalVariability
from voicenym.nets.statistics.total_variability_em import fit


def draw(full: bool, recordings: int, frames: int, seed: int, rank: int = 2, d: int = 2):
    """Statistics, squares, the mixture that stands for them, the model, and the frames."""
    rng = np.random.default_rng(seed)
    components = 3
    means = 3.0 * rng.normal(size=(components, d))
    factors = rng.normal(size=(components, d, rank))
    roots = rng.normal(size=(components, d, d))
    covariances = roots @ roots.transpose(0, 2, 1) / d + 0.5 * np.eye(d)
    if not full:
        covariances = covariances * np.eye(d)
    chol = np.linalg.cholesky(covariances)
    counts, sums, squares, kept = [], [], np.zeros((components, d, d)), []
    for _ in range(recordings):
        n = int(rng.integers(max(1, frames // 2), frames + 1))
        which = rng.integers(0, components, n)
        own = means + factors @ rng.normal(size=rank)
        x = own[which] + np.einsum("nij,nj->ni", chol[which], rng.normal(size=(n, d)))
        hot = np.eye(components)[which]
        counts.append(hot.sum(0))
        sums.append(hot.T @ x)
        squares += np.einsum("nc,ni,nj->cij", hot, x, x)
        kept.append((x, which))
    n, f = torch.from_numpy(np.stack(counts)), torch.from_numpy(np.stack(sums))
    total = n.sum(0)
    mean = f.sum(0) / total[:, None]
    second = torch.from_numpy(squares)
    scatter = second / total[:, None, None] - mean[:, :, None] * mean[:, None, :]
    if not full:
        scatter, second = (t.diagonal(dim1=1, dim2=2) for t in (scatter, second))
    mixture = Mixture(total / total.sum(), mean, scatter.contiguous())
    truth = TotalVariability(*map(torch.from_numpy, (means, factors, covariances)))
    return n, f, pack(second) if full else second, mixture, truth, kept


def marginal(model: TotalVariability, x: np.ndarray, which: np.ndarray) -> float:
    """ln of the density of one recording's frames, as one long Gaussian vector."""
    d = x.shape[1]
    mean, loading = model.means.numpy()[which], model.factors.numpy()[which]
    loading = loading.reshape(len(x) * d, -1)
    covariance = loading @ loading.T
    noise = model.covariances
    for i, c in enumerate(which):
        block = noise[c] if noise.ndim == 3 else torch.diag(noise[c])
        covariance[i * d : (i + 1) * d, i * d : (i + 1) * d] += block.numpy()
    return float(multivariate_normal.logpdf(x.ravel(), mean.ravel(), covariance))


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 5))
def test_the_likelihood_never_decreases(seed, full, rank):
    n, f, squares, mixture, _, _ = draw(full, 40, 12, seed)
    _, track = fit([(n, f)], squares, mixture, rank, iterations=12, seed=seed)
    assert len(track) == 13
    assert np.diff(track).min() > -1e-8


@pytest.mark.parametrize("full", [False, True])
def test_the_likelihood_is_that_of_the_frames(full):
    n, f, squares, mixture, _, kept = draw(full, 6, 10, seed=5)
    model, track = fit([(n, f)], squares, mixture, 2, iterations=3)
    expected = sum(marginal(model, x, which) for x, which in kept) / 6
    assert track[-1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("full", [False, True])
def test_finds_the_model_that_recordings_were_drawn_from(full):
    n, f, squares, mixture, truth, _ = draw(full, 3000, 60, seed=7)
    model, track = fit([(n, f)], squares, mixture, 2, iterations=40)
    # T is known up to a rotation of w: T T' is not
    found, wanted = (m.factors.flatten(0, 1) for m in (model, truth))
    difference = torch.linalg.norm(found @ found.T - wanted @ wanted.T)
    assert difference < 0.1 * torch.linalg.norm(wanted @ wanted.T)
    torch.testing.assert_close(model.means, truth.means, atol=0.15, rtol=0)
    exact = truth.covariances if full else truth.covariances.diagonal(dim1=1, dim2=2)
    torch.testing.assert_close(model.covariances, exact, atol=0.05, rtol=0.05)
    # minimum divergence: over recordings, w has the mean and covariance that the model says
    w = model.posterior(n, f)
    torch.testing.assert_close(w.mean.mean(0), torch.zeros(2).double(), atol=1e-3, rtol=0)
    square = (w.covariance + w.mean[:, :, None] * w.mean[:, None, :]).mean(0)
    torch.testing.assert_close(square, torch.eye(2).double(), atol=1e-2, rtol=0)
    assert track[-1] > track[0]


def test_parts_of_any_size_and_the_seed():
    n, f, squares, mixture, _, _ = draw(True, 30, 20, seed=1)
    whole, _ = fit([(n, f)], squares, mixture, 2, iterations=3, seed=3)
    parts = list(zip(n.split(7), f.split(7), strict=True))
    split, _ = fit(parts, squares, mixture, 2, iterations=3, seed=3)
    torch.testing.assert_close(split.factors, whole.factors)
    other, _ = fit([(n, f)], squares, mixture, 2, iterations=3, seed=4)
    assert not torch.allclose(other.factors, whole.factors)


def test_a_component_without_frames_stays_as_it_is():
    n, f, squares, mixture, _, _ = draw(True, 30, 20, seed=2)
    n, f, squares = n.clone(), f.clone(), squares.clone()
    n[:, 1], f[:, 1], squares[1] = 0.0, 0.0, 0.0
    model, track = fit([(n, f)], squares, mixture, 2, iterations=4)
    torch.testing.assert_close(model.covariances[1], mixture.covariances[1])
    assert all(torch.isfinite(t).all() for t in (model.means, model.factors))
    assert np.diff(track).min() > -1e-8


def test_one_recording_is_too_few():
    n, f, squares, mixture, _, _ = draw(False, 1, 20, seed=1)
    with pytest.raises(VoicenymError, match="two recordings"):
        fit([(n, f)], squares, mixture, 2)
