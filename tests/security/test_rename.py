"""Names drawn by ``--rename`` cannot be inverted by order, time, log, messages or containers."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.audio import read, write
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.plans import timestamps
from voicenym.corpus.plans.file_plan import plan, renamed
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key

KEY = Key(bytes(32))
PEOPLE, TAKES = ("annasmith", "bobjones", "carlmeyer"), ("first", "second", "third")


def buzz(path: Path, pitch: float = 120.0, seconds: float = 0.25, rate: int = 16_000) -> Path:
    time = np.arange(round(seconds * rate)) / rate
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, 0.1 * np.sign(np.sin(2 * np.pi * pitch * time)), rate)
    return path


@pytest.fixture
def corpus(tmp_path) -> Path:
    for person in PEOPLE:
        for take in TAKES:
            buzz(tmp_path / f"in/{person}/{take}.wav")
    return tmp_path / "in"


@pytest.fixture
def key(tmp_path) -> Path:
    path = tmp_path / "secret/key"
    path.parent.mkdir()
    KEY.save(path)
    return path


def planned(corpus: Path, out: Path):
    return renamed(plan([corpus], out), KEY, out)


def job(out: Path, **options) -> Job:
    return Job("mcadams", {}, KEY, log=out / "voicenym.jsonl", opaque=True, **options)


def command(corpus: Path, out: Path, key: Path, *more: object):
    given = [str(corpus), "-o", str(out), "-s", "mcadams", "--key", str(key), "--rename"]
    return CliRunner().invoke(app, ["anonymize", *given, *map(str, more)])


def names(line: str) -> tuple[bool, bool]:
    """Whether a line has old names, and new ones."""
    old = any(word in line for word in (*PEOPLE, *TAKES))
    new = any(str(KEY.tag("speaker", person))[:16] in line for person in PEOPLE)
    return old, new


def test_processing_and_log_follow_the_new_names(corpus, tmp_path):
    out, order, growth = tmp_path / "out", [], []

    def report(outcome) -> None:
        order.append(outcome.item)
        growth.append((out / "voicenym.jsonl").read_text().splitlines())

    items = planned(corpus, out)
    run(job(out), items, report=report)
    assert [item.target for item in order] == sorted(item.target for item in items)
    assert [item.source for item in order] != sorted(item.source for item in items)
    backwards = list(reversed(items))  # what order the originals are found in does not matter
    again = []
    run(job(tmp_path / "out", overwrite=True), backwards, report=lambda o: again.append(o.item))
    assert again == order
    for lines in growth:
        outputs = [json.loads(line)["output"] for line in lines if line]
        assert outputs == sorted(outputs)


def test_the_log_is_ordered_by_new_name_and_has_no_old_one(corpus, tmp_path):
    out = tmp_path / "out"
    (corpus / PEOPLE[0] / "second.wav").write_bytes(b"not audio" * 30)
    items = planned(corpus, out)
    assert len(run(job(out), items).failures) == 1
    buzz(corpus / PEOPLE[0] / "second.wav")
    assert run(job(out), items).done == 1
    text = (out / "voicenym.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    outputs = [line["output"] for line in lines]
    assert outputs == sorted(outputs)
    assert len(set(outputs)) == len(outputs) == 9
    assert names(text) == (False, True)
    assert all("input" not in line for line in lines)


def test_all_times_are_one(corpus, tmp_path):
    out = tmp_path / "out"
    items = planned(corpus, out)
    targets = [item.target for item in items]
    found = {out, out / "voicenym.jsonl", *targets, *(path.parent for path in targets)}
    assert len(found) == 1 + 1 + 9 + 3
    for expected in (9, 0):
        assert run(job(out), items).done == expected
        # listing a folder is an access of it, so the names are not looked up
        stamps = {(p.stat().st_mtime_ns, p.stat().st_atime_ns) for p in found}
        assert stamps == {(timestamps.CONSTANT * 10**9,) * 2}
        os.utime(targets[0])  # as a killed run leaves it


def test_no_message_has_both_names(corpus, tmp_path, key):
    (corpus / PEOPLE[0] / "second.wav").write_bytes(b"not audio" * 30)
    clipped = np.clip(20 * np.sin(np.arange(8000) / 20), -1, 1)
    clipped[400:] *= 0.01
    soundfile.write(corpus / PEOPLE[1] / "first.wav", clipped, 16_000)
    out = tmp_path / "out"
    dry = command(corpus, out, key, "--dry-run")
    assert dry.exit_code == 0
    assert PEOPLE[0] in dry.output
    assert not any(names(line)[1] for line in dry.output.splitlines())
    first = command(corpus, out, key)
    assert first.exit_code == 1
    assert "clipped" in first.output
    edited = next(iter((out / KEY.tag("speaker", PEOPLE[2])[:16]).iterdir()))
    edited.write_bytes(b"edited")
    second = command(corpus, out, key)
    assert second.exit_code == 1
    assert "exists already" in second.output
    changed = buzz(corpus / PEOPLE[1] / "third.wav", pitch=150.0)
    third = command(corpus, out, key)
    assert f"{changed}: changed since" in third.output
    for output in (first.output, second.output, third.output):
        assert output
        for line in output.splitlines():
            assert names(line) != (True, True), line


def test_messages_follow_the_old_names(corpus, tmp_path, key):
    """In the order of the run, they would tell the order of the new ones."""
    for path in corpus.rglob("*.wav"):
        path.write_bytes(b"not audio" * 30)
    lines = command(corpus, tmp_path / "out", key).output.splitlines()
    errors = [line for line in lines if "error:" in line]
    assert len(errors) == 9
    assert errors == sorted(errors)


def test_names_are_shown_side_by_side_when_asked(corpus, tmp_path, key):
    for more in (["--dry-run"], []):
        shown = command(corpus, tmp_path / "out", key, "--show-names", *more).output
        assert sum(names(line) == (True, True) for line in shown.splitlines()) == 9
    for option in (["--show-names"], ["--mapping", str(tmp_path / "map")]):
        given = ["anonymize", str(corpus), "-o", str(tmp_path / "plain"), *option]
        done = CliRunner().invoke(app, given)
        assert done.exit_code == 1
        assert "--rename" in str(done.exception)


def test_the_mapping_is_for_its_owner_and_lies_elsewhere(corpus, tmp_path, key):
    out, mapping = tmp_path / "out", key.parent / "mapping.jsonl"
    mask = os.umask(0)
    try:
        assert command(corpus, out, key, "--mapping", mapping).exit_code == 0
    finally:
        os.umask(mask)
    assert stat.S_IMODE(mapping.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in mapping.read_text().splitlines()]
    assert {line["input"] for line in lines} == {str(p) for p in corpus.rglob("*.wav")}
    assert all(Path(line["output"]).is_file() for line in lines)
    assert {line["speaker"] for line in lines} == set(PEOPLE)
    first = mapping.read_bytes()
    buzz(corpus / PEOPLE[0] / "fourth.wav")
    assert command(corpus, out, key, "--mapping", mapping).exit_code == 0
    assert set(first.splitlines()) < set(mapping.read_bytes().splitlines())
    assert {p.name for p in key.parent.iterdir()} == {"key", "mapping.jsonl"}


@pytest.mark.parametrize("place", ["out/mapping", "out/deep/mapping", "link/mapping"])
def test_no_mapping_in_the_output_folder(corpus, tmp_path, key, place):
    (tmp_path / "out/deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "out")
    done = command(corpus, tmp_path / "out", key, "--mapping", tmp_path / place)
    assert done.exit_code == 1
    assert "output folder" in str(done.exception)
    assert [p.name for p in (tmp_path / "out").rglob("*")] == ["deep"]


def test_a_mapping_replaces_nothing_else(corpus, tmp_path, key):
    done = command(corpus, tmp_path / "out", key, "--mapping", key)
    assert "no mapping of ours" in str(done.exception)
    assert Key.load(key) == KEY


def test_a_folder_with_a_log_of_old_names_is_refused(corpus, tmp_path):
    out = tmp_path / "out"
    run(Job("mcadams", {}, KEY, log=out / "voicenym.jsonl"), plan([corpus], out))
    with pytest.raises(CorpusError, match="names the originals"):
        run(job(out), planned(corpus, out))


CONTAINERS = ["wav", "flac", "ogg", "opus", "mp3", "m4a", "aac", "mka", "webm"]


def test_containers_hold_no_trace_of_names_and_order(tmp_path):
    """The same sound under other names, in another order: the same bytes."""
    sound = read(buzz(tmp_path / "sound.wav", seconds=0.5, rate=48_000))
    for number, spelling in enumerate(("aardvark-{}", "zebra-{}")):
        extensions = CONTAINERS if number == 0 else reversed(CONTAINERS)
        for extension in extensions:
            path = tmp_path / f"in{number}/janedoe" / f"{spelling.format(extension)}.{extension}"
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, sound)
    if shutil.which("ffmpeg"):
        for number, name in ((0, "aardvark"), (1, "zebra")):
            film = tmp_path / f"in{number}/janedoe/{name}-film.mp4"
            picture = ["-f", "lavfi", "-i", "testsrc=d=0.5:s=64x64"]
            tags = ["-metadata", f"title={name}", "-metadata", "creation_time=2001-02-03T04:05:06"]
            made = ["ffmpeg", "-v", "error", "-i", tmp_path / "sound.wav", *picture, *tags, film]
            subprocess.run(made, check=True)
    written = []
    for number in (0, 1):
        out = tmp_path / f"out{number}"
        summary = run(job(out), planned(tmp_path / f"in{number}", out))
        assert not summary.failures
        found = [p for p in out.rglob("*") if p.is_file() and p.suffix != ".jsonl"]
        outputs = sorted(p.read_bytes() for p in found)
        assert len(outputs) >= len(CONTAINERS)
        for data in outputs:
            assert not any(word in data for word in (b"janedoe", b"aardvark", b"zebra"))
        written.append(outputs)
    assert written[0] == written[1]
