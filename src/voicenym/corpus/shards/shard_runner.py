"""Anonymizes shards in parallel; resumes earlier runs, and isolates failures.

Outputs that the ledger knows, unchanged and of these settings, are skipped. One that it does not
know is compared with what this run writes there: equal, it comes from a killed run and is done;
else it is an error and stays as it is. Samples that fail are left out of the new shard, the ledger
keeps their reasons, and a rerun reports them again without repeating the work.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import voicenym
from voicenym.audio.atomic import sweep
from voicenym.corpus.batches.batch import Job
from voicenym.corpus.batches.batch_runner import blame
from voicenym.corpus.batches.engines import LOCAL, Engine, with_first
from voicenym.corpus.plans import timestamps
from voicenym.corpus.readers import similar_names, speaker_rule
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.run_records.run_state import RunState
from voicenym.corpus.shards.earlier_outputs import check_stamps, settled_before
from voicenym.corpus.shards.formats.shard_sample import Rewritten
from voicenym.corpus.shards.shard_links import choice_tag
from voicenym.corpus.shards.shard_survey import SpeakerChoice, Survey, known
from voicenym.corpus.shards.shard_task import (
    ShardOutcome,
    ShardTask,
    ShardWorker,
    SurveyTask,
    prepare,
)
from voicenym.corpus.shards.shard_unit import Unit
from voicenym.corpus.shards.shard_voices import assignments
from voicenym.corpus.shards.stores import store_locations
from voicenym.corpus.workers.worker_pool import LATER, Death
from voicenym.temporary import folder_for_temporary_files

MOST_FAILURES = 1000
"""Most reasons of a shard that the ledger keeps."""


@dataclass
class ShardSummary:
    """Outcome of a run.

    Args:
        done: shards and files that were written.
        skipped: those that were there.
        untried: those that were not processed, because the run stopped at the first failure.
        recordings: number of recordings in those that were written.
        seconds: of audio in them.
        failures: the place and the reason of each shard, file or sample that failed.
        warnings: for the user, each a sentence.
        behind: fields that were not copied.
        refused: number of recordings that the fall-back made.
        there: the ledger's lines of outputs that are there, by name.
    """

    done: int = 0
    skipped: int = 0
    untried: int = 0
    recordings: int = 0
    seconds: float = 0.0
    failures: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    behind: set[str] = field(default_factory=set)
    refused: int = 0
    there: dict[str, Line] = field(default_factory=dict)


def run_shards(
    job: Job,
    units: Sequence[Unit],
    state: RunState,
    choice: SpeakerChoice,
    workers: int = 1,
    report: Callable[[ShardOutcome], None] | None = None,
    *,
    fail_fast: bool = False,
    engine: Engine = LOCAL,
) -> ShardSummary:
    """Anonymize all units.

    Args:
        job: system, key; its log is that of an output folder on this machine, else None.
        units: from :mod:`voicenym.corpus.shards.shard_plan`.
        state: ledger.
        choice: speakers and fields.
        workers: processes; the result does not depend on it. 0: all that the engine has.
        report: called with every outcome as it comes.
        fail_fast: start no unit after the first failure.
        engine: of the workers.

    Raises:
        CorpusError: an earlier run had other settings, or the ledger cannot be used.
        VoicenymError: the system cannot run at all.
    """
    run = _ShardRun(job, units, state, choice, _stamp(job, choice), report, fail_fast)
    with state:
        check_stamps(job, units, state.lines, run.stamp)
        folders = {Path(u.target).parent for u in units if not store_locations.is_url(u.target)}
        for folder in folders | {folder_for_temporary_files()}:
            sweep(folder)
        try:
            count = min(workers, len(units))
            for task, answer in _answers(job, run.tasks(), count, choice, engine, not fail_fast):
                run.take(task, answer)
                if run.stops:
                    break
        finally:
            run.summary.untried = len(units) - run.settled
    run.summary.warnings += similar_names.report(run.people)
    if job.opaque and job.log is not None:
        outputs = [Path(target) for unit in units for target in unit.targets]
        timestamps.level([*outputs, job.log, *timestamps.folders_of(outputs, job.log.parent)])
    return run.summary


def check_earlier(
    job: Job, units: Sequence[Unit], lines: Mapping[str, Line], choice: SpeakerChoice
) -> None:
    """Refuses what :func:`run_shards` would because of an earlier run; changes nothing.

    Args:
        job, units, choice: of the run.
        lines: of the ledger, by output.

    Raises:
        CorpusError: an earlier run had other settings.
    """
    check_stamps(job, units, lines, _stamp(job, choice))


@dataclass
class _ShardRun:
    """Course of a run: what is still to do, and what came of the rest.

    Args:
        job, units, state, choice, report, fail_fast: as of :func:`run_shards`.
        stamp: fields of the ledger's lines that all units of the run share.

    Attributes:
        summary: of what is settled.
        settled: number of units with an outcome of this run or of an earlier one.
        surveys: that wait for their turn; None of units that failed.
        people: speakers of this run's samples.
    """

    job: Job
    units: Sequence[Unit]
    state: RunState
    choice: SpeakerChoice
    stamp: Line
    report: Callable[[ShardOutcome], None] | None
    fail_fast: bool
    summary: ShardSummary = field(default_factory=ShardSummary)
    settled: int = 0
    surveys: deque[Survey | None] = field(default_factory=deque)
    people: set[str] = field(default_factory=set)

    @property
    def stops(self) -> bool:
        """Whether a failure ends the run."""
        return self.fail_fast and bool(self.summary.failures)

    def tasks(self) -> Iterator[Any]:
        """Tasks of the surveys that came; else the survey of the next unit."""
        rest, asked = settled_before(self.job, self.units, self.state), 0
        while not self.stops:
            if self.surveys:
                asked -= 1
                if (found := self.surveys.popleft()) is not None:
                    self.people.update(found.people.values())
                    voices = assignments(self.job, found)
                    yield ShardTask(found.unit, voices, compare=not self.job.fresh)
            elif (one := next(rest, None)) is not None:
                unit, planned = one
                if isinstance(planned, ShardOutcome):
                    self._settle(planned)
                elif planned is not None:
                    self._count_earlier(unit, planned)
                else:
                    asked += 1
                    if (found := known(unit, self.choice)) is None:
                        yield SurveyTask(unit)
                    else:
                        self.surveys.append(found)
            elif asked:
                yield LATER
            else:
                return

    def take(self, task: SurveyTask | ShardTask, answer: Survey | ShardOutcome) -> None:
        """Takes the answer to a task; a survey that failed is the outcome of its unit."""
        if isinstance(task, SurveyTask):
            self.surveys.append(answer if isinstance(answer, Survey) else None)
        if isinstance(answer, ShardOutcome):
            self._settle(answer)

    def _settle(self, outcome: ShardOutcome) -> None:
        """Counts an outcome, and writes it to the ledger."""
        self.settled += 1
        _count(self.summary, outcome)
        before = self.state.lines.get(outcome.unit.name, {})
        if outcome.result is not None or "sha256" not in before:
            self.state.settle(line := _line(self.job, outcome, self.stamp))
            if outcome.result is not None:
                self.summary.there[outcome.unit.name] = line
        if self.report is not None:
            self.report(outcome)

    def _count_earlier(self, unit: Unit, line: Line) -> None:
        """Counts an output of an earlier run, with the failures that its line keeps."""
        self.settled += 1
        self.summary.skipped += 1
        self.summary.there[unit.name] = line
        for name, reason in line.get("failures", {}).items():
            self.summary.failures.append((f"{unit.source} ({name})", reason))
        if line.get("failed") and not line.get("failures"):
            count = line["failed"]
            self.summary.failures.append(
                (str(unit), f"{unit}: {count} of it failed in an earlier run")
            )


def _answers(
    job: Job,
    tasks: Iterator[Any],
    count: int,
    choice: SpeakerChoice,
    engine: Engine,
    ahead: bool,
) -> Iterator[tuple[SurveyTask | ShardTask, Survey | ShardOutcome]]:
    """Tasks with their answers; ``tasks`` are drawn after the answers that they follow from."""
    if count < 2 and engine is LOCAL:
        worker = None
        for task in tasks:
            worker = worker or ShardWorker(job.for_workers(), choice)
            yield task, worker(task)
        return

    def again(task: SurveyTask | ShardTask) -> SurveyTask | ShardTask:
        """The output may be there: its worker died after it got its name."""
        return task if isinstance(task, SurveyTask) else replace(task, compare=True)

    begun = with_first(tasks)
    if begun is None:
        return
    arguments: tuple[Any, ...] = (job.for_workers(), choice, job.log)
    with engine.pool(count, again, prepare, *arguments) as pool:
        for task, answer in pool.answers(begun, ahead):
            if isinstance(answer, Death):
                answer = ShardOutcome(task.unit, None, blame(task.unit, answer))
            yield task, answer


def _stamp(job: Job, choice: SpeakerChoice) -> Line:
    """Settings by which an output of an earlier run counts as done."""
    return {
        **job.stamp(),
        "keep": sorted(choice.fields.keep),
        "speakers": choice_tag(job.key, choice),
        "speaker_rule": speaker_rule.RULE,
        "renamed": job.opaque,
    }


def _line(job: Job, outcome: ShardOutcome, stamp: Line) -> Line:
    """A line of the ledger, which reveals neither the key nor, with new names, original ones."""
    unit, done = outcome.unit, outcome.result
    line: Line = {"version": voicenym.__version__, **stamp, "output": unit.name}
    if unit.speaker is not None:
        line["speaker_check"] = speaker_rule.voice_check(job.key, unit.speaker, unit.name)
    if not job.opaque:
        line["input"] = str(unit)
    if done is None:
        line["error"] = "failed" if job.opaque else outcome.reason
        return line
    check = job.input_check(outcome.version)
    if check is not None:
        line["input_check"] = check
    if done.form is not None:
        line["rate"], line["channels"] = done.form
    if outcome.written is not None:
        line["object"] = outcome.written
    if outcome.table is not None:
        line["table"] = outcome.table
    line["sha256"], line["recordings"] = outcome.sha256, done.recordings
    line["duration"] = round(done.seconds, 6)
    if done.refused and job.fallback is not None:
        line["fallback"] = job.fallback.stamp()
    if done.failures:
        line["failed"] = len(done.failures)
        if not job.opaque:
            line["failures"] = dict(list(done.failures.items())[:MOST_FAILURES])
    return line


def _count(summary: ShardSummary, outcome: ShardOutcome) -> None:
    done: Rewritten | None = outcome.result
    if done is None:
        summary.failures.append((str(outcome.unit), outcome.reason or "failed"))
        return
    if outcome.skipped:
        summary.skipped += 1
    else:
        summary.done += 1
        summary.recordings += done.recordings
        summary.seconds += done.seconds
    summary.warnings += done.warnings
    summary.behind |= done.behind
    summary.refused += done.refused
    for name, reason in done.failures.items():
        summary.failures.append((f"{outcome.unit.source} ({name})", reason))
