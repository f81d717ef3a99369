"""Data sets in object stores: the recordings, names and tables of a run on this machine."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from s3_server import fresh, fsspec, kaldi_folder, objects, outputs, upload, upload_text
from shard_material import said, sound, tree

from voicenym.pseudonym import Key

KEY = Key(bytes(range(100, 132)))
NAMES = {"ann-1": "wav/1.wav", "ann-2": "wav/2.flac", "bob-3": "wav/3.wav"}


def utterances(folder: Path) -> Path:
    """A data folder of whole recordings, with labels and texts."""
    for number, entry in enumerate(NAMES.values()):
        path = folder / entry
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sound(number, kind=path.suffix[1:].upper()))
    places = {name: str(folder / entry) for name, entry in NAMES.items()}
    kaldi_folder(folder, places, spk2gender="ann f\nbob m\n", text="ann-1 hello\n")
    return folder


def day(folder: Path) -> Path:
    """A data folder of a recording of two speakers, with segments."""
    (folder / "wav").mkdir(parents=True)
    (folder / "wav/day.wav").write_bytes(sound(5, seconds=4.0))
    kaldi_folder(
        folder,
        {"day": str(folder / "wav/day.wav")},
        segments="ann-1 day 0.1 0.9\nann-2 day 1.0 2.0\nbob-1 day 2.5 -1\n",
        utt2spk="ann-1 ann\nann-2 ann\nbob-1 bob\n",
    )
    return folder


def sounds(found: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in found.items() if name.endswith((".wav", ".flac"))}


def tables(found: dict[str, bytes]) -> dict[str, list[str]]:
    """Lines of the tables, without the places of the outputs."""
    there = outputs(found).items() - sounds(found).items()
    return {n: re.sub(r"\S*/wav/", "wav/", d.decode()).splitlines() for n, d in there}


def cuts(data: bytes) -> list[dict]:
    """Cuts of a manifest, without the places of their recordings."""
    lines = gzip.decompress(data).decode().splitlines()
    for cut in (found := [json.loads(line) for line in lines]):
        for source in cut["recording"]["sources"]:
            source.update(source=source["source"].rpartition("/audio/")[2], type="")
    return found


@pytest.mark.parametrize(
    ("make", "options"),
    [(utterances, ["--keep", "text"]), (utterances, ["--rename"]), (day, ["--per", "utterance"])],
)
def test_a_kaldi_folder_of_a_store_becomes_that_of_a_run_on_this_machine(
    store, anonymize, tmp_path, temporary, make, options
):
    make(tmp_path / "in")
    upload(tmp_path / "in", "s3://corpus/in")
    assert anonymize("in", "-o", "local", *options).returncode == 0
    local = tree(tmp_path / "local")
    assert len(sounds(local)) == 3

    def check(source: str, target: str) -> None:
        done = anonymize(source, "-o", target, *options)
        assert done.returncode == 0, said(done)
        found = objects(target) if "://" in target else tree(tmp_path / target)
        assert sounds(found) == sounds(local)
        assert tables(found) == tables(local)

    check("s3://corpus/in", "s3://corpus/out")
    assert all(create for path, create in store.puts if "/out/wav/" in path)
    store.puts.clear()
    check("s3://corpus/in", "s3://corpus/out")  # once more
    assert not [path for path, _ in store.puts if path.endswith((".wav", ".wav.json"))]
    check("s3://corpus/in", "down")
    check("in", "s3://corpus/up")
    place = "s3://corpus/out/wav/"
    assert place in objects("s3://corpus/out")["wav.scp"].decode()
    assert list(temporary.glob(".voicenym-*")) == []


def test_a_long_recording_is_fetched_once_for_all_its_segments(store, anonymize, tmp_path):
    size = (day(tmp_path / "in") / "wav/day.wav").stat().st_size
    upload(tmp_path / "in", "s3://corpus/in")
    assert anonymize("s3://corpus/in", "-o", "out").returncode == 0
    assert store.sent["/corpus/in/wav/day.wav"] == size


def test_a_table_names_nothing_outside_of_its_url(store, anonymize, tmp_path, temporary):
    elsewhere = tmp_path / "elsewhere/secret.wav"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(sound(9))
    fsspec.filesystem("s3").pipe_file("s3://corpus/in/dev/wav/1.wav", sound(1))
    fsspec.filesystem("s3").pipe_file("s3://corpus/in/sound/2.wav", sound(2))
    fsspec.filesystem("s3").pipe_file("s3://corpus/other/6.wav", sound(6))
    entries = {
        "ann-1": "/data/of/others/1.wav",  # the folder was moved
        "ann-2": "s3://corpus/in/sound/2.wav",
        "bob-4": str(elsewhere),
        "bob-5": "../../elsewhere/secret.wav",
        "bob-6": "s3://corpus/other/6.wav",
    }
    kaldi_folder(tmp_path / "tables", entries)
    upload(tmp_path / "tables", "s3://corpus/in/dev")
    done = anonymize("s3://corpus/in", "-o", "s3://corpus/out")
    assert done.returncode == 1
    found = objects("s3://corpus/out")
    assert set(sounds(found)) == {"dev/wav/ann-1.wav", "dev/wav/ann-2.wav"}
    assert found["dev/utt2spk"] == b"ann-1 ann\nann-2 ann\n"
    assert "s3://corpus/in/dev/wav.scp: there is no secret.wav of bob-4 below" in said(done)
    assert said(done).count("put the recording there, or take its line out") == 3
    assert str(temporary) not in said(done)
    assert not store.sent["/corpus/other/6.wav"]


def test_data_sets_that_cannot_be_anonymized_are_named(store, anonymize, tmp_path):
    kaldi_folder(tmp_path / "in", {"ann-1": "sph2pipe 1.sph |"})
    upload(tmp_path / "in", "s3://corpus/in")
    upload(tmp_path / "in", "s3://corpus/a/b/c")
    fsspec.filesystem("s3").pipe_file("s3://corpus/a/b/c/wav/1.wav", sound(1))
    for inputs, why in (
        (["s3://corpus/in"], "wav.scp: sph2pipe 1.sph | is a command"),
        (["in"], "in/wav.scp: sph2pipe 1.sph | is a command"),
        (["s3://corpus/a"], "s3://corpus/a/b/c/wav.scp: a Kaldi folder, which lies too deep"),
        (["s3://corpus/in", "in"], "is a data set, which names its speakers; give it alone"),
        (["s3://corpus/in", "--speaker-level", "1"], "without --speaker-level"),
    ):
        done = anonymize(*inputs, "-o", "s3://corpus/out")
        assert done.returncode == 1
        assert why in said(done)
        assert str(tmp_path) not in said(done)
    done = anonymize("s3://corpus/in", "-o", "s3://corpus/in")
    assert "s3://corpus/in: is input and output" in said(done)
    upload_text("{}", "s3://corpus/in/cuts.jsonl.gz")
    done = anonymize("s3://corpus/in/cuts.jsonl.gz", "-o", "s3://corpus/in")
    assert "holds the data set itself" in said(done)


def manifest(folder: Path) -> Path:
    """Cuts of two recordings of one speaker, and of one of two speakers."""
    from lhotse import CutSet, Recording, SupervisionSegment

    made = []
    for number, speakers in enumerate(("a", "b", "ab")):
        path = folder / f"sound/{number}.flac"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sound(number, seconds=2.0, kind="FLAC"))
        recording = Recording.from_file(path, recording_id=f"r{number}")
        recording.sources[0].source = str(path)
        cut = recording.to_cut()
        cut.supervisions = [
            SupervisionSegment(
                f"u{number}-{who}", recording.id, place, 0.8, speaker=who, text="hello"
            )
            for place, who in enumerate(speakers)
        ]
        made.append(cut)
    CutSet.from_cuts(made).to_file(folder / "cuts.jsonl.gz")
    for cut in made:
        cut.recording.sources[0].source = cut.recording.sources[0].source.split("/in/")[1]
    CutSet.from_cuts(made).to_file(folder / "moved.jsonl.gz")
    return folder


def test_a_lhotse_manifest_of_a_store_becomes_that_of_a_run_on_this_machine(
    store, anonymize, tmp_path, temporary
):
    pytest.importorskip("lhotse")
    manifest(tmp_path / "in")
    upload(tmp_path / "in", "s3://corpus/in")
    assert anonymize("in/cuts.jsonl.gz", "-o", "local", "--keep", "text").returncode == 0
    local = tree(tmp_path / "local")
    assert len(cuts(local["cuts.jsonl.gz"])) == len(sounds(local)) == 4
    for source, target in (
        ("s3://corpus/in/moved.jsonl.gz", "s3://corpus/out"),
        ("s3://corpus/in/moved.jsonl.gz", "down"),
        ("in/cuts.jsonl.gz", "s3://corpus/up"),
    ):
        done = anonymize(source, "-o", target, "--keep", "text")
        assert done.returncode == 0, said(done)
        found = objects(target) if "://" in target else tree(tmp_path / target)
        assert sounds(found) == sounds(local)
        assert cuts(found["cuts.jsonl.gz"]) == cuts(local["cuts.jsonl.gz"])
    assert list(temporary.glob(".voicenym-*")) == []
    fsspec.filesystem("s3").rm_file("s3://corpus/in/sound/1.flac")
    done = anonymize("s3://corpus/in/moved.jsonl.gz", "-o", "s3://corpus/less")
    assert done.returncode == 1
    assert "moved.jsonl.gz: there is no 1.flac of r1 below" in said(done)
    assert len(cuts(objects("s3://corpus/less")["cuts.jsonl.gz"])) == 3


@pytest.mark.slow
def test_ray_and_a_store_that_fails_write_the_same_data_set_once(
    store, anonymize, tmp_path, monkeypatch, temporary
):
    """A run whose calls fail and whose workers are Ray's; the next one makes the rest."""
    pytest.importorskip("ray")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    fresh()
    day(tmp_path / "in")
    upload(tmp_path / "in", "s3://corpus/in")
    assert anonymize("in", "-o", "local").returncode == 0
    local = tree(tmp_path / "local")
    store.share = 0.2
    first = anonymize("s3://corpus/in", "-o", "s3://corpus/out", "--engine", "ray", workers=2)
    assert "Traceback" not in said(first)
    store.share = 0.0
    there = sounds(objects("s3://corpus/out"))
    assert there.items() <= sounds(local).items()
    store.puts.clear()
    again = anonymize("s3://corpus/in", "-o", "s3://corpus/out")
    assert again.returncode == 0, said(again)
    found = objects("s3://corpus/out")
    assert (sounds(found), tables(found)) == (sounds(local), tables(local))
    made = [path for path, _ in store.puts if path.endswith(".wav")]
    assert len(made) >= len(sounds(local)) - len(there)
    assert list(temporary.glob(".voicenym-*")) == []


def part(folder: Path, source: Path, names: list[str], speaker: str = "") -> Path:
    """A data folder of some utterances of another one."""
    places = {name: str(source / NAMES[name]) for name in names}
    kaldi_folder(
        folder, places, spk2gender="ann f\nbob m\n", text="".join(f"{n} a\n" for n in names)
    )
    if speaker:
        (folder / "utt2spk").write_text("".join(f"{name} {speaker}\n" for name in names))
    return folder


@pytest.mark.parametrize("options", [["--keep", "text"], ["--rename"]])
def test_a_later_run_keeps_the_rows_of_an_earlier_one_in_a_store(
    store, anonymize, tmp_path, options
):
    utterances(tmp_path / "in")
    part(tmp_path / "a", tmp_path / "in", ["ann-1"])
    part(tmp_path / "b", tmp_path / "in", ["ann-2", "bob-3"])
    part(tmp_path / "c", tmp_path / "in", ["ann-1", "ann-2", "bob-3"])
    assert anonymize("c", "-o", "s3://corpus/once", *options).returncode == 0
    for name in "ab":
        assert anonymize(name, "-o", "s3://corpus/parts", *options).returncode == 0
    once, parts = objects("s3://corpus/once"), objects("s3://corpus/parts")
    assert len(tables(once)["wav.scp"]) == 3
    assert tables(parts) == tables(once)


@pytest.mark.parametrize("table", ["wav.scp", "utt2spk", "spk2gender"])
def test_runs_that_end_together_keep_the_rows_of_both(
    store, anonymize, key, tmp_path, monkeypatch, table
):
    """One ends while the other, which has read the tables, writes them."""
    # however long the one takes: a client that waits for 15 s only would try again meanwhile
    monkeypatch.setattr(fsspec.get_filesystem_class("s3"), "read_timeout", 600)
    fsspec.get_filesystem_class("s3").clear_instance_cache()  # clients that have the old limit
    utterances(tmp_path / "in")
    part(tmp_path / "a", tmp_path / "in", ["ann-1", "ann-2"])
    part(tmp_path / "b", tmp_path / "in", ["bob-3"])
    part(tmp_path / "c", tmp_path / "in", ["ann-1", "ann-2", "bob-3"])
    assert anonymize("c", "-o", "s3://corpus/once").returncode == 0
    arguments = [tmp_path / "b", "-o", "s3://corpus/parts", "--key", key, "-s", "mcadams"]
    other = [sys.executable, "-m", "voicenym", "anonymize", *map(str, arguments), "--workers", "1"]
    between: list[int] = []

    def end_meanwhile() -> None:
        if not between and store.puts[-1][0] == f"/corpus/parts/{table}":
            between.append(-1)
            between.append(subprocess.run(other, cwd=tmp_path, check=False).returncode)

    store.before_put = end_meanwhile
    first = anonymize("a", "-o", "s3://corpus/parts")
    assert (first.returncode, between) == (0, [-1, 0]), said(first)
    assert tables(objects("s3://corpus/parts")) == tables(objects("s3://corpus/once"))


@pytest.mark.parametrize("target", ["s3://corpus/out", "out"])
def test_tables_of_another_program_are_not_replaced(store, anonymize, tmp_path, target):
    utterances(tmp_path / "in")
    upload(tmp_path / "in", "s3://corpus/in")
    if target == "out":
        (tmp_path / "out").mkdir()
        (tmp_path / "out/wav.scp").write_text("eve-1 /data/eve-1.wav\n")
    else:
        upload_text("eve-1 /data/eve-1.wav\n", f"{target}/wav.scp")
    done = anonymize("s3://corpus/in", "-o", target)
    assert done.returncode == 1
    assert f"{target}/wav.scp: exists already and has eve-1, which voicenym" in said(done)
    found = objects(target) if "://" in target else tree(tmp_path / target)
    assert found == {"wav.scp": b"eve-1 /data/eve-1.wav\n"}
    assert anonymize("s3://corpus/in", "-o", target, "--overwrite").returncode == 0
    found = objects(target) if "://" in target else tree(tmp_path / target)
    assert len(tables(found)["wav.scp"]) == 3


def test_a_later_run_keeps_the_cuts_of_an_earlier_one_in_a_store(store, anonymize, tmp_path):
    lhotse = pytest.importorskip("lhotse")
    for name, speaker in (("1", "ann"), ("2", "bob")):
        (tmp_path / f"{name}.wav").write_bytes(sound(int(name)))
        recording = lhotse.Recording.from_file(tmp_path / f"{name}.wav", recording_id=name)
        line = lhotse.SupervisionSegment(name, name, 0, recording.duration, speaker=speaker)
        cut = lhotse.MonoCut(name, 0, recording.duration, 0, [line], recording=recording)
        lhotse.CutSet.from_cuts([cut]).to_file(tmp_path / f"{name}.jsonl.gz")
    for name in "12":
        done = anonymize(f"{name}.jsonl.gz", "-o", "s3://corpus/out")
        assert done.returncode == 0, said(done)
    found = cuts(objects("s3://corpus/out")["cuts.jsonl.gz"])
    assert [cut["id"] for cut in found] == ["1", "2"]
    strange = gzip.compress(json.dumps({"id": "x", "recording": {"id": "x"}}).encode())
    fsspec.filesystem("s3").pipe_file("s3://corpus/out/cuts.jsonl.gz", strange)
    refused = anonymize("1.jsonl.gz", "-o", "s3://corpus/out")
    assert refused.returncode == 1
    assert "cuts.jsonl.gz: exists already and has x, which voicenym-ledger/ lacks" in said(refused)


def test_an_utterance_does_not_keep_the_voice_of_another_speaker(store, anonymize, tmp_path):
    utterances(tmp_path / "in")
    part(tmp_path / "a", tmp_path / "in", ["ann-1"])
    assert anonymize("a", "-o", "s3://corpus/out").returncode == 0
    part(tmp_path / "a", tmp_path / "in", ["ann-1"], speaker="eve")
    before = objects("s3://corpus/out")
    done = anonymize("a", "-o", "s3://corpus/out")
    assert done.returncode == 1
    assert "was made for another speaker than this run would" in said(done)
    assert objects("s3://corpus/out") == before
    assert anonymize("a", "-o", "s3://corpus/out", "--overwrite").returncode == 0
