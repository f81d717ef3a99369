"""Shards in and out: voices as of files, nothing of the original, damage, resumption."""

from __future__ import annotations

import base64
import io
import json
import os
import tarfile
from pathlib import Path

import pytest
import soundfile
from shard_material import add, members, parquet_shard, said, sound, tree, web_shard

from voicenym.errors import CorpusError
from voicenym.pseudonym import Key

KEY = Key(bytes(range(100, 132)))


@pytest.fixture
def key(tmp_path) -> Path:
    path = tmp_path / "project.key"
    KEY.save(path)
    return path


@pytest.fixture
def anonymize(command, key):
    """``anonymize(...)``: the command with the key and one worker."""
    return lambda *arguments: command(
        "anonymize", "--key", key, "--system", "mcadams", "--workers", "1", *arguments
    )


def test_a_recording_in_a_shard_has_the_bytes_of_one_in_a_folder(anonymize, tmp_path):
    web_shard(tmp_path / "in/a-000.tar", range(3))
    web_shard(tmp_path / "in/a-001.tar", range(3, 5))
    for number in range(5):
        file = tmp_path / f"files/{number % 2}/utt{number:03d}.flac"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(sound(number, kind="FLAC"))
    assert anonymize("files", "-o", "new").returncode == 0
    assert anonymize("in", "-o", "out").returncode == 0
    found = {**members(tmp_path / "out/a-000.tar"), **members(tmp_path / "out/a-001.tar")}
    assert {n for n in found if n.endswith(".flac")} == {f"utt{n:03d}.flac" for n in range(5)}
    for number in range(5):
        file = tmp_path / f"new/{number % 2}/utt{number:03d}.flac"
        assert found[f"utt{number:03d}.flac"] == file.read_bytes()


def test_only_speaker_and_labels_travel_unless_named(anonymize, tmp_path):
    web_shard(tmp_path / "a.tar", range(2), npy=b"features of the original voice")
    done = anonymize("a.tar", "-o", "out")
    assert done.returncode == 0
    assert "not copied, as they may name people: npy, text, txt, url" in said(done)
    found = members(tmp_path / "out/a.tar")
    assert sorted(found) == ["utt000.flac", "utt000.json", "utt001.flac", "utt001.json"]
    assert json.loads(found["utt001.json"]) == {"gender": "f", "speaker_id": 1}
    data = (tmp_path / "out/a.tar").read_bytes()
    assert not any(word in data for word in (b"Anna", b"anna", b"original voice"))

    assert anonymize("a.tar", "-o", "kept", "--keep", "txt", "--keep", "text").returncode == 0
    found = members(tmp_path / "kept/a.tar")
    assert found["utt000.txt"] == b"Anna lives here"
    assert json.loads(found["utt000.json"])["text"] == "Anna lives here"

    done = anonymize("a.tar", "-o", "bad", "--keep", "npy")
    assert done.returncode == 1
    assert not (tmp_path / "bad/a.tar").exists()


def test_parquet_keeps_rows_groups_and_types_and_no_path(anonymize, tmp_path):
    from pyarrow import parquet

    parquet_shard(tmp_path / "in/train-0.parquet", range(8))
    done = anonymize("in", "-o", "out", "--keep", "vector")
    assert done.returncode == 1
    assert "neither number nor text" in said(done)
    done = anonymize("in", "-o", "out")
    assert done.returncode == 0, said(done)
    shard = parquet.ParquetFile(tmp_path / "out/train-0.parquet")
    assert [shard.metadata.row_group(g).num_rows for g in range(3)] == [3, 3, 2]
    rows = shard.read().to_pylist()
    assert [row["speaker_id"] for row in rows] == [f"s{n % 2}" for n in range(8)]
    assert [row["audio"]["path"] for row in rows] == [f"take{n}.wav" for n in range(8)]
    assert set(rows[0]) == {"audio", "speaker_id", "gender"}
    for number, row in enumerate(rows):
        assert row["audio"]["bytes"] != sound(number)
        assert soundfile.info(io.BytesIO(row["audio"]["bytes"])).frames == 8000
    assert b"anna" not in (tmp_path / "out/train-0.parquet").read_bytes().lower()


def test_an_output_folder_that_holds_shards_of_originals_is_refused(anonymize, tmp_path):
    web_shard(tmp_path / "in/a.tar", range(2))
    web_shard(tmp_path / "in/sub/b.tar", range(2))
    done = anonymize("in", "-o", "in/sub")
    assert done.returncode == 1
    assert "in/sub/b.tar); they would be passed over" in said(done)
    assert anonymize("in", "-o", "in/new").returncode == 0
    again = anonymize("in", "-o", "in/new")
    assert again.returncode == 0, said(again)
    assert set(tree(tmp_path / "in/new")) >= {"a.tar", "sub/b.tar"}


def test_a_text_that_holds_a_recording_is_not_kept(anonymize, tmp_path):
    import pyarrow
    from pyarrow import parquet

    texts = [base64.b64encode(sound(number)).decode() for number in range(2)]
    table = {"audio": [{"bytes": sound(number), "path": None} for number in range(2)]}
    parquet.write_table(pyarrow.table({**table, "preview": texts}), tmp_path / "a.parquet")
    done = anonymize("a.parquet", "-o", "out", "--keep", "preview")
    assert done.returncode == 1
    assert "neither number nor text, and may be of the original voice" in said(done)
    assert not (tmp_path / "out/a.parquet").exists()


def test_new_names_leave_no_old_one_and_no_order(anonymize, tmp_path):
    web_shard(tmp_path / "in/anna-000.tar", range(6))
    parquet_shard(tmp_path / "in/anna-001.parquet", range(6))
    assert anonymize("in", "-o", "out", "--rename").returncode == 0
    for name, data in tree(tmp_path / "out").items():
        assert not any(word in data.lower() for word in (b"utt0", b"anna", b"take")), name
        assert "anna" not in name
    shard = next((tmp_path / "out").glob("*.tar"))
    names = [name for name in members(shard) if name.endswith(".flac")]
    assert names == sorted(names)
    speakers = {json.loads(d)["speaker_id"] for n, d in members(shard).items() if "json" in n}
    assert len(speakers) == 2
    assert not speakers & {0, 1, "0", "1"}


def test_speakers_whose_names_look_alike_are_warned_of(anonymize, tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for number, speaker in enumerate(("Anna", "anna", "bert")):
            add(tar, f"u{number}.flac", sound(number, kind="FLAC"))
            add(tar, f"u{number}.json", json.dumps({"speaker": speaker}).encode())
    done = anonymize("a.tar", "-o", "out")
    assert done.returncode == 0
    assert "'Anna' and 'anna' are 2 speakers" in said(done)


def test_keys_with_folders_and_recordings_alone_name_speakers_as_files_do(anonymize, tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name in ("ann/1.wav", "ann/2.wav", "bob/1.wav"):
            add(tar, name, sound(len(name)))
    (tmp_path / "f/ann").mkdir(parents=True)
    (tmp_path / "f/bob").mkdir()
    (tmp_path / "f/ann/1.wav").write_bytes(sound(9))
    (tmp_path / "f/bob/1.wav").write_bytes(sound(9))
    assert anonymize("a.tar", "-o", "out").returncode == 0
    assert anonymize("f", "-o", "new").returncode == 0
    found = members(tmp_path / "out/a.tar")
    for who in ("ann", "bob"):
        assert found[f"{who}/1.wav"] == (tmp_path / f"new/{who}/1.wav").read_bytes()
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        add(tar, "x.wav", sound(3))
    (tmp_path / "x.wav").write_bytes(sound(3))
    assert anonymize("b.tar", "-o", "out").returncode == 0
    assert anonymize("x.wav", "-o", "x.anon.wav").returncode == 0
    assert members(tmp_path / "out/b.tar")["x.wav"] == (tmp_path / "x.anon.wav").read_bytes()


def test_a_rerun_skips_what_is_there_and_says_what_failed(anonymize, tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        add(tar, "good.wav", sound(1))
        add(tar, "bad.wav", b"this is text")
    done = anonymize("a.tar", "-o", "out")
    assert done.returncode == 1
    assert "voicenym: error: a.tar (bad): " in said(done)
    before = tree(tmp_path / "out")
    assert list(members(tmp_path / "out/a.tar")) == ["good.wav"]
    again = anonymize("a.tar", "-o", "out")
    assert again.returncode == 1
    assert "a.tar (bad)" in said(again)
    assert "0 shards and files written, 1 already done" in said(again)
    after = tree(tmp_path / "out")
    assert after == before
    other = anonymize("a.tar", "-o", "out", "--speaker", "ann")
    assert other.returncode == 1
    assert "made earlier with another key, system or options" in said(other)
    assert tree(tmp_path / "out") == before


def test_an_output_without_a_line_is_compared_and_a_foreign_one_stays(anonymize, tmp_path):
    web_shard(tmp_path / "a.tar", range(2))
    assert anonymize("a.tar", "-o", "out").returncode == 0
    made = (tmp_path / "out/a.tar").read_bytes()
    (tmp_path / "out/voicenym.jsonl").unlink()  # a run that was killed before its line
    again = anonymize("a.tar", "-o", "out")
    assert again.returncode == 0
    assert "1 already done" in said(again)
    (tmp_path / "out/voicenym.jsonl").unlink()
    (tmp_path / "out/a.tar").write_bytes(b"another thing")
    foreign = anonymize("a.tar", "-o", "out")
    assert foreign.returncode == 1
    assert "exists already and is not what this run writes" in said(foreign)
    assert "another kind of processor rounds otherwise" in said(foreign)
    assert (tmp_path / "out/a.tar").read_bytes() == b"another thing"
    assert anonymize("a.tar", "-o", "out", "--overwrite").returncode == 0
    assert (tmp_path / "out/a.tar").read_bytes() == made
    web_shard(tmp_path / "a.tar", range(2, 4))
    changed = anonymize("a.tar", "-o", "out")
    assert changed.returncode == 1
    assert "changed since its output was made" in said(changed)


def hostile(path: Path) -> None:
    with tarfile.open(path, "w") as tar:
        add(tar, "good.wav", sound(1))
        add(tar, "../outside.wav", sound(2))
        add(tar, "/etc/outside2.wav", sound(2))
        add(tar, "a/../../outside3.wav", sound(2))
        add(tar, "link.wav", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd")
        add(tar, "hard.wav", b"", type=tarfile.LNKTYPE, linkname="good.wav")
        add(tar, "device.wav", b"", type=tarfile.CHRTYPE, devmajor=1, devminor=5)
        add(tar, "pipe.wav", b"", type=tarfile.FIFOTYPE)
        add(tar, "twice.wav", sound(3))
        add(tar, "twice.wav", sound(4))
        add(tar, "deep.wav", sound(5))
        add(tar, "deep.json", b"[" * 100_000)
        add(tar, "big.wav", sound(6))
        add(tar, "big.json", b" " * (2 << 20))


def test_hostile_members_are_named_and_the_rest_goes_on(anonymize, tmp_path):
    (tmp_path / "in").mkdir()
    hostile(tmp_path / "in/a.tar")
    outside = set(os.listdir(tmp_path))
    done = anonymize("in/a.tar", "-o", "out")
    assert done.returncode == 1
    for word in ("outside.wav", "outside2", "outside3", "link.wav", "hard.wav", "device.wav",
                 "pipe.wav", "twice.wav", "deep.json", "big"):  # fmt: skip
        assert word in said(done), word
    assert list(members(tmp_path / "out/a.tar")) == ["good.wav"]
    assert set(os.listdir(tmp_path)) == outside | {"out"}


def test_two_recordings_of_a_sample_never_get_one_name(anonymize, tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        add(tar, "k.wav", sound(1))
        add(tar, "k.wma", sound(2))  # a kind that becomes .wav
        add(tar, "other.wma", sound(3))
    done = anonymize("a.tar", "-o", "out")
    assert done.returncode == 1
    assert "(k): its wma would get the name of another of its recordings" in said(done)
    with tarfile.open(tmp_path / "out/a.tar") as tar:
        assert tar.getnames() == ["other.wav"]


@pytest.mark.parametrize("cut", [100, 700, 5_000, -1024, -513])
def test_a_cut_shard_is_named_and_the_others_go_on(anonymize, tmp_path, cut):
    web_shard(tmp_path / "in/a.tar", range(2))
    web_shard(tmp_path / "in/b.tar", range(2, 3))
    # tarfile pads to 10 KiB: what counts is where the end mark begins
    data = (tmp_path / "in/a.tar").read_bytes().rstrip(b"\0")
    whole = data + bytes(-len(data) % 512) + bytes(1024)
    (tmp_path / "in/a.tar").write_bytes(whole[:cut] if cut != -513 else whole[:-1024] + b"x" * 512)
    done = anonymize("in", "-o", "out")
    assert done.returncode == 1
    assert "a.tar" in said(done)
    assert "get a whole copy of it" in said(done)
    assert "Traceback" not in said(done)
    assert sorted(tree(tmp_path / "out")) == ["b.tar", "voicenym.jsonl"]


def test_a_header_of_a_gigabyte_is_not_read(anonymize, tmp_path):
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 30
    with open(tmp_path / "a.tar", "wb") as file:
        file.write(info.tobuf(tarfile.USTAR_FORMAT))
        file.truncate(2 << 30)  # sparse: the bytes are there
    done = anonymize("a.tar", "-o", "out")
    assert done.returncode == 1
    assert "a header is larger than 1 MiB" in said(done)


def test_a_changed_byte_of_a_page_with_a_checksum_is_damage(tmp_path):
    """A bit that fell over on a disk, within a recording: nothing else of the file shows it."""
    import pyarrow as arrow
    from pyarrow import parquet

    from voicenym.corpus.shards.formats.parquet_shard import ParquetShard

    table = arrow.table({"audio": arrow.array([{"bytes": bytes(9000), "path": "x"}])})
    whole, changed = tmp_path / "whole.parquet", tmp_path / "changed.parquet"
    parquet.write_table(
        table, whole, compression="none", use_dictionary=False, write_page_checksum=True
    )
    bits = bytearray(whole.read_bytes())
    bits[5000] ^= 1
    changed.write_bytes(bits)
    with whole.open("rb") as file:
        assert len(list(ParquetShard(file, "whole").rows(["audio"]))) == 1
    with changed.open("rb") as file, pytest.raises(CorpusError, match="is no whole Parquet file"):
        list(ParquetShard(file, "changed").rows(["audio"]))


def test_bad_parquet_is_named(anonymize, tmp_path):
    import pyarrow as arrow
    from pyarrow import parquet

    whole = parquet_shard(tmp_path / "in/a.parquet", range(4)).read_bytes()
    (tmp_path / "in/b.parquet").write_bytes(whole[:-500])
    (tmp_path / "in/c.parquet").write_bytes(b"")
    (tmp_path / "in/d.parquet").write_bytes(whole[:200] + b"\xff" * 4000 + whole[4200:])
    parquet.write_table(arrow.table({"text": ["x"]}), tmp_path / "in/e.parquet")
    paths = [{"bytes": None, "path": "s3://elsewhere/x.wav"}, {"bytes": sound(1), "path": None}]
    kind = arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
    parquet.write_table(arrow.table({"audio": arrow.array(paths, kind)}), tmp_path / "in/f.parquet")
    done = anonymize("in", "-o", "out")
    assert done.returncode == 1
    assert "Traceback" not in said(done)
    assert "internal error" not in said(done)
    for part in ("b.parquet: is no whole", "c.parquet: is no whole", "d.parquet"):
        assert part in said(done), part
    assert "e.parquet: has no column of recordings" in said(done)
    assert "a path in it is not opened" in said(done)
    assert sorted(tree(tmp_path / "out")) == ["a.parquet", "f.parquet", "voicenym.jsonl"]


def test_workers_order_and_partition_do_not_matter(anonymize, command, key, tmp_path):
    for number in range(4):
        web_shard(tmp_path / f"in/{number}.tar", range(2 * number, 2 * number + 2))
    parquet_shard(tmp_path / "in/p.parquet", range(4))
    assert anonymize("in", "-o", "one").returncode == 0
    two = command("anonymize", "in", "-o", "two", "--key", key, "-s", "mcadams", "-j", "2")
    assert two.returncode == 0
    names = sorted(tree(tmp_path / "in"), reverse=True)
    assert anonymize(*[f"in/{name}" for name in names], "-o", "three").returncode == 0
    one = tree(tmp_path / "one")
    one.pop("voicenym.jsonl")
    for other in ("two", "three"):
        found = tree(tmp_path / other)
        found.pop("voicenym.jsonl")
        assert found == one


def test_a_full_disk_fails_the_shard_and_not_its_recordings(anonymize, tmp_path, monkeypatch):
    """Else a shard without some recordings would be taken for whole by the next run."""
    from voicenym.audio.atomic import write_failed
    from voicenym.corpus.shards import shard_task

    real, count = shard_task.anonymize_unnamed, 0

    def full(*arguments, **options):
        nonlocal count
        count += 1
        if count == 2:
            try:
                raise OSError(28, "No space left on device")
            except OSError as error:
                raise write_failed("output", error) from None
        return real(*arguments, **options)

    web_shard(tmp_path / "a.tar", range(3))
    monkeypatch.setattr(shard_task, "anonymize_unnamed", full)
    done = anonymize("a.tar", "-o", "out")
    assert done.returncode == 1
    assert "the disk is full" in said(done)
    assert list(tree(tmp_path / "out")) == ["voicenym.jsonl"]
    assert anonymize("a.tar", "-o", "out").returncode == 0
    assert len(members(tmp_path / "out/a.tar")) == 6


def test_the_disk_is_flushed_for_a_shard_and_not_for_each_recording(
    anonymize, tmp_path, monkeypatch
):
    counts, real = [], os.fsync

    def counted(file):
        counts[-1] += 1
        real(file)

    monkeypatch.setattr(os, "fsync", counted)
    for number in (1, 5):
        counts.append(0)
        web_shard(tmp_path / f"{number}.tar", range(number))
        assert anonymize(f"{number}.tar", "-o", f"out{number}").returncode == 0
        assert set(os.listdir(tmp_path / f"out{number}")) == {f"{number}.tar", "voicenym.jsonl"}
    assert counts[0] == counts[1] > 0


def test_an_output_that_looks_like_a_shard_is_refused(anonymize, tmp_path):
    web_shard(tmp_path / "a.tar", range(1))
    done = anonymize("a.tar", "-o", "b.tar")
    assert done.returncode == 1
    assert "give a folder with -o" in said(done)


@pytest.mark.parametrize("target", ["out", "s3://corpus/out"])
def test_a_folder_keeps_to_one_key_and_system(store, anonymize, tmp_path, target):
    from s3_server import objects

    def found() -> dict[str, bytes]:
        return objects(target) if "://" in target else tree(tmp_path / target)

    web_shard(tmp_path / "a.tar", range(2))
    web_shard(tmp_path / "b.tar", range(2))
    assert anonymize("a.tar", "-o", target).returncode == 0
    before = found()
    Key(bytes(range(32))).save(tmp_path / "other.key")
    for options in (["-s", "vtln"], ["-s", "mcadams:order=18"], ["--key", "other.key"]):
        for more in ([], ["--overwrite"]):
            done = anonymize("b.tar", "-o", target, *options, *more)
            assert done.returncode == 1
            assert f"{target}/a.tar: made earlier with another key, system or par" in said(done)
            assert found() == before
    assert anonymize("b.tar", "-o", target).returncode == 0
    assert anonymize("a.tar", "b.tar", "-o", target, "-s", "vtln").returncode == 1
    done = anonymize("a.tar", "b.tar", "-o", target, "-s", "vtln", "--overwrite")
    assert done.returncode == 0, said(done)


def test_a_folder_of_recordings_beside_shards_keeps_to_their_key_and_system(anonymize, tmp_path):
    web_shard(tmp_path / "a.tar", range(2))
    (tmp_path / "f/ann").mkdir(parents=True)
    (tmp_path / "f/ann/1.wav").write_bytes(sound(9))
    assert anonymize("a.tar", "-o", "out").returncode == 0
    done = anonymize("f", "-o", "out", "-s", "vtln")
    assert done.returncode == 1
    assert "out/a.tar: made earlier with another key, system or parameters" in said(done)
    assert anonymize("f", "-o", "out").returncode == 0
    done = anonymize("a.tar", "-o", "out", "-s", "vtln", "--overwrite")
    assert done.returncode == 1
    assert "out/ann/1.wav: made earlier with another key" in said(done)


def test_a_run_under_old_names_does_not_link_drawn_ones(anonymize, tmp_path):
    web_shard(tmp_path / "a.tar", range(2))
    assert anonymize("a.tar", "-o", "out", "--rename").returncode == 0
    done = anonymize("a.tar", "-o", "out")
    assert done.returncode == 1
    assert "is of an earlier run with --rename" in said(done)


def test_lines_of_outputs_in_a_folder_named_as_that_of_runs_stay(store, anonymize, tmp_path):
    from s3_server import objects

    (tmp_path / "in/run").mkdir(parents=True)
    web_shard(tmp_path / "in/run/a.tar", range(2))
    assert anonymize("in", "-o", "s3://corpus/out").returncode == 0
    assert anonymize("in", "-o", "s3://corpus/out").returncode == 0
    assert "voicenym-ledger/run/a.tar.json" in objects("s3://corpus/out")
    assert len([name for name in objects("s3://corpus/out") if "-ledger" in name]) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_and_a_link_to_nothing_are_named_and_not_waited_for(anonymize, tmp_path):
    os.mkfifo(tmp_path / "pipe.tar")
    (tmp_path / "link.tar").symlink_to(tmp_path / "nowhere.tar")
    done = anonymize("pipe.tar", "-o", "out")
    assert done.returncode == 1
    assert "pipe.tar: is a pipe, and shards are read at any place; give a file" in said(done)
    done = anonymize("link.tar", "-o", "out")
    assert done.returncode == 1
    assert "link.tar: is a link to a file that is not there; mend the link" in said(done)
