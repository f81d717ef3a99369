"""Mixtures fitted to vectors whose distribution is known."""

import numpy as np
import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.identity.pools.speaker_pool import Pool
from voicenym.metrics import cross_similarity_distance
from voicenym.training.identity.train_mixture import (
    MixtureConfig,
    Tried,
    chosen,
    drawn,
    fit,
    search,
    train,
)

SPREAD = torch.tensor([3.0, 2.0, 1.0, 0.5, 0.05, 0.01])


def gaussian(count: int, seed: int = 0) -> torch.Tensor:
    noise = torch.Generator().manual_seed(seed)
    return torch.randn(count, 6, generator=noise) * SPREAD + torch.arange(6.0)


@pytest.mark.parametrize("covariance", ["diag", "full"])
def test_a_gaussian_is_found(covariance):
    model = fit(gaussian(3000), MixtureConfig(0.999, 1, covariance))
    assert model.means.shape == (1, 4)
    assert torch.allclose(model.mean, torch.arange(6.0), atol=0.2)
    variances = model.covariances[0]
    variances = variances.diagonal() if covariance == "full" else variances
    assert torch.allclose(variances, SPREAD[:4].square(), rtol=0.1)
    again = fit(gaussian(3000), MixtureConfig(0.999, 1, covariance))
    assert torch.equal(model.basis, again.basis)


def test_two_heaps_are_two_components():
    one = torch.cat([gaussian(300), gaussian(100, 1) + torch.tensor([40.0, 0, 0, 0, 0, 0])])
    model = fit(one, MixtureConfig(0.99, 2))
    assert sorted(model.weights.tolist()) == pytest.approx([0.25, 0.75], abs=0.01)
    pseudo = drawn(model, 2000, np.random.default_rng(0))
    assert cross_similarity_distance(one.numpy(), pseudo).value < 0.06


def test_the_share_decides_how_many_dimensions_are_kept():
    x = gaussian(500)
    kept = [fit(x, MixtureConfig(share)).means.shape[1] for share in (0.5, 0.9, 0.98, 0.999, 1.0)]
    assert kept == sorted(kept)
    assert kept[0] == 1
    assert kept[-1] == 6


def test_mixtures_are_fitted_by_sex():
    x = torch.cat([gaussian(50), gaussian(60, 1) + 10])
    pool = Pool(x, ("f",) * 50 + ("m",) * 60, tuple(map(str, range(110))), "invented", "1")
    model = train(pool, MixtureConfig())
    assert torch.allclose(model.groups["m"].mean, x[50:].mean(0), atol=1e-5)
    assert (model.encoder, model.version) == ("invented", "1")
    assert set(train(pool, MixtureConfig(by_sex=False)).groups) == {""}
    nobody = Pool(x, ("",) * 110, pool.speakers, "invented")
    with pytest.raises(VoicenymError, match="--any-sex"):
        train(nobody, MixtureConfig())


def test_few_or_equal_speakers_are_refused():
    with pytest.raises(VoicenymError, match="3 speakers are too few"):
        fit(gaussian(3), MixtureConfig())
    with pytest.raises(VoicenymError, match="fewer components"):
        fit(gaussian(10), MixtureConfig(components=6))
    with pytest.raises(VoicenymError, match="all speakers are one"):
        fit(torch.ones(10, 4), MixtureConfig())
    with pytest.raises(VoicenymError, match="NaN"):
        fit(torch.full((10, 4), float("nan")), MixtureConfig())
    for wrong in ({"share": 0.0}, {"components": 0}, {"covariance": "tied"}):
        with pytest.raises(VoicenymError):
            MixtureConfig(**wrong)


def test_a_search_finds_that_dropping_variance_makes_voices_alike_or_unlike():
    pool = Pool(gaussian(120), ("",) * 120, tuple(map(str, range(120))), "invented")
    tried = search(
        pool, MixtureConfig(by_sex=False), (0.5, 0.999), (1, 2), samples=200, splits=1, fits=2
    )
    assert [(row.share, row.components) for row in tried] == [
        (0.5, 1), (0.5, 2), (0.999, 1), (0.999, 2),
    ]  # fmt: skip
    for row in tried:
        assert row.lower - 1e-9 <= row.upper
        assert row.low <= row.distance <= row.high
    narrow, whole = tried[0], tried[2]
    assert narrow.dimensions < whole.dimensions
    assert narrow.distance > whole.distance
    exact = 0.5 * (4 * np.log(2 * np.pi * np.e) + 2 * np.log(SPREAD[:4].numpy()).sum())
    assert whole.entropy == pytest.approx(exact, abs=0.4)
    with pytest.raises(VoicenymError, match="half of 120"):
        search(pool, MixtureConfig(by_sex=False), (0.5,), (40,))


def test_the_choice_is_the_largest_entropy_of_those_as_good_as_the_best():
    def row(share, components, distance, high, entropy):
        return Tried("f", share, components, 1, distance, distance, high, entropy, entropy, entropy)

    tried = [
        row(0.5, 1, 0.50, 0.60, 99.0),
        row(0.9, 1, 0.10, 0.13, 10.0),
        row(0.99, 2, 0.12, 0.20, 12.0),
        row(0.99, 1, 0.125, 0.20, 12.0),
    ]
    assert chosen(tried) == (0.99, 1)
    apart = [row(0.5, 1, 0.1, 0.1, 1.0), Tried("m", 0.5, 1, 1, 0.9, 0.9, 0.9, 1, 1, 1)]
    apart += [row(0.9, 1, 0.2, 0.2, 1.0), Tried("m", 0.9, 1, 1, 0.3, 0.3, 0.3, 1, 1, 1)]
    assert chosen(apart) == (0.9, 1)
