from __future__ import annotations

import io
import tarfile

import pytest
from shard_material import web_shard

from voicenym.corpus.shards.formats.tar_index import PADDING, index
from voicenym.errors import CorpusError


@pytest.fixture
def shard(tmp_path):
    return web_shard(tmp_path / "a.tar", range(2)).read_bytes()


@pytest.mark.parametrize("gap", [0, 512, PADDING + 512])
def test_samples_after_the_end_mark_are_not_passed_over(shard, gap):
    with pytest.raises(CorpusError, match="data after its end mark"):
        index(io.BytesIO(shard + bytes(gap) + shard), "a.tar")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_hole_in_the_place_of_a_header_is_no_end(shard, number):
    with tarfile.open(fileobj=io.BytesIO(shard)) as tar:
        start = tar.getmembers()[number].offset
    with pytest.raises(CorpusError, match="data after its end mark"):
        index(io.BytesIO(shard[:start] + bytes(1024) + shard[start + 1024 :]), "a.tar")


@pytest.mark.parametrize("padding", [1024, 10_240, 2 * PADDING])
def test_any_number_of_zeros_may_follow_the_end_mark(shard, padding):
    whole = shard.rstrip(b"\0")
    whole += bytes(-len(whole) % 512)
    assert len(index(io.BytesIO(whole + bytes(padding)), "a.tar")) == 2
