"""Singular values and centroids, on pools whose directions are known."""

import pytest
import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.pools.kmeans import centroids, least_like
from voicenym.identity.pools.speaker_pool import Pool
from voicenym.identity.singular import SingularValues


def flat() -> Pool:
    """Speakers who vary along the first two axes, and hardly along the others."""
    noise = torch.Generator().manual_seed(0)
    spread = torch.tensor([5.0, 4.0, 0.01, 0.01, 0.01])
    vectors = torch.randn(200, 5, generator=noise) * spread
    return Pool(vectors, ("",) * 200, tuple(map(str, range(200))), "invented")


def test_what_lies_along_small_singular_values_goes_away(key):
    pool = flat()
    vector = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]).double()
    mean = pool.vectors.double().mean(0)
    gone = SingularValues(pool, keep=0.99).modified(pool, vector)
    assert torch.allclose(gone[:2], vector[:2], atol=0.02)
    assert torch.allclose(gone[2:], mean[2:], atol=0.02)
    half = SingularValues(pool, keep=0.99, gain=0.5).modified(pool, vector)
    assert torch.allclose(half[2:], 0.5 * (vector + mean)[2:], atol=0.02)
    whole = SingularValues(pool, keep=1.0).modified(pool, vector)
    assert torch.allclose(whole, vector)
    assert torch.allclose(SingularValues(pool, keep=0.0).modified(pool, vector), mean)


def test_the_target_is_a_centroid_that_is_least_like_the_speaker(pool, users, key):
    method = SingularValues(pool, blend=1.0, clusters=6, far=2)
    centres = centroids(pool, "f", 6)
    cosine = torch.nn.functional.cosine_similarity(users[:1].double(), centres)
    allowed = centres[cosine.argsort()[:2]].float()
    found = torch.stack([method(users[0], key.pseudonym(str(i)), "f") for i in range(40)])
    nearest = torch.cdist(found, allowed).argmin(1)
    assert torch.allclose(found, allowed[nearest], atol=1e-6)
    assert len(nearest.unique()) == 2
    own = SingularValues(pool, blend=0.0, keep=1.0, clusters=6)
    assert torch.allclose(own(users[0], key.pseudonym("a"), "f"), users[0], atol=1e-5)


def test_centroids_of_heaps_are_their_means():
    noise = torch.Generator().manual_seed(0)
    heaps = 10 * torch.eye(4)
    vectors = heaps.repeat_interleave(25, 0) + 0.1 * torch.randn(100, 4, generator=noise)
    order = torch.randperm(100, generator=noise)
    pool = Pool(vectors[order], ("",) * 100, tuple(map(str, range(100))), "invented")
    found = centroids(pool, None, 4)
    expected = vectors.double().view(4, 25, 4).mean(1)
    matched = torch.cdist(found, expected).argmin(1)
    assert sorted(matched.tolist()) == [0, 1, 2, 3]
    assert torch.allclose(found, expected[matched])
    assert int(least_like(-found[2], found)[0]) == 2
    with pytest.raises(VoicenymError, match="101 clusters"):
        centroids(pool, None, 101)


def test_parameters_are_checked_and_equal_speakers_refused(pool, key):
    for wrong in ({"keep": 2.0}, {"blend": -1.0}, {"far": 0}, {"far": 17}, {"sex": "odd"}):
        with pytest.raises(UnknownSystemError):
            SingularValues(pool, **wrong)
    same = Pool(torch.ones(20, 4), ("",) * 20, tuple(map(str, range(20))), "invented")
    with pytest.raises(VoicenymError, match="are one"):
        SingularValues(same, sex="any", clusters=4)(torch.ones(4), key.pseudonym("a"))
