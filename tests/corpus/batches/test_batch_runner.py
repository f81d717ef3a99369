"""Order of work in a batch: recordings are anonymized while earlier outputs are flushed."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from voicenym.corpus.batches import batch_task
from voicenym.corpus.batches.batch_runner import FLUSHES, Job, run
from voicenym.corpus.batches.single_file import Unnamed
from voicenym.corpus.plans.file_plan import Item
from voicenym.corpus.run_records.run_lock import LOCK_NAME, RunLock
from voicenym.corpus.run_records.run_log import RunLog
from voicenym.errors import CorpusError, VoicenymError, WeightsError
from voicenym.pseudonym import Key

PATIENCE = 60.0
"""Seconds that a test waits for what does not come."""


@pytest.fixture
def items(tmp_path):
    found = []
    for name in "abcdefgh":
        source = tmp_path / f"{name}.wav"
        soundfile.write(source, 0.1 * np.sign(np.sin(np.arange(3000) / 20)), 16_000)
        found.append(Item(source, tmp_path / "out" / f"{name}.wav", "s", name))
    return found


@pytest.fixture
def job(tmp_path):
    return Job("mcadams", {}, Key(bytes(32)), log=tmp_path / "out" / "voicenym.jsonl")


@pytest.fixture
def events(monkeypatch):
    """Starts of recordings and of flushes, and what to do at each of them."""
    order, hooks = [], {}
    anonymize, commit = batch_task.anonymize_unnamed, Unnamed.commit

    def note(event):
        order.append(event)
        hooks.get(event, lambda: None)()

    def starting(*arguments, **options):
        note(f"start {arguments[3].stem}")
        return anonymize(*arguments, **options)

    def flushing(self):
        note(f"flush {self.target.stem}")
        return commit(self)

    monkeypatch.setattr(batch_task, "anonymize_unnamed", starting)
    monkeypatch.setattr(Unnamed, "commit", flushing)
    return order, hooks


def test_the_next_recordings_are_anonymized_while_an_output_is_flushed(items, job, events):
    order, hooks = events
    started = threading.Event()
    last = "abcdefgh"[FLUSHES - 1]
    hooks[f"start {last}"] = started.set
    hooks["flush a"] = lambda: started.wait(PATIENCE) or pytest.fail("nothing goes on")
    outcomes = []
    summary = run(job, items, report=outcomes.append)
    assert (summary.done, summary.failures) == (len(items), [])
    assert [outcome.item for outcome in outcomes] == items, "in their order"
    assert order.index(f"start {last}") < order.index("start h")


def test_no_more_outputs_than_that_wait_for_the_disk(items, job, events):
    order, hooks = events
    ahead = []
    hooks["flush a"] = lambda: ahead.append(late.wait(0.2))
    late = threading.Event()
    hooks[f"start {'abcdefgh'[FLUSHES]}"] = late.set
    run(job, items)
    assert ahead == [False]
    assert order.count("flush a") == 1


def test_where_the_first_failure_ends_the_run_each_outcome_is_awaited(items, job, events):
    order, _ = events
    run(job, items, fail_fast=True)
    assert order == [f"{what} {name}" for name in "abcdefgh" for what in ("start", "flush")]


def test_outputs_before_a_failure_of_the_system_are_in_the_log(items, job, events):
    _, hooks = events

    def fail():
        raise WeightsError("no weights")

    hooks["start c"] = fail
    with pytest.raises(VoicenymError, match="no weights"):
        run(job, items)
    log = RunLog(job.log)
    log.read()
    assert sorted(log.lines) == ["a.wav", "b.wav"]
    assert run(job, items[:2]).skipped == 2


def test_a_flush_that_fails_fails_its_recording(items, job, events):
    _, hooks = events

    def full():
        raise OSError(28, "No space left on device")

    hooks["flush b"] = full
    summary = run(job, items)
    assert summary.done == len(items) - 1
    ((source, reason),) = summary.failures
    assert source.endswith("b.wav")
    assert "the disk is full" in reason


@pytest.mark.parametrize("what", ["folder", "content"])
def test_a_run_whose_output_folder_disappears_ends_and_logs_nothing_that_is_missing(
    items, job, what, tmp_path
):
    out, aside = tmp_path / "out", tmp_path / "aside"

    def vanish(outcome):
        if outcome.item is items[2]:
            aside.mkdir()
            for path in [out] if what == "folder" else out.glob("[!.]*"):
                path.rename(aside / path.name)

    with pytest.raises(CorpusError, match="was removed or renamed during the run"):
        run(job, items, report=vanish)
    assert not job.log.exists()
    assert not (out / LOCK_NAME).exists()
    again = run(job, items)
    assert again.done + again.skipped == len(items)
    assert all(item.target.is_file() for item in items)


def test_the_end_of_a_run_leaves_the_lock_of_a_later_folder_of_the_name(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    first, second = RunLock(out), RunLock(out)
    first.acquire()
    out.rename(tmp_path / "aside")
    out.mkdir()
    second.acquire()
    first.release()
    assert (out / LOCK_NAME).exists()
    with pytest.raises(CorpusError, match="another run works in this folder"):
        RunLock(out).acquire()
    second.release()
    assert not (out / LOCK_NAME).exists()


@pytest.mark.parametrize(
    "change", [{"key": Key(b"1" * 32)}, {"system": "formant"}, {"parameters": {"order": 30}}]
)
def test_other_recordings_in_a_folder_are_refused_other_voices(items, job, change, tmp_path):
    job = replace(job, log=tmp_path / "voicenym.jsonl")
    run(job, items[:2])
    other = replace(job, **change)
    for overwrite in (False, True):
        with pytest.raises(CorpusError, match=r"a\.wav: made earlier with another key.*new folder"):
            run(replace(other, overwrite=overwrite), items[2:4])
    for item in items[:2]:
        item.target.unlink()
    assert run(other, items[2:4]).done == 2


def test_recordings_that_were_named_one_by_one_may_have_other_voices(items, job):
    """They lie beside the log, and each is a speaker of its own."""
    run(job, items[:2])
    assert run(replace(job, key=Key(b"1" * 32)), items[2:4]).done == 2


def test_what_is_overwritten_may_have_had_other_voices(items, job):
    run(job, items[:2])
    other = replace(job, key=Key(b"1" * 32), overwrite=True)
    assert run(other, items[:3]).done == 3


def test_other_recordings_may_have_another_edit_or_fallback(items, job):
    run(job, items[:1])
    log = RunLog(job.log)
    log.read()
    log.append({**log.lines["a.wav"], "edit": {"x": 1}, "fallback": {"system": "vtln"}})
    log.settle()
    assert run(job, items[1:2]).done == 1
    with pytest.raises(CorpusError, match=r"a\.wav: made earlier"):
        run(job, items[:1])


def test_original_names_do_not_join_drawn_ones(items, job):
    """The log would have the SHA-256 of a recording under both names."""
    run(replace(job, opaque=True), [replace(items[0], target=items[0].target.with_name("x.wav"))])
    for overwrite in (False, True):
        with pytest.raises(CorpusError, match=r"with --rename.*new folder"):
            run(replace(job, overwrite=overwrite), items[:1])
    assert not items[0].target.exists()


class NoEngine:
    """An engine that cannot start."""

    def pool(self, *arguments):
        pytest.fail("was started")


def test_a_run_with_nothing_to_do_starts_no_engine(items, job):
    run(job, items)
    assert run(job, items, 2, engine=NoEngine()).skipped == len(items)
    with pytest.raises(pytest.fail.Exception, match="was started"):
        run(replace(job, overwrite=True), items, 2, engine=NoEngine())
