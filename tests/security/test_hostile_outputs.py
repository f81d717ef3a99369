"""An output folder that a stranger wrote to: the main process decodes nothing in it, and ends."""

from __future__ import annotations

import json
import os
import signal

import pytest
import soundfile
from shard_material import sound, web_shard
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.corpus.batches.single_file import sha256_of
from voicenym.errors import CorpusError, VoicenymError
from voicenym.pseudonym import Key

DEEP = "[" * 100_000


@pytest.fixture(autouse=True)
def alarm():
    """A test that waits for a pipe ends with an error."""

    def ring(number, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def anonymize(tmp_path, monkeypatch):
    """``anonymize(...)``: the command in this process, with one worker; its result."""
    monkeypatch.chdir(tmp_path)
    Key(bytes(range(100, 132))).save(tmp_path / "project.key")
    options = ["anonymize", "--key", "project.key", "--system", "mcadams", "--workers", "1"]
    return lambda *more: CliRunner().invoke(app, [*options, *map(str, more)])


def forged(log, output: str) -> None:
    """A log that calls an output done as it is now."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if line["output"] == output:
            line["sha256"] = sha256_of(log.parent / output)
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_no_header_of_an_output_is_read_where_the_key_is(anonymize, tmp_path, monkeypatch):
    lhotse = pytest.importorskip("lhotse")
    cuts = []
    for number in range(3):
        path = tmp_path / f"in/r{number}.wav"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(sound(number))
        recording = lhotse.Recording.from_file(path, recording_id=f"r{number}")
        cut = recording.to_cut()
        cut.supervisions = [
            lhotse.SupervisionSegment(f"u{number}", recording.id, 0.0, 0.4, speaker=f"s{number}")
        ]
        cuts.append(cut)
    lhotse.CutSet.from_cuts(cuts).to_file(tmp_path / "cuts.jsonl.gz")
    assert anonymize("cuts.jsonl.gz", "-o", "out").exit_code == 0
    (tmp_path / "out/audio/r1.wav").write_bytes(b"RIFF" + bytes(200))
    forged(tmp_path / "out/voicenym.jsonl", "audio/r1.wav")
    here, opened = os.getpid(), []

    def watched(known):
        def call(*arguments, **options):
            opened.append((os.getpid() == here, str(arguments)))
            return known(*arguments, **options)

        return call

    for owner, name in (
        (lhotse.Recording, "from_file"),
        (soundfile, "info"),
        (soundfile, "SoundFile"),
    ):
        monkeypatch.setattr(owner, name, watched(getattr(owner, name)))
    from voicenym.corpus.batches import batch_task, single_file

    for module in (single_file, batch_task):
        name = "open_reader" if module is single_file else "anonymize_unnamed"
        monkeypatch.setattr(module, name, watched(getattr(module, name)))
    done = anonymize("cuts.jsonl.gz", "-o", "out")
    assert opened == []  # the other process has functions of its own
    assert done.exit_code == 1
    assert "r1.wav: cannot be read as a recording (1 such)" in str(done.exception)
    left = lhotse.CutSet.from_file(tmp_path / "out/cuts.jsonl.gz")
    assert sorted(cut.recording.id for cut in left) == ["r0", "r2"]


@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "folder", "endless"])
def test_a_shards_name_that_is_no_file_is_named_and_not_read(anonymize, tmp_path, kind):
    web_shard(tmp_path / "in/a.tar", range(1))
    web_shard(tmp_path / "in/b.tar", range(1, 2))
    assert anonymize("in", "-o", "out").exit_code == 0
    path = tmp_path / "out/a.tar"
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path if kind == "pipe" else tmp_path / "pipe")
        if kind != "pipe":
            path.symlink_to(tmp_path / "pipe")
    done = anonymize("in", "-o", "out")
    assert done.exit_code == 1
    assert "a.tar" in done.stderr
    assert "exists already and is not what this run writes there" in done.stderr
    assert "1 already done" in done.stderr
    assert os.path.lexists(path)


@pytest.mark.parametrize("text", [DEEP, '{"output": "a.tar", "sha256": 7, "fallback": 7}', "\0"])
def test_a_log_of_a_stranger_is_no_log(anonymize, tmp_path, text):
    web_shard(tmp_path / "in/a.tar", range(1))
    for inputs, output in (("in", "out"), ("plain", "files")):
        (tmp_path / output).mkdir()
        (tmp_path / output / "voicenym.jsonl").write_text(f"{text}\n")
        if inputs == "plain":
            (tmp_path / "plain/ann").mkdir(parents=True)
            (tmp_path / "plain/ann/1.wav").write_bytes(sound(1))
        done = anonymize(inputs, "-o", output)
        assert done.exit_code == 0, (done.stderr, done.exception)
    assert (tmp_path / "out/a.tar").is_file()
    assert (tmp_path / "files/ann/1.wav").is_file()


def test_a_log_that_is_a_pipe_is_refused(anonymize, tmp_path):
    web_shard(tmp_path / "in/a.tar", range(1))
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out/voicenym.jsonl")
    done = anonymize("in", "-o", "out")
    assert isinstance(done.exception, VoicenymError)
    assert "voicenym.jsonl: the log cannot be read (it is no regular file)" in str(done.exception)


LONG = {"output": "a", "sha256": "x", "duration": "long"}


@pytest.mark.parametrize("value", [DEEP, json.dumps(LONG), json.dumps({**LONG, "duration": 1e999})])
def test_the_status_of_a_strangers_folder_is_no_traceback(tmp_path, value):
    (tmp_path / "voicenym.jsonl").write_text(f"{value}\n")
    (tmp_path / ".voicenym.lock").write_text(DEEP)
    done = CliRunner().invoke(app, ["status", str(tmp_path)])
    assert done.exit_code == 0 or isinstance(done.exception, CorpusError), done.exception
