"""Anonymizes a batch of recordings in parallel; resumes earlier runs, and isolates failures.

The run state (:mod:`voicenym.corpus.run_records.run_state`) knows the existing outputs:

- an unchanged output in the state, of an unchanged recording, is skipped;
- an output that was made with another key, system or parameters stops the run, also if this run
  makes others in the same folder and not that one, because voices of one speaker would differ;
- so do new outputs of recordings, most of a folder, that have one there in another voice;
- an output whose recording has changed since is an error;
- for any other output, the recording is anonymized again into a temporary file. If the two are
  equal, the output comes from a killed run and is done; otherwise it is an error. It is never
  modified.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import voicenym
from voicenym.audio.atomic import sweep
from voicenym.corpus.batches import earlier_run
from voicenym.corpus.batches.batch import Job, Outcome, Summary, WorkerSettings
from voicenym.corpus.batches.batch_task import Progress, Task, Worker, input_digest
from voicenym.corpus.batches.earlier_run import (
    is_as_logged,
    is_of,
)
from voicenym.corpus.batches.engines import LOCAL, Engine, with_first
from voicenym.corpus.plans import timestamps
from voicenym.corpus.plans.file_plan import Item
from voicenym.corpus.readers import speaker_rule
from voicenym.corpus.run_records import run_state
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.run_records.run_state import LocalRunState, RunState, output_name
from voicenym.corpus.workers.worker_pool import Death

FLUSHES = 4
"""Most outputs that one process flushes to the disk at a time."""

__all__ = ["Job", "Outcome", "Summary", "log_line", "run"]


def run(
    job: Job,
    items: Sequence[Item],
    workers: int = 1,
    report: Callable[[Outcome], None] | None = None,
    progress: Progress | None = None,
    *,
    fail_fast: bool = False,
    state: RunState | None = None,
    engine: Engine = LOCAL,
    begin: Callable[[], None] | None = None,
) -> Summary:
    """Anonymize all items.

    Args:
        job: system, key, log.
        items: from :mod:`voicenym.corpus.plans.file_plan`.
        workers: processes; the result does not depend on it. 0: all that the engine has.
        report: called with every outcome as it comes.
        progress: called with seconds of audio done; with one worker, also within a file.
        fail_fast: start no item after the first failure.
        state: run state; by default it is stored beside the job's log.
        engine: of the workers.
        begin: called once the run is known not to be refused, before the first output.

    Raises:
        CorpusError: another run uses the folder, or an earlier run had other settings.
        VoicenymError: the system cannot run at all.
    """
    if job.opaque:  # by drawn names, so that no order reveals the original ones
        items = sorted(items, key=lambda item: item.target)
    summary = Summary()
    with LocalRunState(job.log, len(items)) if state is None else state as state:
        earlier_run.check(job, items, state.lines)
        if begin is not None:
            begin()
        for folder in {item.target.parent for item in items} | _log_folder(job):
            sweep(folder)

        def settle(outcome: Outcome) -> None:
            _count(summary, outcome)
            if _is_news(job, outcome, state):
                state.settle(log_line(job, outcome))
            if report is not None:
                report(outcome)

        def tasks() -> Iterator[Task]:
            """Items to process, in order; items that need no work are settled on the way."""
            for item in items:
                name = output_name(item.target, job.log)
                if not state.claim(name, f"process {os.getpid()}"):
                    continue
                plan = _plan(job, item, state)
                if isinstance(plan, Outcome):
                    settle(plan)
                    if fail_fast and summary.failures:
                        return
                else:
                    yield plan

        try:
            count = min(workers, len(items))
            # closed also after an error, so that no output comes after the end of the run
            with closing(
                _outcomes(job, tasks(), count, progress, not fail_fast, engine)
            ) as outcomes:
                for outcome in outcomes:
                    settle(outcome)
                    if fail_fast and summary.failures:
                        break
        finally:
            settled = summary.done + summary.skipped + len(summary.failures)
            summary.untried = len(items) - settled
    if job.opaque:
        level_times(job, items)
    return summary


def level_times(job: Job, items: Sequence[Item], tables: Iterable[Path] = ()) -> None:
    """Sets the times of outputs, log, tables and their folders to the constant of ``times``."""
    if job.log is None:
        return
    outputs, root = [item.target for item in items], job.log.parent
    timestamps.level([*outputs, job.log, *tables, *timestamps.folders_of(outputs, root)])


def log_line(job: Job, outcome: Outcome) -> Line:
    """A line of the log, which reveals neither the key nor, with opaque names, the original
    names.
    """
    line: Line = {"version": voicenym.__version__, **job.stamp()}
    line["output"] = output_name(outcome.item.target, job.log)
    line["speaker_rule"] = speaker_rule.RULE
    line["speaker_check"] = speaker_rule.voice_check(job.key, outcome.item.speaker, line["output"])
    line["renamed"] = job.opaque
    if not job.opaque:
        line["input"] = str(outcome.item.source)
    if outcome.result is not None:
        check = job.input_check(outcome.input_digest)
        if check is not None:
            line["input_check"] = check
        line["duration"] = round(outcome.result.duration, 6)
        line["rate"] = outcome.result.rate
        line["channels"] = outcome.result.channels
        line["sha256"] = outcome.result.sha256
        if outcome.edit is not None:
            line["edited"] = dict(outcome.edit)
        if outcome.result.refusal is not None and job.fallback is not None:
            reason = outcome.result.refusal.reason
            line["fallback"] = {**job.fallback.stamp(), "reason": reason}
    else:
        line["error"] = "failed" if job.opaque else outcome.reason
    return line


def _count(summary: Summary, outcome: Outcome) -> None:
    if outcome.skipped:
        summary.skipped += 1
    elif outcome.result is not None:
        summary.done += 1
        summary.seconds += outcome.result.duration
        summary.warnings.extend(outcome.result.warnings)
        if outcome.result.refusal is not None:
            summary.refused.append((str(outcome.item.source), outcome.result.refusal))
    else:
        summary.failures.append((str(outcome.item.source), outcome.reason or "failed"))


def _is_news(job: Job, outcome: Outcome, state: RunState) -> bool:
    """Whether the state must record this outcome; a refusal of an existing output is not
    recorded.
    """
    if outcome.result is not None:
        return True
    known = state.lines.get(output_name(outcome.item.target, job.log), {})
    return not outcome.skipped and not ("sha256" in known and outcome.item.target.is_file())


def _log_folder(job: Job) -> set[Path]:
    return set() if job.log is None else {job.log.parent}


def _plan(job: Job, item: Item, state: RunState) -> Task | Outcome:
    """The task of an item, or its outcome if there is nothing to do."""
    if job.overwrite or not item.target.is_file():
        return Task(item, job.pseudonym(item))
    line = state.lines.get(output_name(item.target, job.log))
    if line is not None and is_of(job, line) and is_as_logged(item.target, line):
        check = None if job.log is None else job.input_check(input_digest(item))
        known = line.get("input_check")  # earlier releases did not write it
        if known is None or check is None or known == check:
            return Outcome(item, None, None, skipped=True)
        return Outcome(
            item,
            None,
            f"{item.source}: changed since its output was made; add --overwrite to replace the "
            "output, or remove the output to make it anew",
        )
    return Task(item, job.pseudonym(item), compare=not job.fresh)


def _outcomes(
    job: Job,
    tasks: Iterator[Task],
    count: int,
    progress: Progress | None,
    ahead: bool,
    engine: Engine,
) -> Generator[Outcome, None, None]:
    if count < 2 and engine is LOCAL:
        yield from _in_this_process(job, tasks, progress, ahead)
        return

    def again(task: Task) -> Task:
        """The output may be there: its worker died after it got its name."""
        return task if job.overwrite else replace(task, compare=True)

    begun = with_first(tasks)
    if begun is None:
        return
    with engine.pool(count, again, _prepare, job.for_workers(), job.log) as pool:
        for task, answer in pool.answers(begun, ahead):
            if isinstance(answer, Death):
                answer = Outcome(task.item, None, blame(task.item.source, answer))
            yield answer


def _in_this_process(
    job: Job, tasks: Iterator[Task], progress: Progress | None, ahead: bool
) -> Iterator[Outcome]:
    """Outcomes in the order of the tasks; outputs are flushed to the disk while the next recordings
    are anonymized.

    Args:
        ahead: whether a recording may be started before the outcome of the one before is known.
    """
    worker = None
    flushed: deque[Future[Outcome]] = deque()

    def finished(least: int) -> Iterator[Outcome]:
        """Outcomes at the head of the queue, until fewer than ``least`` are left."""
        while flushed and (len(flushed) >= least or flushed[0].done()):
            yield flushed.popleft().result()

    with ThreadPoolExecutor(FLUSHES) as flushing:
        try:
            for task in tasks:
                worker = worker or Worker(job.for_workers())
                flushed.append(flushing.submit(worker.start(task, progress)))
                yield from finished(FLUSHES if ahead else 1)
        except GeneratorExit:
            raise
        except BaseException:
            yield from finished(1)  # complete before the error of a later one
            raise
        yield from finished(1)


def blame(source: object, death: Death) -> str:
    """Reason for a failure by a worker's death."""
    return f"{source}: {death}; try it with --workers 1, and report it if it fails again"


def _prepare(settings: WorkerSettings, log: Path | None) -> Worker:
    run_state.join(log)
    return Worker(settings)
