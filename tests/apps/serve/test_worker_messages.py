"""What a worker says is checked: it may be what a recording made of it."""

from __future__ import annotations

import json
import math
import os
import pickle
import struct
from contextlib import contextmanager
from multiprocessing import Pipe

import pytest

from voicenym.apps.serve import job_runner, worker_messages
from voicenym.apps.serve.job_runner import JobRunner
from voicenym.apps.serve.job_task import DEFECT, DONE, FAILED, PROGRESS
from voicenym.apps.serve.routes.responses import media_type
from voicenym.apps.serve.task_outcome import outcome_of
from voicenym.apps.web.problem_details import Problem

VALUE = {
    "path": "output.wav", "seconds": 1.5, "rate": 16_000, "channels": 1, "system": "recast",
    "refusal": "", "warnings": ["w"], "audit": None, "is_film": False,
}  # fmt: skip


def said(*messages, progress=lambda done, of: None):
    ours, theirs = Pipe(duplex=False)
    with ours:
        for message in messages:
            theirs.send_bytes(message)
        theirs.close()
        return JobRunner()._outcome(ours, progress, lambda: False)


def test_progress_and_the_end_are_told():
    seen = []
    messages = [[PROGRESS, [1.0, None]], [PROGRESS, [2.0, 3.0]], [DONE, VALUE]]
    found = said(
        *(json.dumps(one).encode() for one in messages), progress=lambda *one: seen.append(one)
    )
    assert found == VALUE
    assert seen == [(1.0, None), (2.0, 3.0)]


@pytest.mark.parametrize(
    "message",
    [
        pickle.dumps((DONE, VALUE)), b"", b"{", b"[]", b"[1, 2, 3]", b"null", b'["done", 1]',
        b'["else", {}]', b"[" * 10_000, json.dumps([DEFECT, {"place": "x"}]).encode(),
        json.dumps([FAILED, None]).encode(),
    ],
)  # fmt: skip
def test_what_no_worker_says_is_a_defect_and_is_not_unpickled(message, monkeypatch):
    monkeypatch.setattr(pickle, "loads", None)
    with pytest.raises(Problem) as caught:
        said(message)
    assert caught.value.status == 500


def test_a_failure_has_a_status_of_failures():
    for status, shown in ((413, 413), (200, 422), ("x", 422)):
        told = {"status": status, "detail": "d", "cure": "c"}
        with pytest.raises(Problem) as caught:
            said(json.dumps([FAILED, told]).encode())
        assert caught.value.status == shown


@pytest.mark.parametrize("part", [2, 4, 40])
def test_a_worker_that_sends_half_a_message_is_killed(part, monkeypatch):
    """The thread of the request ends, and so does the process, which holds the pipe open."""
    monkeypatch.setattr(worker_messages, "WHOLE_SECONDS", 0.2)
    monkeypatch.setattr(job_runner, "LOOK_SECONDS", 0.01)
    message = json.dumps([DONE, VALUE]).encode()
    half = (struct.pack("!i", len(message)) + message)[:part]
    with hijacked(half) as (runner, process):
        with pytest.raises(Problem) as caught:
            runner._run(None, lambda done, of: None, lambda: False, lambda pid: None)
        assert caught.value.status == 500
        assert process.killed
    assert runner.killed == 1


def test_a_request_that_is_given_up_ends_in_the_middle_of_a_message(monkeypatch):
    monkeypatch.setattr(job_runner, "LOOK_SECONDS", 0.01)
    looks = iter([False, False, True])
    with hijacked(struct.pack("!i", 100) + b"half") as (runner, process):
        with pytest.raises(Problem) as caught:
            runner._run(None, lambda done, of: None, lambda: next(looks), lambda pid: None)
        assert caught.value.status == 503
        assert process.killed


def test_progress_without_end_does_not_outlive_the_time_of_a_task():
    message = json.dumps([PROGRESS, [1.0, None]]).encode()
    with hijacked((struct.pack("!i", len(message)) + message) * 500) as (_, process):
        runner = JobRunner(seconds=0.0)
        runner._context = process
        with pytest.raises(Problem) as caught:
            runner._run(None, lambda done, of: None, lambda: False, lambda pid: None)
        assert caught.value.status == 413


class Hijacked:
    """A worker process that says some bytes, and then nothing, and holds its pipe open; it stands
    for the context that starts it as well.
    """

    pid = 1

    def __init__(self, words: bytes) -> None:
        self._words = words
        self.killed = False
        self._pipe = None

    def Pipe(self, duplex):
        return Pipe(duplex)

    def Process(self, target, args, daemon):
        self._pipe = os.dup(args[0].fileno())
        return self

    def start(self) -> None:
        os.write(self._pipe, self._words)

    def kill(self) -> None:
        self.killed = True
        self.close()

    def join(self) -> None:
        assert self.killed

    def close(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None


@contextmanager
def hijacked(words: bytes):
    """A runner whose next worker says these bytes, and the worker."""
    process, runner = Hijacked(words), JobRunner()
    runner._context = process
    try:
        yield runner, process
    finally:
        process.close()


def test_an_end_without_an_answer_is_503():
    with pytest.raises(Problem) as caught:
        said()
    assert caught.value.status == 503


def test_an_output_is_a_file_of_the_request_s_folder(tmp_path):
    (tmp_path / "output.wav").write_bytes(b"sound")
    secret = tmp_path.parent / "secret.wav"
    secret.write_bytes(b"secret")
    (tmp_path / "output.flac").symlink_to(secret)
    assert outcome_of(VALUE, tmp_path, ["recast"]).path == tmp_path / "output.wav"
    for name in ("../secret.wav", str(secret), "output.flac", "original", "none.wav", 7, None):
        with pytest.raises(ValueError, match="no out"):
            outcome_of({**VALUE, "path": name}, tmp_path, ["recast"])
    with pytest.raises(ValueError, match="no outcome"):
        outcome_of({"path": "output.wav"}, tmp_path, ["recast"])


@pytest.mark.parametrize(
    "told",
    [
        {"system": "Ann Miller"}, {"system": ["recast"]}, {"seconds": -1.0},
        {"seconds": math.inf}, {"seconds": math.nan}, {"rate": math.inf},
        {"warnings": ["w" * (1 << 20)]}, {"audit": {"words": "w" * (1 << 20)}},
    ],
    ids=lambda told: next(iter(told)),
)  # fmt: skip
def test_an_outcome_names_a_system_of_its_request_and_is_short(tmp_path, told):
    """Systems and seconds are shown to every client by the metrics; audits stay in memory."""
    (tmp_path / "output.wav").write_bytes(b"x")
    with pytest.raises(ValueError):
        outcome_of({**VALUE, **told}, tmp_path, ["recast"])


def test_progress_that_is_no_number_of_json_counts_as_none():
    seen = []
    told = [[math.inf, None], [1.0, math.nan], [], None, [1.0, 2.0]]
    messages = [json.dumps([PROGRESS, one]).encode() for one in told]
    said(*messages, json.dumps([DONE, VALUE]).encode(), progress=lambda *one: seen.append(one))
    assert seen == [(0.0, None)] * 4 + [(1.0, 2.0)]


def test_the_reason_of_a_worker_is_bounded():
    told = {"status": 422, "detail": "d " * 5_000, "cure": ["c"]}
    with pytest.raises(Problem) as caught:
        said(json.dumps([FAILED, told]).encode())
    assert 100 < len(str(caught.value)) <= job_runner.MOST_REASON
    assert caught.value.body()["cure"] == "['c']."


@pytest.mark.parametrize(
    ("suffix", "is_film", "expected"),
    [
        (".webm", True, "video/webm"),
        (".webm", False, "audio/webm"),
        (".mp4", True, "video/mp4"),
        (".mp4", False, "audio/mp4"),
        (".wav", False, "audio/wav"),
    ],
)
def test_media_types_are_of_films_where_there_is_a_picture(tmp_path, suffix, is_film, expected):
    (tmp_path / f"output{suffix}").touch()
    value = {**VALUE, "path": f"output{suffix}", "is_film": is_film}
    assert media_type(outcome_of(value, tmp_path, ["recast"])) == expected
