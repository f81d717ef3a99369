"""What a worker does with one recording, within this process."""

from __future__ import annotations

import errno

import pytest

from voicenym.apps.serve import job_task
from voicenym.apps.serve.job_runner import STATUSES
from voicenym.apps.serve.job_task import Task
from voicenym.audio.atomic import write_failed
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


def test_a_full_disk_is_the_server_s_and_no_fault_of_the_recording(tmp_path):
    error = write_failed(str(tmp_path / "output.wav"), OSError(errno.ENOSPC, "No space left"))
    found = job_task._failure(error, tmp_path)
    assert found["status"] == 507
    assert found["status"] in STATUSES
    assert "operator" in found["cure"]
