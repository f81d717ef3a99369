"""Changed or foreign files at an output's name are kept, and named."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.audio.atomic import AtomicFile
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.plans.file_plan import Item
from voicenym.errors import AudioError, CorpusError
from voicenym.pseudonym import Key

NAMES = ("a", "b", "c")


def buzz(path, pitch: float = 120.0):
    time = np.arange(4000) / 16_000
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, 0.1 * np.sign(np.sin(2 * np.pi * pitch * time)), 16_000)
    return path


@pytest.fixture
def batch(tmp_path):
    """``batch(**job)`` anonymizes three recordings to ``out``."""
    for name in NAMES:
        buzz(tmp_path / f"in/{name}.wav")
    out = tmp_path / "out"
    items = [Item(tmp_path / f"in/{n}.wav", out / f"{n}.wav", "s", n) for n in NAMES]

    def go(workers: int = 1, **options):
        given = {"key": Key(bytes(32)), "log": out / "voicenym.jsonl", **options}
        return run(Job("mcadams", {}, **given), items, workers)

    return go


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@pytest.mark.parametrize("edit", [b"edited", None])
def test_an_edited_output_stays_and_is_named(batch, tmp_path, edit):
    batch()
    path = tmp_path / "out/b.wav"
    path.write_bytes(edit or path.read_bytes()[:100])
    before = contents(tmp_path / "out")
    (tmp_path / "out/c.wav").unlink()
    summary = batch()
    assert (summary.done, summary.skipped) == (1, 1)  # c is missing and made; a is done
    ((source, reason),) = summary.failures
    assert source.endswith("in/b.wav")
    assert str(path) in reason
    assert "--overwrite" in reason
    assert contents(tmp_path / "out") == before


def test_an_output_that_is_put_back_is_done_again(batch, tmp_path):
    """A refusal does not change what is known of the output."""
    batch()
    path = tmp_path / "out/b.wav"
    whole, log = path.read_bytes(), (tmp_path / "out/voicenym.jsonl").read_bytes()
    path.write_bytes(b"edited")
    assert batch().failures
    path.write_bytes(whole)
    assert batch().skipped == 3
    assert (tmp_path / "out/voicenym.jsonl").read_bytes() == log


def test_overwriting_replaces_a_changed_output_by_the_same_bytes(batch, tmp_path):
    batch()
    before = contents(tmp_path / "out")
    (tmp_path / "out/b.wav").write_bytes(b"edited")
    assert batch(overwrite=True).done == 3
    assert contents(tmp_path / "out") == before


def test_outputs_without_their_log_are_compared_with_what_would_be_written(batch, tmp_path):
    batch()
    before = contents(tmp_path / "out")
    (tmp_path / "out/voicenym.jsonl").unlink()
    (tmp_path / "out/b.wav").write_bytes(b"somebody's")
    summary = batch()
    assert (summary.done, summary.skipped) == (0, 2)
    assert "b.wav: exists already" in summary.failures[0][1]
    assert (tmp_path / "out/b.wav").read_bytes() == b"somebody's"
    (tmp_path / "out/b.wav").write_bytes(before["b.wav"])
    assert batch().skipped == 3
    assert contents(tmp_path / "out") == before


def test_a_recording_that_changed_since_is_named(batch, tmp_path):
    batch()
    before = contents(tmp_path / "out")
    buzz(tmp_path / "in/b.wav", pitch=150.0)
    summary = batch()
    assert summary.skipped == 2
    assert "in/b.wav: changed since" in summary.failures[0][1]
    assert "--overwrite" in summary.failures[0][1]
    assert contents(tmp_path / "out") == before
    assert batch(overwrite=True).done == 3
    assert batch().skipped == 3


def test_the_log_does_not_tell_what_was_read(batch, tmp_path):
    """The check of the recording is a tag by the key: equal recordings, another tag."""
    tags = []
    for key in (Key(bytes(32)), Key(b"k" * 32)):
        batch(key=key, overwrite=True)
        line = json.loads((tmp_path / "out/voicenym.jsonl").read_text().splitlines()[0])
        tags.append(line["input_check"])
    assert tags[0] != tags[1]


def test_lines_of_earlier_releases_count(batch, tmp_path):
    batch()
    log = tmp_path / "out/voicenym.jsonl"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        del line["revision"], line["input_check"]
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert batch().skipped == 3


@pytest.mark.parametrize(
    "other",
    [{"revision": 2}, {"version": "other"}, {"per_utterance": True}, {"key": Key(b"x" * 32)}],
)
def test_outputs_with_other_voices_stop_the_run(batch, tmp_path, other):
    batch()
    before = contents(tmp_path / "out")
    (tmp_path / "out/c.wav").unlink()
    with pytest.raises(CorpusError, match="another key, system or parameters"):
        batch(**other)
    del before["c.wav"]
    assert contents(tmp_path / "out") == before


def test_single_files_too(tmp_path):
    source = str(buzz(tmp_path / "x.wav"))
    Key(bytes(32)).save(tmp_path / "k")
    (tmp_path / "k2").write_bytes((tmp_path / "k").read_bytes())
    out = tmp_path / "x.anon.wav"

    def command(*more: str):
        return CliRunner().invoke(app, ["anonymize", source, "-s", "mcadams", *more])

    key = ["--key", str(tmp_path / "k")]
    assert command(*key).exit_code == 0
    written = out.read_bytes()
    again = command(*key)
    assert again.exit_code == 0
    assert "is there already" in again.output
    assert out.read_bytes() == written
    for options in (key, []):
        out.write_bytes(b"edited")
        refused = command(*options)
        assert refused.exit_code == 1
        assert str(out) in refused.output
        assert "--overwrite" in refused.output
        assert out.read_bytes() == b"edited"
    assert command(*key, "--overwrite").exit_code == 0
    assert out.read_bytes() == written


def test_a_file_that_appears_at_the_last_moment_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "a.wav"
    file = AtomicFile(path, overwrite=False)
    path.write_bytes(b"precious")
    monkeypatch.setattr(AtomicFile, "check", lambda self: None)  # it appears after the check
    with pytest.raises(AudioError, match="exists already"):
        file.commit()
    file.discard()
    assert path.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [path]
