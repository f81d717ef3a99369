"""``voicenym relink`` finds speakers in shards, and says where it cannot."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from shard_material import add, parquet_shard, said, shar, sound, web_shard


@pytest.fixture
def relink(command, key):
    """``relink(folder, ...)``: the finished command, and its outputs by speaker."""

    def run(folder: str, *more: object, names: tuple[str, ...] = ("1", "s1", "ann", "nobody")):
        asked = [part for name in names for part in ("--speaker", name)]
        done = command("relink", folder, "--key", key, "--why", "x", "--json", *asked, *more)
        found: dict[str, list[str]] = {}
        for one in json.loads(done.stdout):
            found.setdefault(one["speaker"], []).append(one["output"])
        return done, found

    return run


def by_keys(path: Path) -> Path:
    """A tar whose keys' folders name the speakers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as file:
        for number, name in enumerate(("ann/1.wav", "ann/2.wav", "bob/3.wav")):
            add(file, name, sound(number))
    return path


def test_speakers_of_fields_and_folders_are_found(anonymize, relink, tmp_path):
    pytest.importorskip("lhotse")
    web_shard(tmp_path / "in/w.tar", range(3))
    parquet_shard(tmp_path / "in/p.parquet", range(3))
    by_keys(tmp_path / "in/k.tar")
    shar(tmp_path / "in/x", 2)
    done = anonymize("in", "-o", "out")
    assert done.returncode == 0, said(done)
    done, found = relink("out")
    assert done.returncode == 0, said(done)
    assert found["1"] == ["w.tar (utt001)"]
    assert found["ann"] == ["k.tar (ann/1)", "k.tar (ann/2)"]
    assert found["nobody"] == [""]
    places = [one.partition(" ")[0] for one in found["s1"]]
    assert places == ["p.parquet", "x/recording.000000.tar"]


def test_drawn_names_are_found_where_a_field_holds_them(anonymize, relink, tmp_path):
    web_shard(tmp_path / "in/w.tar", range(3))
    by_keys(tmp_path / "in/k.tar")
    assert anonymize("in", "-o", "out", "--rename").returncode == 0
    done, found = relink("out")
    assert done.returncode == 1
    assert "1 output does not say who speaks in it" in said(done), "names of samples are drawn"
    [place] = found["1"]
    assert place.partition(" ")[0] in {path.name for path in (tmp_path / "out").glob("*.tar")}
    assert found["ann"] == [""]


def test_options_of_the_run_on_speakers_are_needed(anonymize, relink, tmp_path):
    with tarfile.open(tmp_path / "r.tar", "w") as file:
        for number, who in enumerate(("ann", "bob")):
            add(file, f"u{number}.wav", sound(number))
            add(file, f"u{number}.json", json.dumps({"reader": who}).encode())
    assert anonymize("r.tar", "-o", "out", "--speaker-field", "reader").returncode == 0
    done, found = relink("out")
    assert (done.returncode, found["ann"]) == (1, [""])
    assert "--speaker-field of the run" in said(done)
    done, found = relink("out", "--speaker-field", "reader")
    assert (done.returncode, found["ann"]) == (0, ["r.tar (u0)"])
    assert anonymize("r.tar", "-o", "one", "--speaker", "ann").returncode == 0
    assert relink("one")[1]["ann"] == ["r.tar"], "all of it is of one person"


def test_outputs_in_a_store_are_found(store, anonymize, relink, tmp_path):
    web_shard(tmp_path / "in/w.tar", range(3))
    for number, name in enumerate(("ann/1.wav", "bob/2.wav")):
        (tmp_path / "files" / name).parent.mkdir(parents=True)
        (tmp_path / "files" / name).write_bytes(sound(number))
    assert anonymize("in", "-o", "s3://corpus/out").returncode == 0
    assert anonymize("files", "-o", "s3://corpus/out").returncode == 0
    done, found = relink("s3://corpus/out")
    assert done.returncode == 0, said(done)
    assert (found["1"], found["ann"]) == (["w.tar (utt001)"], ["ann/1.wav"])
