"""The mapping of a renamed corpus is there before the first output, and however the run ends."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.audio.atomic import AtomicFile
from voicenym.corpus.batches import batch_runner
from voicenym.corpus.plans.file_plan import plan, renamed
from voicenym.corpus.plans.rename_map import kept
from voicenym.errors import AudioError, CorpusError, DiskFullError
from voicenym.pseudonym import Key

KEY = Key(bytes(32))


@pytest.fixture
def corpus(tmp_path) -> Path:
    for number, person in enumerate(("anna", "bob", "carl")):
        path = tmp_path / f"in/{person}/one.wav"
        path.parent.mkdir(parents=True)
        time = np.arange(4000) / 16_000
        soundfile.write(path, 0.1 * np.sign(np.sin(600 * (number + 1) * time)), 16_000)
    return tmp_path / "in"


def planned(corpus: Path):
    out = corpus.parent / "out"
    return renamed(plan([corpus], out), KEY, out)


def lines(path: Path) -> dict[str, str]:
    found = map(json.loads, path.read_text().splitlines())
    return {line["output"]: line["input"] for line in found}


def anonymize(corpus: Path, mapping: Path, *more: object):
    given = [corpus, "-o", corpus.parent / "out", "-s", "mcadams", "-j", 1, "--rename"]
    return CliRunner().invoke(app, ["anonymize", *map(str, [*given, "--mapping", mapping, *more])])


def make(item) -> None:
    item.target.parent.mkdir(parents=True)
    item.target.touch()


def test_all_lines_are_there_before_the_first_output(corpus, tmp_path):
    items, path = planned(corpus), tmp_path / "map"
    every = {str(item.target): str(item.source) for item in items}
    with kept(path, items) as begin:
        assert not path.exists()  # the run may still be refused
        begin()
        assert lines(path) == every
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        make(items[0])
    assert lines(path) == {str(items[0].target): str(items[0].source)}


@pytest.mark.parametrize("end", [DiskFullError, OSError, KeyboardInterrupt])
def test_a_run_that_ends_half_way_leaves_what_it_made(corpus, tmp_path, end):
    items, path = planned(corpus), tmp_path / "map"
    with pytest.raises(end), kept(path, items) as begin:  # noqa: PT012 - the body is the run
        begin()
        make(items[0])
        raise end("half-way")
    assert lines(path) == {str(items[0].target): str(items[0].source)}


def test_a_refused_run_changes_no_mapping(corpus, tmp_path):
    path = tmp_path / "map"
    with pytest.raises(CorpusError), kept(path, planned(corpus)):
        raise CorpusError("refused")
    assert not path.exists()


def test_a_run_that_makes_nothing_leaves_no_mapping(corpus, tmp_path):
    path = tmp_path / "map"
    with kept(path, planned(corpus)) as begin:
        begin()
    assert not path.exists()


def test_lines_of_an_earlier_run_stay(corpus, tmp_path):
    items, path = planned(corpus), tmp_path / "map"
    earlier = {"input": "/a", "speaker": "a", "output": "/b"}
    path.write_text(json.dumps(earlier) + "\n")
    with kept(path, items) as begin:
        begin()
        assert lines(path)["/b"] == "/a"
    assert lines(path) == {"/b": "/a"}


def full(monkeypatch, after: int) -> None:
    """Lets the disk be full for mappings after some commits."""
    commit, done = AtomicFile.commit, []

    def tried(self):
        if self.path.name == "map":
            if len(done) >= after:
                raise AudioError("the disk is full")
            done.append(self.path)
        commit(self)

    monkeypatch.setattr(AtomicFile, "commit", tried)


def test_without_room_for_the_mapping_nothing_is_anonymized(corpus, tmp_path, monkeypatch):
    full(monkeypatch, after=0)
    done = anonymize(corpus, tmp_path / "map")
    assert done.exit_code == 1
    assert "nothing was anonymized" in str(done.exception)
    assert not [p for p in (tmp_path / "out").rglob("*") if p.suffix == ".wav"]
    assert not (tmp_path / "map").exists()


def test_a_disk_that_is_full_after_the_run_keeps_every_link(corpus, tmp_path, monkeypatch):
    """With a fresh key, nothing else links the outputs to their originals."""
    full(monkeypatch, after=1)
    (corpus / "bob/one.wav").write_bytes(b"not audio" * 30)
    done = anonymize(corpus, tmp_path / "map")
    assert done.exit_code == 1
    assert "also of those that were not made" in str(done.exception)
    outputs = {str(p) for p in (tmp_path / "out").rglob("*.wav")}
    assert len(outputs) == 2
    found = lines(tmp_path / "map")
    assert outputs < set(found)
    assert set(found.values()) == {str(p) for p in corpus.rglob("*.wav")}


def test_an_error_of_the_whole_run_after_an_output_keeps_its_line(corpus, tmp_path, monkeypatch):
    """Such as a log that cannot be written any more, after the output is there."""

    def no_room(job, outcome):
        raise CorpusError("the log cannot be written")

    monkeypatch.setattr(batch_runner, "log_line", no_room)
    done = anonymize(corpus, tmp_path / "map")
    assert "the log cannot be written" in str(done.exception)
    outputs = {str(p) for p in (tmp_path / "out").rglob("*.wav")}
    assert outputs
    assert set(lines(tmp_path / "map")) == outputs


@pytest.mark.skipif(os.name != "posix", reason="no such signal")
def test_a_killed_run_has_every_link(corpus, tmp_path):
    code = (
        "import os, signal, sys\n"
        "from voicenym.corpus.batches import batch_runner\n"
        "from voicenym.apps.cli import app\n"
        "batch_runner.log_line = lambda job, outcome: os.kill(os.getpid(), signal.SIGKILL)\n"
        "app(sys.argv[1:])\n"
    )
    given = ["anonymize", corpus, "-o", tmp_path / "out", "-s", "mcadams", "-j", "1", "--rename",
             "--mapping", tmp_path / "map"]  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code, *map(str, given)], check=False)
    assert done.returncode == -signal.SIGKILL
    outputs = {str(p) for p in (tmp_path / "out").rglob("*.wav") if not p.name.startswith(".")}
    assert outputs
    assert outputs <= set(lines(tmp_path / "map"))
