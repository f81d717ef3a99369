"""Pseudo-speaker selection against a direct implementation of its definition."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity import identity
from voicenym.identity.pools.affinity_propagation import clustered
from voicenym.identity.pools.speaker_pool import Pool, save
from voicenym.identity.selection import Selection


def cosines(vector: torch.Tensor, others: torch.Tensor) -> np.ndarray:
    return torch.nn.functional.cosine_similarity(vector[None], others, dim=1).numpy()


@pytest.mark.parametrize(("choice", "sign"), [("far", 1), ("near", -1)])
def test_all_of_the_world_averaged_are_the_farthest_or_nearest(pool, users, key, choice, sign):
    method = Selection(pool, choice, world=20, region=20)
    women = pool.vectors[:60]
    expected = women[np.argsort(sign * cosines(users[0], women))[:20].copy()].mean(0)
    assert torch.allclose(method(users[0], key.pseudonym("a"), "f"), expected, atol=1e-6)


def test_a_region_is_a_random_part_of_the_world(pool, users, key):
    method = Selection(pool, world=2, region=1)
    women = pool.vectors[:60]
    world = women[np.argsort(cosines(users[0], women))[:2].copy()]
    found = torch.stack([method(users[0], key.pseudonym(str(i)), "f") for i in range(200)])
    which = torch.cdist(found, world).argmin(1)
    assert torch.equal(found, world[which])
    assert 60 < int(which.sum()) < 140  # a fair coin, within 5.6 standard deviations


def test_a_world_by_plda_is_that_of_its_scores(trained, users, key):
    plda, affinity = trained(True)
    rng = torch.Generator().manual_seed(3)
    vectors = torch.randn(50, 12, generator=rng) * 2 + 1
    pool = Pool(vectors, ("",) * 50, tuple(map(str, range(50))), "e", affinity=affinity)
    speaker = torch.randn(12, generator=rng) * 2
    method = Selection(pool, affinity="plda", world=10, region=10, sex="any")
    scores = plda.score([speaker.double().numpy()[None]], vectors.double().numpy())[0]
    expected = vectors[np.argsort(scores)[:10].copy()].mean(0)
    assert torch.allclose(method(speaker, key.pseudonym("a")), expected, atol=1e-6)
    with pytest.raises(VoicenymError, match="affinity='cosine'"):
        replace(method, pool=replace(pool, affinity=None))(speaker, key.pseudonym("a"))


def test_the_voice_is_selected_of_the_sex_that_is_asked_for(pool, users, key):
    def woman(vector: torch.Tensor) -> bool:
        return pool.sex_of(vector) == "f"

    for i, expected in ((0, True), (15, False)):
        who = key.pseudonym("a")
        assert woman(Selection(pool, world=20, region=10)(users[i], who)) is expected
        opposite = Selection(pool, world=20, region=10, sex="opposite")
        assert woman(opposite(users[i], who)) is not expected
    far = Selection(pool, world=110, region=110, sex="any")
    assert torch.allclose(far(users[0], key.pseudonym("a")), pool.vectors.mean(0), atol=1e-6)


def test_rows_do_not_depend_on_each_other(pool, users, key):
    names = [key.pseudonym(str(i)) for i in range(20)]
    for choice in ("far", "near", "random", "dense", "sparse"):
        method = Selection(clustered(pool), choice, world=30, region=15, clusters=3)
        together = method.batch(users, names)
        back = method.batch(users.flip(0), names[::-1]).flip(0)
        alone = torch.stack([method(v, n) for v, n in zip(users, names, strict=True)])
        assert torch.equal(together, back)
        assert torch.equal(together, alone)
        assert not torch.equal(together, method.batch(users, names[::-1]))


def test_means_draw_pseudo_speakers_together(pool, users, key):
    """The defect that Turner et al. describe: averages are more alike than people are."""
    method = Selection(pool, "random", region=30)
    found = method.batch(users[:10], [key.pseudonym(str(i)) for i in range(10)], ["f"] * 10)
    pairs = np.triu_indices(10, 1)
    alike = np.corrcoef(found.numpy())[pairs].mean()
    assert alike > np.corrcoef(users[:10].numpy())[pairs].mean() + 0.2


def test_dense_and_sparse_clusters(pool, users, key):
    grouped = clustered(pool)
    sizes = torch.bincount(grouped.clusters)
    women = set(grouped.clusters[:60].tolist())
    assert not women & set(grouped.clusters[60:].tolist())
    for choice, best in (("dense", max), ("sparse", min)):
        method = Selection(grouped, choice, clusters=1, share=1.0)
        found = method(users[0], key.pseudonym("a"), "f")
        wanted = best(int(sizes[c]) for c in women)
        means = [
            grouped.vectors[grouped.clusters == c].mean(0) for c in women if sizes[c] == wanted
        ]
        assert any(torch.allclose(found, mean, atol=1e-6) for mean in means)
    with pytest.raises(VoicenymError, match="--clusters"):
        Selection(pool, "dense")(users[0], key.pseudonym("a"))
    with pytest.raises(VoicenymError, match="or fewer"):
        Selection(grouped, "dense", clusters=50)(users[0], key.pseudonym("a"))


def test_a_pool_that_is_too_small_is_named(pool, users, key):
    with pytest.raises(VoicenymError, match="60 speakers of sex 'f', and 200 are needed"):
        Selection(pool)(users[0], key.pseudonym("a"))
    with pytest.raises(VoicenymError, match="110 speakers, and 200"):
        Selection(pool, sex="any")(users[0], key.pseudonym("a"))


def test_a_pool_of_one_sex_is_named(pool, users, key):
    women = Pool(pool.vectors[:60], pool.sexes[:60], pool.speakers[:60], "invented")
    method = Selection(women, world=20, region=10)
    method(users[0], key.pseudonym("a"), "f")
    with pytest.raises(VoicenymError, match="give the sex"):
        method(users[0], key.pseudonym("a"))
    with pytest.raises(VoicenymError, match="0 speakers of sex 'm'"):
        method(users[0], key.pseudonym("a"), "m")


def test_bad_vectors_and_parameters_are_refused(pool, key):
    method = Selection(pool, world=20, region=10)
    with pytest.raises(VoicenymError, match="has 25 elements"):
        method(torch.ones(25), key.pseudonym("a"))
    with pytest.raises(VoicenymError, match="holds no speech"):
        method(torch.zeros(24), key.pseudonym("a"))
    for wrong in ({"choice": "odd"}, {"affinity": "l2"}, {"sex": "f"}, {"region": 0}, {"share": 0}):
        with pytest.raises(UnknownSystemError):
            Selection(pool, **wrong)


def test_it_is_made_by_name_from_a_folder(pool, users, key, tmp_path):
    save(pool, tmp_path)
    made = identity("selection", pool=str(tmp_path), world=20, region=10)
    direct = Selection(pool, world=20, region=10)
    assert torch.equal(made(users[0], key.pseudonym("a")), direct(users[0], key.pseudonym("a")))
    assert eval(repr(made)) == made
