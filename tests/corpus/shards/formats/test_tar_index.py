from __future__ import annotations

import io
import tarfile

import pytest
from shard_material import web_shard

from voicenym.corpus.shards.formats.tar_index import MOST_HEADER, PADDING, index
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


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_headers_of_one_member_are_limited_together(shard, kind):
    """However few bytes tarfile reads at a time: other headers may follow each other, too."""
    long = tarfile.TarInfo("x")
    long.type, long.size = kind, MOST_HEADER // 8
    one = long.tobuf(tarfile.USTAR_FORMAT) + b"20 comment=12345678\n".ljust(long.size, b"\0")
    assert len(index(io.BytesIO(one + shard), "a.tar")) in (2, 3)
    read = io.BytesIO(8 * one + shard)
    with pytest.raises(CorpusError, match="a header is larger than 1 MiB"):
        index(read, "a.tar")
    assert read.tell() <= MOST_HEADER


def test_headers_of_many_members_have_no_limit_together(tmp_path):
    names = [f"{number:05}{'n' * 180}" for number in range(1000)]
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for name in names:
            tar.addfile(tarfile.TarInfo(f"{name}.txt"))
    with path.open("rb") as file:
        assert path.stat().st_size > MOST_HEADER
        assert [sample.name for sample in index(file, "a.tar")] == names
