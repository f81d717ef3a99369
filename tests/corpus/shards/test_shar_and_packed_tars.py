"""lhotse's Shar and compressed tars: in and out, nothing of the original, damage, resumption."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest
import soundfile
from shard_material import add, members, said, shar, sound, tree, web_shard


def cuts_of(folder: Path) -> list:
    from lhotse import CutSet

    return list(CutSet.from_shar(in_dir=folder))


def test_lhotse_reads_the_new_shar_and_finds_the_voices_of_files(anonymize, tmp_path):
    pytest.importorskip("lhotse")
    shar(tmp_path / "in", 5)
    done = anonymize("in", "-o", "out")
    assert done.returncode == 0, said(done)
    assert "not copied, as they may name people: mood, text" in said(done)
    before, after = cuts_of(tmp_path / "in"), cuts_of(tmp_path / "out/shar")
    assert [cut.id for cut in after] == [cut.id for cut in before]
    for number, cut in enumerate(after):
        path = tmp_path / f"files/s{number % 2}/{number}.flac"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, before[number].load_audio()[0], 16_000)
        (one,) = cut.supervisions
        assert (one.speaker, one.gender, one.text, one.custom) == (
            f"s{number % 2}",
            "f",
            None,
            None,
        )
        assert (one.start, one.end) == (0.1, 0.4)
        assert (cut.duration, cut.recording.sampling_rate) == (0.5, 16_000)
    assert anonymize("files", "-o", "new").returncode == 0
    for number, cut in enumerate(after):
        expected, _ = soundfile.read(tmp_path / f"new/s{number % 2}/{number}.flac", dtype="float32")
        assert (cut.load_audio()[0] == expected).all()
    for name in ("cuts.000000.jsonl.gz", "cuts.000001.jsonl.gz"):
        assert b"lives here" not in gzip.decompress((tmp_path / "out/shar" / name).read_bytes())

    again = anonymize("in", "-o", "out")
    assert "0 shards and files written, 3 already done" in said(again)
    first = tree(tmp_path / "out/shar")
    (tmp_path / "out/voicenym.jsonl").unlink()  # killed before its lines
    (tmp_path / "out/shar/cuts.000001.jsonl.gz").unlink()  # and between the two files of a shard
    assert anonymize("in", "-o", "out").returncode == 0
    assert tree(tmp_path / "out/shar") == first
    (tmp_path / "out/shar/cuts.000001.jsonl.gz").write_bytes(b"of another")
    assert anonymize("in", "-o", "out").returncode == 1
    assert (tmp_path / "out/shar/cuts.000001.jsonl.gz").read_bytes() == b"of another"


def test_new_names_of_a_shar_leave_no_old_one(anonymize, tmp_path):
    pytest.importorskip("lhotse")
    shar(tmp_path / "in/annas", 4, shard_size=4)
    assert anonymize("in", "-o", "out", "--rename", "--keep", "text").returncode == 0
    (folder,) = (path for path in (tmp_path / "out").iterdir() if path.is_dir())
    table = gzip.decompress((folder / "cuts.000000.jsonl.gz").read_bytes())
    data = (folder / "recording.000000.tar").read_bytes() + table
    assert not any(word in data for word in (b"anna-", b'"s0"', b'"s1"'))
    cuts = cuts_of(folder)
    assert [cut.id for cut in cuts] == sorted(cut.id for cut in cuts)
    assert len({cut.supervisions[0].speaker for cut in cuts}) == 2
    assert cuts[0].supervisions[0].text == "Anna lives here"


def test_cuts_of_several_speakers_and_damage_are_named_and_the_rest_goes_on(anonymize, tmp_path):
    pytest.importorskip("lhotse")
    shar(tmp_path / "in", 6)
    table = tmp_path / "in/cuts.000000.jsonl.gz"
    lines = gzip.decompress(table.read_bytes()).decode().splitlines()
    two = json.loads(lines[0])
    two["supervisions"].append({**two["supervisions"][0], "id": "x", "speaker": "other"})
    table.write_bytes(gzip.compress("\n".join([json.dumps(two), lines[1]]).encode()))
    tar = tmp_path / "in/recording.000001.tar"
    tar.write_bytes(tar.read_bytes()[:3000])
    (tmp_path / "in/features.000002.tar").write_bytes(b"of the original voices")
    done = anonymize("in", "-o", "out")
    assert done.returncode == 1
    assert "anna-cut.0): needs one speaker in its supervisions" in said(done)
    assert "recording.000001.tar: ends within" in said(done)
    assert "features.000002.tar: is a field of a lhotse Shar" in said(done)
    assert sorted(tree(tmp_path / "out/shar")) == [
        "cuts.000000.jsonl.gz", "cuts.000002.jsonl.gz",
        "recording.000000.tar", "recording.000002.tar",
    ]  # fmt: skip
    assert [cut.id for cut in cuts_of(tmp_path / "out/shar")] == [
        "anna-cut.1", "anna-cut.4", "anna-cut.5",
    ]  # fmt: skip


def packed(path: Path, data: bytes) -> Path:
    if path.name.endswith(".zst"):
        arrow = pytest.importorskip("pyarrow")
        with arrow.CompressedOutputStream(str(path), "zstd") as file:
            file.write(data)
    else:
        path.write_bytes(gzip.compress(data))
    return path


def unpacked(path: Path) -> bytes:
    if path.name.endswith(".zst"):
        arrow = pytest.importorskip("pyarrow")
        with arrow.CompressedInputStream(str(path), "zstd") as file:
            return file.read()
    return gzip.decompress(path.read_bytes())


def test_compressed_tars_hold_the_bytes_of_plain_ones(anonymize, tmp_path):
    plain = web_shard(tmp_path / "in/a.tar", range(2)).read_bytes()
    for name in ("b.tar.gz", "c.tgz", "d.tar.zst"):
        packed(tmp_path / "in" / name, plain)
    done = anonymize("in", "-o", "out")
    assert done.returncode == 0, said(done)
    expected = (tmp_path / "out/a.tar").read_bytes()
    for name in ("b.tar.gz", "c.tgz", "d.tar.zst"):
        assert unpacked(tmp_path / "out" / name) == expected, name
    assert list((tmp_path / "out").glob(".voicenym-*")) == []
    before = tree(tmp_path / "out")
    (tmp_path / "out/voicenym.jsonl").unlink()
    again = anonymize("in", "-o", "out")
    assert "4 already done" in said(again)
    for name in ("b.tar.gz", "c.tgz", "d.tar.zst"):
        assert (tmp_path / "out" / name).read_bytes() == before[name]


def test_damaged_and_inflated_tars_are_named_and_the_rest_goes_on(anonymize, tmp_path, monkeypatch):
    from voicenym.corpus.shards import shard_source

    monkeypatch.setattr(shard_source, "SPARE", 1 << 20)
    whole = web_shard(tmp_path / "a.tar", range(2)).read_bytes()
    (tmp_path / "in").mkdir()
    good = packed(tmp_path / "in/good.tar.gz", whole).read_bytes()
    (tmp_path / "in/cut.tar.gz").write_bytes(good[:-40])
    (tmp_path / "in/text.tgz").write_bytes(b"this is text")
    zst = packed(tmp_path / "in/cut.tar.zst", whole).read_bytes()
    (tmp_path / "in/cut.tar.zst").write_bytes(zst[: len(zst) // 2])
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        add(tar, "x.wav", sound(1) + bytes(64 << 20))
    packed(tmp_path / "in/bomb.tar.gz", file.getvalue())
    (tmp_path / "in/misnamed.tar").write_bytes(good)
    done = anonymize("in", "-o", "out")
    assert done.returncode == 1
    for name in ("cut.tar.gz", "text.tgz", "cut.tar.zst"):
        assert f"in/{name}: cannot be unpacked to its end" in said(done)
    assert "bomb.tar.gz: is more than 100 times as large unpacked" in said(done)
    assert "misnamed.tar: is compressed; give it the extension .tar.gz" in said(done)
    assert [n for n in tree(tmp_path / "out") if "voicenym" not in n] == ["good.tar.gz"]
    assert list(members(tmp_path / "a.tar"))


def test_a_shar_without_some_cuts_or_tars_is_not_taken_for_another_kind(anonymize, tmp_path):
    """A tar alone would be one of WebDataset, whose speakers are others."""
    pytest.importorskip("lhotse")
    shar(tmp_path / "in", 6)
    (tmp_path / "in/cuts.000000.jsonl.gz").unlink()
    (tmp_path / "in/recording.000002.tar").unlink()
    done = anonymize("in", "-o", "out")
    assert done.returncode == 1
    assert "in/recording.000000.tar: lacks the cuts.000000.jsonl.gz that belongs to it" in said(
        done
    )
    assert "in/cuts.000002.jsonl.gz: lacks the recording.000002.tar that belongs" in said(done)
    assert "1 shard or file written, 0 already done, 2 failed" in said(done)
    made = [name for name in tree(tmp_path / "out") if "voicenym" not in name]
    assert sorted(made) == ["shar/cuts.000001.jsonl.gz", "shar/recording.000001.tar"]


def test_a_tar_of_a_shar_without_cuts_is_not_measured(tmp_path):
    pytest.importorskip("lhotse")
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.shards.stores.private_copies import private_copies
    from voicenym.corpus.skipped import LeftOut

    shar(tmp_path / "in", 4)
    (tmp_path / "in/cuts.000001.jsonl.gz").unlink()
    left = LeftOut()
    with private_copies():
        found = recordings(tmp_path / "in", left_out=left)
        assert len(found) == 2
    (one,) = left
    assert "recording.000001.tar: lacks the cuts.000001.jsonl.gz" in one.reason
