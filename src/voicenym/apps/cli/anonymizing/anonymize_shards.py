"""``voicenym anonymize`` of shards and of object stores: a run with its ledger and summary."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli.anonymizing.batch_report import MOST_ALIKE, BatchProgress, Messages
from voicenym.errors import VoicenymError, counted, printable

if TYPE_CHECKING:
    from voicenym.apps.cli.anonymizing.anonymize_run import RunOptions, RunSystem
    from voicenym.corpus.batches.batch import Job
    from voicenym.corpus.batches.engines import Engine
    from voicenym.corpus.shards.shard_runner import ShardSummary
    from voicenym.corpus.shards.shard_survey import SpeakerChoice
    from voicenym.corpus.shards.shard_task import ShardOutcome
    from voicenym.corpus.shards.shard_unit import ShardPlan

SPEAKER_FIELD = typer.Option(
    None,
    "--speaker-field",
    metavar="NAME",
    rich_help_panel="Key and speakers",
    help="Of shards: field or column of the speaker; by default speaker, speaker_id and the like.",
)
MOST_SKIPPED = 5
"""Most names of skipped files that are printed."""


@dataclass(frozen=True)
class ShardRequest:
    """What the command asks for.

    Args:
        inputs: paths and URLs.
        output: path or URL of a folder.
        choice: speakers and fields.
        workers: number of processes; None for the default.
        engine: of the workers.
    """

    inputs: Sequence[str]
    output: str
    choice: SpeakerChoice
    workers: int | None
    engine: Engine


def request_of(
    inputs: Sequence[str],
    output: str | None,
    speaker: str | None,
    level: str | None,
    field: str | None,
    keep: Sequence[str],
    workers: int | None,
    engine: Engine,
    refused: dict[str, object],
) -> ShardRequest | None:
    """The request, where the command is about shards or stores; None elsewhere.

    Args:
        inputs, output, speaker, level, field, keep, workers, engine: options.
        refused: options that shards and stores do not have, by name; a false value is none.

    Raises:
        VoicenymError: options that do not go together.
    """
    from voicenym.corpus.shards import shard_plan

    if not shard_plan.concerns(inputs, output):
        if field is not None:
            raise VoicenymError("--speaker-field is for shards (.tar, .parquet); leave it out")
        return None
    from voicenym.corpus.readers.speaker_rule import level_of
    from voicenym.corpus.shards.formats.shard_sample import FieldChoice
    from voicenym.corpus.shards.shard_survey import SpeakerChoice

    if output is None:
        raise VoicenymError(f"{inputs[0]}: say where the new shards go with -o FOLDER")
    for name, value in refused.items():
        if value:
            raise VoicenymError(f"{name}: is not for shards and object stores; leave it out")
    if speaker == "":
        raise VoicenymError("--speaker: the name is empty; give one, or leave it out")
    if speaker is not None and (level is not None or field is not None):
        raise VoicenymError(
            "--speaker, --speaker-level and --speaker-field all name the speaker; give one of them"
        )
    depth = level_of(level)
    if isinstance(depth, str):
        raise VoicenymError(
            "--speaker-level parent is for folders of this machine; give a number of the level"
        )
    choice = SpeakerChoice(FieldChoice(field, tuple(dict.fromkeys(keep))), speaker, depth)
    return ShardRequest(inputs, output, choice, workers, engine)


def anonymize_shards(
    system: RunSystem, options: RunOptions, request: ShardRequest, *, opaque: bool
) -> None:
    """Anonymizes shards and stores, or lists what would be done.

    Args:
        system, options: of the run.
        request: what the command asks for.
        opaque: draw new names.

    Raises:
        VoicenymError: inputs or outputs that cannot be used.
        typer.Exit: a recording failed.
    """
    from voicenym.corpus.drawn_names import Names
    from voicenym.corpus.shards import shard_ledger, shard_plan
    from voicenym.corpus.shards.shard_runner import check_earlier

    plan = shard_plan.plan_units(
        request.inputs,
        request.output,
        speaker=request.choice.speaker,
        level=request.choice.level,
        names=Names(system.key) if opaque else None,
        keep=request.choice.fields.keep,
    )
    say = options.say
    _check_place(request, plan)
    job, choice, output = _prepared(system.job(options, opaque=opaque), request, plan)
    if options.dry_run:
        check_earlier(job, plan.units, shard_ledger.lines_before(output), choice)
        for unit in plan.units:
            typer.echo(str(unit) if opaque else f"{unit}\t{unit.target}")
        _say_skipped(plan, say, every=True)
        say(f"{counted(len(plan.units), 'shard or file', 'shards and files')}; nothing was written")
        return
    summary = _run(job, choice, output, request, plan, options)
    _say_skipped(plan, say)
    if summary.done:
        system.conclude(say, summary.recordings, summary.refused)
    if summary.failures:
        raise typer.Exit(1)


def _check_place(request: ShardRequest, plan: ShardPlan) -> None:
    """Checks that no original lies in an output folder of this machine.

    Raises:
        CorpusError: one does, and would be passed over.
    """
    from voicenym.corpus.plans.file_plan import check_output_folder
    from voicenym.corpus.shards.shard_unit import kind_of
    from voicenym.corpus.shards.stores import store_locations

    output = store_locations.location_of(request.output)
    if plan.finish is not None or store_locations.is_url(output):
        return
    here = [store_locations.location_of(text) for text in request.inputs]
    roots = [Path(place) for place in here if not store_locations.is_url(place)]
    check_output_folder(roots, Path(output), (Path(u.target) for u in plan.units), kind_of)


def _prepared(job: Job, request: ShardRequest, plan: ShardPlan) -> tuple[Job, SpeakerChoice, str]:
    """The job with its log, the speakers and fields, and the output's path or URL.

    Raises:
        VoicenymError: tables that earlier runs did not write.
    """
    from voicenym.corpus.run_records.run_log import LOG_NAME
    from voicenym.corpus.shards.shard_survey import SpeakerChoice
    from voicenym.corpus.shards.stores import store_locations

    # fields of a data set are in its tables
    choice = request.choice if plan.finish is None else SpeakerChoice()
    output = store_locations.location_of(request.output)
    if plan.check_tables is not None and not job.overwrite:
        plan.check_tables()
    if not store_locations.is_url(output):
        job = replace(job, log=Path(output) / LOG_NAME)
    return job, choice, output


def _run(
    job: Job,
    choice: SpeakerChoice,
    output: str,
    request: ShardRequest,
    plan: ShardPlan,
    options: RunOptions,
) -> ShardSummary:
    """Anonymizes the units of a plan, and writes the tables that go with them.

    Args:
        job, choice, output: of :func:`_prepared`.
        request, plan, options: of the command.

    Raises:
        VoicenymError: the run is refused.
    """
    from voicenym.corpus.plans import timestamps
    from voicenym.corpus.shards import shard_ledger
    from voicenym.corpus.shards.shard_runner import run_shards

    state = shard_ledger.ledger_of(output, [unit.name for unit in plan.units])
    started = time.monotonic()
    with BatchProgress(len(plan.units), options.say.quiet) as progress:

        def report(outcome: ShardOutcome) -> None:
            done = outcome.result
            new = done is not None and not outcome.skipped
            failed = 1 if done is None else len(done.failures)
            progress.advance(outcome.unit.target, done.seconds if done and new else None, failed)

        summary = run_shards(
            job,
            plan.units,
            state,
            choice,
            _workers(request, output, len(plan.units)),
            report,
            fail_fast=options.fail_fast,
            engine=request.engine,
        )
    summary.failures += plan.missing
    _summarize(summary, job, output, started, options.say)
    if plan.finish is not None and summary.there:
        tables = plan.finish(summary.there)
        if job.opaque and job.log is not None:
            paths = [Path(place) for place in tables]
            timestamps.level([*paths, *timestamps.folders_of(paths, job.log.parent)])
    return summary


def _workers(request: ShardRequest, output: str, units: int) -> int:
    """Number of processes; 0 for all of a cluster."""
    from voicenym.corpus.batches.engines import RayEngine
    from voicenym.corpus.workers.cpu_count import cores

    if any(location.startswith("memory://") for location in (*request.inputs, output)):
        return 1  # memory of this process
    if request.workers is not None:
        return request.workers
    is_cluster = isinstance(request.engine, RayEngine) and request.engine.address
    return 0 if is_cluster else min(cores(), units)


def _summarize(summary: ShardSummary, job: Job, output: str, started: float, say: Messages) -> None:
    warnings, failures = summary.warnings, summary.failures
    if job.opaque:  # the order of the run is that of the new names
        warnings, failures = sorted(warnings), sorted(failures)
    for text in warnings[:MOST_ALIKE]:
        say.warn(text)
    if len(warnings) > MOST_ALIKE:
        say.warn(f"and {counted(len(warnings) - MOST_ALIKE, 'more warning')}")
    for source, reason in failures:
        shown = reason if source.partition(" (")[0] in reason else f"{source}: {reason}"
        typer.echo(printable(f"voicenym: error: {shown}"), err=True)
    if summary.behind:
        names = ", ".join(sorted(summary.behind)[:20])
        say(f"not copied, as they may name people: {names} (--keep NAME copies a field)")
    other = f" ({summary.refused} of them by the fall-back)" if summary.refused else ""
    untried = f", {summary.untried} not tried" if summary.untried else ""
    say(
        f"{counted(summary.done, 'shard or file', 'shards and files')} written, "
        f"{summary.skipped} already done, "
        f"{len(summary.failures)} failed{untried}; "
        f"{counted(summary.recordings, 'recording')}{other}, "
        f"{summary.seconds / 60:.1f} min of audio in {time.monotonic() - started:.1f} s"
    )
    if summary.done:
        say(f"written to: {output}")


def _say_skipped(plan: ShardPlan, say: Messages, every: bool = False) -> None:
    listed = plan.skipped if every else plan.skipped[:MOST_SKIPPED]
    for text in listed:
        say.warn(f"not taken: {text}")
    if len(listed) < len(plan.skipped):
        say.warn(f"{len(plan.skipped) - len(listed)} more were not taken (--dry-run names them)")
