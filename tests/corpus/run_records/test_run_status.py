"""Progress of a batch, as another process reads it."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
import soundfile

from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.plans.file_plan import plan
from voicenym.corpus.run_records.run_status import status_of
from voicenym.corpus.speaker_links import outputs_of
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key


@pytest.fixture
def corpus(tmp_path):
    for name in ("a/1.wav", "a/2.wav", "b/3.wav"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(len(name)).standard_normal(16_000)
        soundfile.write(path, 0.1 * noise, 16_000)
    (tmp_path / "in" / "b" / "4.wav").write_bytes(b"not audio" * 40)
    return tmp_path / "in"


def test_a_run_is_seen_while_it_runs_and_after_it(corpus, tmp_path, command):
    out = tmp_path / "out"
    seen = []
    job = Job("mcadams", {}, Key(bytes(32)), log=out / "voicenym.jsonl")
    run(job, plan([corpus], out), report=lambda outcome: seen.append(status_of(out)))
    assert [(one.process, one.items) for one in seen] == [(os.getpid(), 4)] * 4
    assert [one.done + len(one.failures) for one in seen] == [1, 2, 3, 4]
    assert [one.settled for one in seen] == [1, 2, 3, 4]
    assert all(one.files_per_second > 0 for one in seen)
    assert seen[-1].seconds_left == 0
    after = status_of(out)
    assert (after.process, after.items, after.done) == (None, 0, 3)
    assert after.seconds == pytest.approx(3)
    assert list(after.failures) == ["b/4.wav"]
    assert (after.files_per_second, after.seconds_left) == (None, None)
    again = []
    run(job, plan([corpus], out), report=lambda outcome: again.append(status_of(out)))
    assert again[-1].settled == 0, "a failure that is tried again has its line already"
    text = command("status", out).stdout.decode()
    assert text.startswith("no run works in this folder\n3 anonymized (0.1 min of audio), 1 failed")
    assert "b/4.wav" in text
    record = json.loads(command("status", out, "--json").stdout)
    assert (record["done"], record["process"]) == (3, None)


def test_a_dead_run_is_not_running(corpus, tmp_path):
    out = tmp_path / "out"
    run(Job("mcadams", {}, Key(bytes(32)), log=out / "voicenym.jsonl"), plan([corpus], out))
    lock = out / ".voicenym.lock"
    process = 2**22 - 3  # above the numbers of processes
    lock.write_text(json.dumps({"pid": process, "host": os.uname().nodename, "items": 9}))
    assert status_of(out).process is None
    lock.write_text("{}")
    assert status_of(out).process is None


def test_folders_without_a_run_are_errors(tmp_path):
    for folder, why in ((tmp_path / "missing", "no such folder"), (tmp_path, "no run has written")):
        with pytest.raises(CorpusError, match=why):
            status_of(folder)


@pytest.mark.parametrize("text", [b"", b"{", b"[]\n", b'{"output": 5}\n', b"\xff\xfe\x00\n"])
def test_a_damaged_log_is_not_called_missing(tmp_path, text):
    (tmp_path / "voicenym.jsonl").write_bytes(text)
    why = "voicenym.jsonl: has no line that can be read, so that it is damaged or of another"
    with pytest.raises(CorpusError, match=why):
        status_of(tmp_path)
    with pytest.raises(CorpusError, match=why):
        outputs_of(tmp_path, Key(bytes(32)), ["ann"])
