"""Processes that answer, die, hang and do not start."""

from __future__ import annotations

import pytest

from voicenym.errors import VoicenymError
from voicenym.recognition.sphinx_processes.library_process import Worker

ECHO = """
import json, pathlib, sys, time
first = sys.stdin.readline()
pathlib.Path(json.loads(first)["folder"], "dict_text").write_text("words of somebody")
print("ready" if "good" in first else "no", flush=True)
for line in sys.stdin:
    if line == "die\\n":
        sys.exit(3)
    if line == "hang\\n":
        time.sleep(60)
    print(line.strip()[::-1], flush=True)
"""


@pytest.fixture
def echo(tmp_path, monkeypatch):
    (tmp_path / "echo_worker.py").write_text(ECHO)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "echo_worker"


def test_it_answers_until_it_dies_and_is_started_anew(echo):
    worker = Worker(echo, {"good": 1}, "no start")
    assert worker.process is None
    assert worker.ask(b"abc\n", 10.0) == b"cba\n"
    first = worker.process
    assert worker.ask(b"die\n", 10.0) is None
    worker.close()
    assert worker.ask(b"xy\n", 10.0) == b"yx\n"
    assert worker.process is not first
    assert worker.ask(b"hang\n", 0.2) is None
    worker.close()
    worker.close()
    assert worker.process is None


def test_one_that_does_not_start_says_why(echo):
    with pytest.raises(VoicenymError, match="no start"):
        Worker(echo, {"bad": 1}, "no start").ask(b"abc\n", 10.0)


@pytest.mark.parametrize("end", [b"abc\n", b"die\n", b"hang\n"])
def test_words_of_a_recording_do_not_stay_on_the_disk(echo, end, tmp_path, monkeypatch):
    (scratch := tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    worker = Worker(echo, {"good": 1}, "no start")
    worker.ask(end, 0.2 if end == b"hang\n" else 10.0)
    assert [path.name for path in scratch.glob("*/*")] == ["dict_text"]
    worker.close()
    assert not list(scratch.iterdir())
    with pytest.raises(VoicenymError, match="no start"):
        Worker(echo, {"bad": 1}, "no start").ask(b"abc\n", 10.0)
    assert not list(scratch.iterdir())
