"""Ensembles of regressions to dissimilar centroids."""

import pytest
import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.pools.kmeans import centroids
from voicenym.identity.pools.speaker_pool import Pool
from voicenym.identity.regression import Regression


def test_two_heaps_become_each_other(key):
    """With two clusters, who is in one is least like the other."""
    noise = torch.Generator().manual_seed(0)
    heaps = torch.tensor([[3.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    vectors = heaps.repeat_interleave(60, 0) + 0.05 * torch.randn(120, 3, generator=noise)
    pool = Pool(vectors, ("",) * 120, tuple(map(str, range(120))), "invented")
    method = Regression(pool, clusters=2, ridge=1e-6, sex="any")
    found = method.batch(heaps, [key.pseudonym("a"), key.pseudonym("b")])
    assert torch.allclose(found, heaps.flip(0), atol=0.1)


def test_a_strong_penalty_gives_the_mean_target(pool, users, key):
    method = Regression(pool, ridge=1e9, clusters=4, sex="any")
    centres = centroids(pool, None, 4)
    found = method.batch(users[:3], [key.pseudonym(str(i)) for i in range(3)])
    inside = torch.cdist(found.double(), centres).max() <= torch.cdist(centres, centres).max()
    assert inside
    assert torch.allclose(found[0], found[1], atol=0.5)


def test_pools_that_are_too_small_are_refused(pool, users, key):
    few = Pool(pool.vectors[:20], pool.sexes[:20], pool.speakers[:20], "invented")
    with pytest.raises(VoicenymError, match="20 speakers of sex 'f', and 30"):
        Regression(few, clusters=30)(users[0], key.pseudonym("a"), "f")
    with pytest.raises(VoicenymError, match="own sex"):
        Regression(few, sex="opposite")(users[0], key.pseudonym("a"), "m")
    for wrong in ({"share": 0.0}, {"members": 3}, {"clusters": 1}, {"ridge": 0.0}):
        with pytest.raises(UnknownSystemError):
            Regression(pool, **wrong)
