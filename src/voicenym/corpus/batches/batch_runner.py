"""Anonymizes a batch of recordings in parallel; resumes earlier runs, and isolates failures.

The run state (:mod:`voicenym.corpus.run_records.run_state`) knows the existing outputs:

- an unchanged output in the state, of an unchanged recording, is skipped;
- an output that was made with another key, system or parameters stops the run, also if this run
  makes others in the same folder and not that one, because voices of one speaker would differ;
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
from voicenym.corpus.batches.batch import Job, Outcome, Summary, WorkerSettings
from voicenym.corpus.batches.batch_task import Progress, Task, Worker, input_digest
from voicenym.corpus.batches.engines import LOCAL, Engine
from voicenym.corpus.batches.single_file import sha256_of
from voicenym.corpus.plans import timestamps
from voicenym.corpus.plans.file_plan import Item
from voicenym.corpus.readers import speaker_rule
from voicenym.corpus.run_records import run_state
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.run_records.run_state import LocalRunState, RunState, output_name, same_stamp
from voicenym.corpus.workers.worker_pool import Death
from voicenym.errors import CorpusError

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
        _check_stamps(job, items, state)
        _check_speakers(job, items, state)
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


def _check_stamps(job: Job, items: Sequence[Item], state: RunState) -> None:
    """Stops the run before any work if an earlier run with other voices made outputs that stay
    beside those of this run, or if names of the originals would link drawn names to them.

    A folder beside the log is of a speaker, or of several; outputs beside the log itself were named
    on the command line one by one, each a speaker of its own. Shards, whose lines count their
    ``recordings``, are of any speakers.
    """
    if job.opaque and any("input" in line for line in state.lines.values()):
        assert job.log is not None
        raise CorpusError(
            f"{job.log}: names the originals of an earlier run without --rename; choose a new "
            "folder with -o"
        )
    if job.log is None:
        return
    if not job.opaque and any(has_drawn_name(line) for line in state.lines.values()):
        # equal sounds would have both names: the log has their SHA-256
        raise CorpusError(
            f"{job.log}: is of an earlier run with --rename, whose drawn names this run would link "
            "to the original ones; add --rename, or choose a new folder with -o"
        )
    ours = {output_name(item.target, job.log) for item in items}
    folders = {_folder(output) for output in ours} - {""}
    for output, line in state.lines.items():
        mine, target = output in ours, job.log.parent / output
        if "sha256" not in line or (mine and job.overwrite):
            continue
        if not mine and "recordings" not in line and _folder(output) not in folders:
            continue
        if is_of(job, line) if mine else has_voices_of(job, line):
            continue
        if target.is_file() and _is_as_logged(target, line):
            cure = "start over with --overwrite or in a new folder" if mine else "use a new folder"
            raise CorpusError(
                f"{target}: made earlier with another key, system or parameters, so that "
                "voices of one speaker would differ; go on with the same --key and "
                f"--system{_with_fallback(line)}, or {cure}"
            )


def _folder(output: str) -> str:
    """The folder beside the log that an output lies in; empty for one beside the log."""
    first, *rest = Path(output).parts
    return first if rest else ""


def _check_speakers(job: Job, items: Sequence[Item], state: RunState) -> None:
    """Refuses to change the voice of a speaker in an earlier run's log; see
    ``speaker_rule.agree``.
    """
    if job.log is None or not state.lines or job.overwrite:
        return
    root, lines = job.log.parent, state.lines
    people = {output_name(item.target, job.log): (item.speaker, item.former) for item in items}
    speaker_rule.agree(job.key, people, lines, (o for o in lines if (root / o).is_file()))


def is_of(job: Job, line: Line, stamp: Line | None = None) -> bool:
    """Whether a job with these settings made the output of a line; ``stamp``: all of them."""
    if not same_stamp(line, job.stamp() if stamp is None else stamp):
        return False
    return "fallback" not in line or (job.fallback is not None and job.fallback.is_of(line))


def has_drawn_name(line: Line) -> bool:
    """Whether a line is of an output of a run with --rename; earlier releases did not say so."""
    return "sha256" in line and "key_check" in line and "input" not in line


def has_voices_of(job: Job, line: Line) -> bool:
    """Whether a job gives the voices of a line's output: edits and the fall-back may differ, which
    concern single recordings.
    """
    stamp = {name: value for name, value in job.stamp().items() if name != "edit"}
    return same_stamp({name: value for name, value in line.items() if name != "edit"}, stamp)


def _with_fallback(line: Line) -> str:
    """The option of a line's fall-back for messages; empty without one."""
    return f" (--fallback {line['fallback']['system']})" if "fallback" in line else ""


def _is_as_logged(target: Path, line: Line) -> bool:
    try:
        return bool(line.get("sha256") == sha256_of(target))
    except OSError:
        return False


def _plan(job: Job, item: Item, state: RunState) -> Task | Outcome:
    """The task of an item, or its outcome if there is nothing to do."""
    if job.overwrite or not item.target.is_file():
        return Task(item, job.pseudonym(item))
    line = state.lines.get(output_name(item.target, job.log))
    if line is not None and is_of(job, line) and _is_as_logged(item.target, line):
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

    with engine.pool(count, again, _prepare, job.for_workers(), job.log) as pool:
        for task, answer in pool.answers(tasks, ahead):
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
