"""What a worker does with one recording, within this process."""

from __future__ import annotations

import errno

import pytest

from voicenym.apps.serve import job_task
from voicenym.apps.serve.job_runner import STATUSES
from voicenym.apps.serve.job_task import Task
from voicenym.audio.atomic import write_failed
from voicenym.errors import UnknownSystemError
from voicenym.pseudonym import Key


@pytest.mark.parametrize(
    ("language", "system", "settings"),
    [
        ("de", "recast", {}),
        ("en", "word-codes", {"language": "en"}),
    ],
)
def test_an_audit_is_of_the_system_that_made_the_output_and_of_its_settings(
    tmp_path, monkeypatch, speech, language, system, settings
):
    audits = []
    monkeypatch.setattr(job_task, "_audit", lambda *given: audits.append(given[2:]) or {})
    source = tmp_path / "original"
    source.write_bytes(speech)
    pseudonym = Key(bytes(32)).pseudonym("ann")
    task = Task(
        source, tmp_path, ".wav", "word-codes", {"language": language}, pseudonym, "recast",
        audit=True,
    )  # fmt: skip
    outcome = job_task.run(task)
    assert outcome.system == system
    assert bool(outcome.refusal) == (system == "recast")
    assert audits == [(system, settings)]


@pytest.mark.parametrize(
    ("system", "settings", "fallback", "words"),
    [
        ("mcadams", {}, "vtln", "refuses no recording"),
        ("word-codes", {}, "word-codes", "is the system itself"),
    ],
)
def test_a_fallback_that_would_never_be_used_is_refused(
    tmp_path, speech, system, settings, fallback, words
):
    source = tmp_path / "original"
    source.write_bytes(speech)
    pseudonym = Key(bytes(32)).pseudonym("ann")
    task = Task(source, tmp_path, ".wav", system, settings, pseudonym, fallback)
    with pytest.raises(UnknownSystemError, match=words) as caught:
        job_task.run(task)
    problem = job_task._failure(caught.value, tmp_path)
    assert problem["status"] == 422
    assert problem["cure"]
    assert [path.name for path in tmp_path.iterdir()] == ["original"]


@pytest.mark.parametrize("fallback", ["recast", "none"])
def test_the_default_and_no_fallback_pass_with_every_system(tmp_path, speech, fallback):
    source = tmp_path / "original"
    source.write_bytes(speech)
    pseudonym = Key(bytes(32)).pseudonym("ann")
    for system in ("mcadams", "recast"):
        task = Task(source, tmp_path, ".wav", system, {}, pseudonym, fallback)
        outcome = job_task.run(task)
        assert outcome.system == system
        outcome.path.unlink()


def test_a_full_disk_is_the_server_s_and_no_fault_of_the_recording(tmp_path):
    error = write_failed(str(tmp_path / "output.wav"), OSError(errno.ENOSPC, "No space left"))
    found = job_task._failure(error, tmp_path)
    assert found["status"] == 507
    assert found["status"] in STATUSES
    assert "operator" in found["cure"]
