"""A recording that fails in any way is named, and the others continue."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.corpus.batches import batch_task
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.excerpt import Passage
from voicenym.corpus.plans.file_plan import Item
from voicenym.corpus.plans.kaldi_plan import read_kaldi
from voicenym.errors import VoicenymError
from voicenym.pseudonym import Key

KEY = Key(bytes(32))


def buzz(path: Path) -> Path:
    time = np.arange(4000) / 16_000
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, 0.1 * np.sign(np.sin(2 * np.pi * 120 * time)), 16_000)
    return path


def items_of(folder: Path, names: str) -> list[Item]:
    return [
        Item(buzz(folder / f"in/{name}.wav"), folder / f"out/{name}.wav", "s", name)
        for name in names
    ]


def job(folder: Path, **options) -> Job:
    return Job("mcadams", {}, KEY, log=folder / "out/voicenym.jsonl", **options)


FAULTS = {
    KeyError("stream"): "internal error (KeyError: 'stream')",
    RuntimeError("shape"): "internal error (RuntimeError: shape)",
    AssertionError(): "internal error (AssertionError)",
    RecursionError("deep"): "internal error (RecursionError: deep)",
    ZeroDivisionError("x"): "internal error (ZeroDivisionError: x)",
    MemoryError(): "more memory than there is",
    RuntimeError("DefaultCPUAllocator: can't allocate memory"): "more memory than there is",
    OSError(5, "Input/output error"): "Input/output error",
}


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
def test_any_exception_is_a_reason_and_the_others_go_on(fault, tmp_path, monkeypatch, capfd):
    real = batch_task.anonymize_unnamed

    def faulty(*arguments, **options):
        if options["name"].endswith("b.wav"):
            raise fault
        return real(*arguments, **options)

    monkeypatch.setattr(batch_task, "anonymize_unnamed", faulty)
    monkeypatch.delenv("VOICENYM_DEBUG", raising=False)
    summary = run(job(tmp_path), items_of(tmp_path, "abc"))
    assert (summary.done, summary.untried) == (2, 0)
    ((source, reason),) = summary.failures
    assert source in reason
    assert FAULTS[fault] in reason
    assert ("report" in reason and "VOICENYM_DEBUG=1" in reason) == ("internal" in reason)
    assert "Traceback" not in capfd.readouterr().err
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"a.wav", "c.wav", "voicenym.jsonl"}


def test_the_traceback_of_a_defect_is_shown_on_request(tmp_path, monkeypatch, capfd):
    def faulty(*arguments, **options):
        raise KeyError("stream")

    monkeypatch.setattr(batch_task, "anonymize_unnamed", faulty)
    monkeypatch.setenv("VOICENYM_DEBUG", "1")
    assert run(job(tmp_path), items_of(tmp_path, "a")).failures
    assert "Traceback" in capfd.readouterr().err


def test_the_first_failure_can_stop_the_run(tmp_path):
    items = items_of(tmp_path, "abcd")
    items[1].source.write_bytes(b"not audio" * 50)
    summary = run(job(tmp_path), items, fail_fast=True)
    assert (summary.done, len(summary.failures), summary.untried) == (1, 1, 2)
    assert run(job(tmp_path), items).done == 2


def test_the_command_counts_and_lists_failures(tmp_path):
    for item in items_of(tmp_path, "abcd")[1:3]:
        item.source.write_bytes(b"not audio" * 50)
    line = ["anonymize", str(tmp_path / "in"), "-s", "mcadams", "-o"]
    done = CliRunner().invoke(app, [*line, str(tmp_path / "one")])
    assert done.exit_code == 1
    assert "2 anonymized, 0 already done, 2 failed;" in done.output
    errors = [text for text in done.output.splitlines() if "error:" in text]
    assert [name in text for name, text in zip(("b.wav", "c.wav"), errors, strict=True)] == [
        True,
        True,
    ]
    done = CliRunner().invoke(app, [*line, str(tmp_path / "two"), "--fail-fast"])
    assert done.exit_code == 1
    assert "1 anonymized, 0 already done, 1 failed, 2 not tried;" in done.output


def test_a_killed_worker_fails_its_file_alone(tmp_path):
    """Commands of a wav.scp that kill the worker which runs them, and a defect in a worker."""
    data = tmp_path / "data"
    data.mkdir()
    wav = buzz(tmp_path / "x.wav")
    entries = {"u1": "kill -9 $PPID |", "u2": str(wav), "u3": f"cat {wav} |", "u4": str(wav)}
    entries |= {"u5": "kill -SEGV $PPID |", "u6": f"cat {wav} |"}
    (data / "wav.scp").write_text("".join(f"{u} {e}\n" for u, e in entries.items()))
    (data / "utt2spk").write_text("".join(f"{u} s\n" for u in entries))
    items = read_kaldi(data, tmp_path / "out", allow_pipes=True).items
    defect = Passage(wav, "u7", float("nan"), 0.1)
    items.insert(2, Item(defect, tmp_path / "out/wav/u7.wav", "s", "u7"))
    summary = run(job(tmp_path), items, workers=2)
    assert summary.done == 4
    reasons = dict(summary.failures)
    assert len(reasons) == 3
    assert "killed (SIGKILL; out of memory?)" in reasons["kill -9 $PPID | (u1)"]
    assert "crashed (SIGSEGV)" in reasons["kill -SEGV $PPID | (u5)"]
    assert "internal error (ValueError" in reasons[str(defect)]
    there = {p.name for p in (tmp_path / "out/wav").iterdir()}
    assert there == {"u2.wav", "u3.wav", "u4.wav", "u6.wav"}
    assert len({(tmp_path / f"out/wav/{u}.wav").read_bytes() for u in ("u2", "u3")}) == 1


def test_a_system_that_cannot_work_is_one_message(tmp_path):
    items = items_of(tmp_path, "abc")
    broken = Job("mcadams", {"low": 5.0, "nosuch": 1}, KEY, log=tmp_path / "out/voicenym.jsonl")
    for workers in (1, 2):
        with pytest.raises(VoicenymError) as caught:
            run(broken, items, workers=workers)
        assert "mcadams" in str(caught.value)
        assert list((tmp_path / "out").iterdir()) == []
