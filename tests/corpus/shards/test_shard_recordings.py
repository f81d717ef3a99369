"""Recordings of shards for measurements: as those of a folder, in private copies, named faults."""

from __future__ import annotations

import gzip
import json
import stat
import tarfile
import tempfile
from pathlib import Path

import pytest
from shard_material import add, shar, sound, web_shard

from voicenym.corpus.recordings import recordings, skipped
from voicenym.corpus.shards.stores.private_copies import private_copies
from voicenym.corpus.skipped import LeftOut
from voicenym.errors import AudioError, CorpusError


@pytest.fixture
def temporary(monkeypatch, tmp_path) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def folder_of(root: Path) -> Path:
    for number in range(6):
        path = root / f"s{number % 2}/utt{number}.flac"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sound(number, kind="FLAC"))
        path.with_suffix(".txt").write_text(f"sentence {number}")
    return root


def shards_of(root: Path, packed: bool = False) -> Path:
    """The same recordings in two tars."""
    root.mkdir(parents=True)
    for part in range(2):
        path = root / f"{part}.tar"
        with tarfile.open(path, "w") as tar:
            for number in range(part, 6, 2):
                key = f"s{number % 2}/utt{number}"
                add(tar, f"{key}.flac", sound(number, kind="FLAC"))
                add(tar, f"{key}.txt", f"sentence {number}".encode())
        if packed:
            path.with_suffix(".tar.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
    return root


def table_of(path: Path) -> Path:
    """The same recordings as a table, with speakers in a column."""
    pytest.importorskip("pyarrow")
    import pyarrow as arrow
    from pyarrow import parquet

    rows = [
        {
            "audio": {"bytes": sound(n, kind="FLAC"), "path": f"/elsewhere/utt{n}.flac"},
            "speaker_id": f"s{n % 2}",
            "sentence": f"sentence {n}",
            "gender": "female" if n % 2 else "male",
        }
        for n in range(6)
    ]
    path.parent.mkdir(parents=True)
    parquet.write_table(arrow.Table.from_pylist(rows), path, row_group_size=2)
    return path


def facts(found) -> list:
    return [(one.name, one.speaker, one.text, one.digest()) for one in found]


@pytest.mark.parametrize("packed", [False, True])
def test_tars_hold_the_recordings_of_a_folder(tmp_path, temporary, packed):
    wanted = facts(recordings(folder_of(tmp_path / "files")))
    shards = shards_of(tmp_path / "shards", packed)
    with private_copies():
        found = recordings(shards)
        assert facts(found) == wanted
        (copies,) = {one.path.parent.parent for one in found}
        assert copies == temporary
        for one in found:
            assert stat.S_IMODE(one.path.parent.stat().st_mode) == 0o700
            assert not any(word in one.path.name for word in ("utt", "s0", "s1"))
        assert skipped(shards) == []
    assert list(temporary.iterdir()) == []


def test_parquet_and_shar_bring_labels(tmp_path, temporary):
    table = table_of(tmp_path / "table/a.parquet")
    with private_copies():
        found = recordings(table)
        wanted = recordings(folder_of(tmp_path / "files"))
        assert [f"{one.speaker}/{one.name}" for one in sorted(found, key=lambda r: r.digest())] == [
            one.name for one in sorted(wanted, key=lambda r: r.digest())
        ]
        assert {(one.speaker, one.sex) for one in found} == {("s0", "m"), ("s1", "f")}
        assert {one.text for one in found} == {one.text for one in wanted}
    pytest.importorskip("lhotse")
    with private_copies():
        found = recordings(shar(tmp_path / "shar", 5))
        assert [one.name for one in found] == [f"anna-said.{n}" for n in range(5)]
        assert {(one.sex, one.text, one.start, one.end) for one in found} == {
            ("f", "Anna lives here", 0.1, 0.4)
        }
        assert [one.speaker for one in found] == [f"s{n % 2}" for n in range(5)]
        assert len(found[0].samples()) == round(0.3 * 16_000)


def test_copies_are_removed_after_an_error_too(tmp_path, temporary):
    shards = shards_of(tmp_path / "shards")
    (shards / "1.tar").write_bytes(b"no tar")
    with private_copies():
        with pytest.raises(AudioError, match=r"1\.tar"):
            recordings(shards)
        assert list(temporary.iterdir())
    assert list(temporary.iterdir()) == []


def test_a_damaged_shard_and_a_bad_sample_are_named_and_the_rest_goes_on(tmp_path, temporary):
    shards = shards_of(tmp_path / "in")
    data = (shards / "1.tar").read_bytes()
    (shards / "2.tar").write_bytes(data[:2000])
    with tarfile.open(shards / "3.tar", "w") as tar:
        add(tar, "s2/good.flac", sound(7, kind="FLAC"))
        add(tar, "s2/../../outside.flac", sound(8, kind="FLAC"))
        add(tar, "s2/text.flac", b"this is text")
    left_out = LeftOut()
    with private_copies():
        found = recordings(shards, left_out=left_out)
        said = {one.name: one.reason for one in left_out}
        assert set(said) == {"2.tar", "3.tar (s2/../../outside)"}
        assert "get a whole copy of it" in said["2.tar"]
        assert len(found) == 8
        (bad,) = (one for one in found if one.name == "s2/text")
        with pytest.raises(AudioError, match=r"in/3.tar \(s2/text\): ") as caught:
            bad.samples()
        assert str(temporary) not in str(caught.value)
    assert {p.name for p in tmp_path.iterdir()} == {"in", "temporary"}
    with private_copies(), pytest.raises(AudioError, match=r"2\.tar"):
        recordings(shards)  # strict


def test_speakers_that_nobody_names_are_refused(tmp_path, temporary):
    (tmp_path / "in").mkdir()
    with tarfile.open(tmp_path / "in/a.tar", "w") as tar:
        for number in range(3):
            add(tar, f"u{number}.wav", sound(number))
            add(tar, f"u{number}.json", json.dumps({"who": f"s{number}"}).encode())
    with private_copies():
        with pytest.raises(CorpusError, match=r"nobody knows who speaks.*--speaker-field"):
            recordings(tmp_path / "in")
        found = recordings(tmp_path / "in/a.tar", field="who")
        assert [one.speaker for one in found] == ["s0", "s1", "s2"]


def test_an_archive_beside_tables_is_no_corpus(tmp_path, temporary):
    """Kaldi's data folders, and a manifest, whose recordings lie elsewhere."""
    path = tmp_path / "elsewhere/u1.wav"
    path.parent.mkdir()
    path.write_bytes(sound(1))
    folder = tmp_path / "data/dev"
    folder.mkdir(parents=True)
    (folder / "wav.scp").write_text(f"ann-1 {path}\n")
    (folder / "utt2spk").write_text("ann-1 ann\n")
    web_shard(tmp_path / "data/download.tar", range(1))
    assert [one.path for one in recordings(tmp_path / "data")] == [path]
    (tmp_path / "table").mkdir()
    (tmp_path / "table/manifest.tsv").write_text(f"utterance\tpath\tspeaker\nu1\t{path}\tann\n")
    web_shard(tmp_path / "table/download.tar", range(1))
    assert [one.path for one in recordings(tmp_path / "table")] == [path]
    assert list(temporary.iterdir()) == []


def test_names_of_two_shards_are_told_apart(tmp_path, temporary):
    for part in range(2):
        web_shard(tmp_path / f"in/{part}.tar", range(2))
    with private_copies():
        found = recordings(tmp_path / "in")
    assert [one.name for one in found] == [f"{p}.tar/utt{n:03}" for p in range(2) for n in range(2)]
