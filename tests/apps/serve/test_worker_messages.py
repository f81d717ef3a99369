"""What a worker says is checked: it may be what a recording made of it."""

from __future__ import annotations

import json
import pickle
from multiprocessing import Pipe

import pytest

from voicenym.apps.serve.job_runner import JobRunner
from voicenym.apps.serve.job_task import DEFECT, DONE, FAILED, PROGRESS
from voicenym.apps.serve.task_outcome import outcome_of
from voicenym.apps.web.problem_details import Problem

VALUE = {
    "path": "output.wav", "seconds": 1.5, "rate": 16_000, "channels": 1, "system": "recast",
    "refusal": "", "warnings": ["w"], "audit": None,
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


def test_an_end_without_an_answer_is_503():
    with pytest.raises(Problem) as caught:
        said()
    assert caught.value.status == 503


def test_an_output_is_a_file_of_the_request_s_folder(tmp_path):
    (tmp_path / "output.wav").write_bytes(b"sound")
    secret = tmp_path.parent / "secret.wav"
    secret.write_bytes(b"secret")
    (tmp_path / "output.flac").symlink_to(secret)
    assert outcome_of(VALUE, tmp_path).path == tmp_path / "output.wav"
    for name in ("../secret.wav", str(secret), "output.flac", "original", "none.wav", 7, None):
        with pytest.raises(ValueError, match="no out"):
            outcome_of({**VALUE, "path": name}, tmp_path)
    with pytest.raises(ValueError, match="no outcome"):
        outcome_of({"path": "output.wav"}, tmp_path)
