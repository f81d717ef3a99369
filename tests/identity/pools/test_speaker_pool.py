"""Speaker pools: content, storage, and refused input."""

import json
from dataclasses import replace

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.identity.pools.speaker_pool import Pool, load, opened, save
from voicenym.resynthesis.pipeline.assembly import BUNDLED


def test_a_pool_is_read_as_it_was_written(pool, tmp_path):
    kept = replace(pool, version="abc", clusters=torch.arange(len(pool)))
    save(kept, tmp_path)
    found = load(tmp_path)
    assert torch.equal(found.vectors, pool.vectors)
    assert (found.sexes, found.speakers) == (pool.sexes, pool.speakers)
    assert (found.encoder, found.version) == ("invented", "abc")
    assert torch.equal(found.clusters, kept.clusters)
    assert repr(found) == "Pool(110 x 24, 60 f, 50 m, encoder='invented')"


def test_a_pool_is_read_again_when_its_folder_changes(pool, tmp_path):
    import os

    save(pool, tmp_path)
    first = load(tmp_path)
    assert load(tmp_path) is first
    save(replace(pool, version="new"), tmp_path)
    os.utime(tmp_path / "config.json", ns=(1, 1))
    assert load(tmp_path).version == "new"


def test_damage_is_noticed(pool, tmp_path):
    save(pool, tmp_path)
    weights = tmp_path / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    with pytest.raises(VoicenymError, match="damaged"):
        load(tmp_path)


def test_a_folder_of_something_else_is_named(pool, tmp_path):
    with pytest.raises(VoicenymError, match="voicenym pool build"):
        load(tmp_path / "nowhere")
    save(pool, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"kind": "ecapa"}))
    with pytest.raises(VoicenymError, match="no pool of speakers"):
        load(tmp_path)


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_vector_that_means_nothing_is_named(pool, value):
    vectors = pool.vectors.clone()
    vectors[7] = value
    with pytest.raises(VoicenymError, match="s7 is zero or not finite"):
        replace(pool, vectors=vectors)


def test_parts_that_do_not_fit_are_refused(pool):
    with pytest.raises(VoicenymError, match="do not fit"):
        replace(pool, sexes=pool.sexes[1:])
    with pytest.raises(VoicenymError, match="write f or m"):
        replace(pool, sexes=("x",) * len(pool))
    with pytest.raises(VoicenymError, match="which encoder"):
        replace(pool, encoder="")
    with pytest.raises(VoicenymError, match=r"\[row, element\]"):
        Pool(torch.zeros(0, 4), (), (), "e")


def test_the_sex_of_unknown_speakers_is_that_of_the_nearer_centroid(pool, users):
    assert [pool.sex_of(v) for v in users] == ["f"] * 10 + ["m"] * 10


def test_without_both_sexes_no_sex_is_predicted(pool):
    women = Pool(pool.vectors[:60], pool.sexes[:60], pool.speakers[:60], "invented")
    with pytest.raises(VoicenymError, match="no speakers of sex 'm'"):
        women.sex_of(pool.vectors[0])
    with pytest.raises(VoicenymError, match="0 speakers of sex 'm'"):
        women.among("opposite", pool.vectors[0], "f")
    assert len(women.among("any", pool.vectors[0], None)[1]) == 60


def test_another_encoder_is_refused(pool):
    with pytest.raises(VoicenymError, match="has 25 elements, those of the pool, by invented"):
        pool.check(torch.zeros(1, 25))
    assert pool.made_by("invented", "1") is pool
    with pytest.raises(VoicenymError, match="by invented, not by ecapa"):
        pool.made_by("ecapa")
    with pytest.raises(VoicenymError, match="other weights"):
        replace(pool, version="1").made_by("invented", "2")


def test_utterances_are_averaged_by_speaker_and_refused_otherwise():
    vectors = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    spoken = Pool(vectors, ("f", "m", "f"), ("a", "b", "a"), "e")
    with pytest.raises(VoicenymError, match="--utterances"):
        opened(spoken)
    one = spoken.per_speaker()
    assert one.speakers == ("a", "b")
    assert one.sexes == ("f", "m")
    assert torch.equal(one.vectors, torch.tensor([[2.0, 0.0], [0.0, 2.0]]))


def test_bundled_pool_has_clusters_of_one_sex_each():
    pool = load(BUNDLED / "ssl" / "pool")
    assert pool.clusters is not None
    for cluster in pool.clusters.unique():
        sexes = {pool.sexes[row] for row in (pool.clusters == cluster).nonzero()[:, 0].tolist()}
        assert len(sexes) == 1
    # selection draws one of ten by default
    for sex in ("f", "m"):
        rows = [row for row, one in enumerate(pool.sexes) if one == sex]
        assert len(pool.clusters[rows].unique()) >= 10
