"""``voicenym anonymize`` of files, folders and data sets: a batch with its log and summary."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli.anonymizing.anonymize_inputs import Inputs, read_inputs
from voicenym.apps.cli.anonymizing.anonymize_run import RunOptions, RunSystem
from voicenym.apps.cli.anonymizing.batch_report import (
    BatchProgress,
    Messages,
    account,
    summarize,
)
from voicenym.apps.cli.anonymizing.dry_run import each_alone
from voicenym.apps.cli.anonymizing.dry_run import show as show_plan
from voicenym.apps.cli.anonymizing.run_choices import workers_of_run
from voicenym.apps.cli.anonymizing.voice_preview import write_preview
from voicenym.apps.cli.measured_systems import measured
from voicenym.apps.cli.options.name_options import NameOptions
from voicenym.apps.cli.options.word_options import removed_in_words
from voicenym.errors import RedactionError, VoicenymError

if TYPE_CHECKING:
    from voicenym.corpus.batches.batch import Job, Outcome
    from voicenym.corpus.batches.batch_runner import Summary
    from voicenym.corpus.batches.engines import Engine
    from voicenym.corpus.plans.file_plan import Item
    from voicenym.corpus.sound_edits import EditSettings
    from voicenym.pseudonym import Key


def anonymize_files(
    system: RunSystem,
    options: RunOptions,
    inputs: list[str],
    output: Path | None,
    *,
    speaker: str | None,
    speaker_level: str | None,
    keep: list[str],
    names: NameOptions,
    allow_pipes: bool,
    workers: int | None,
    engine: Engine,
    edit: EditSettings | None,
    preview: float | None,
) -> None:
    """Anonymizes what the command names, or lists what would be done.

    Args:
        system, options: of the run.
        inputs, output, speaker, speaker_level, keep, names, allow_pipes, workers: of the command.
        engine: of the workers.
        edit: words to remove before; None for none.
        preview: seconds of the first recording to anonymize instead of all; None without one.

    Raises:
        VoicenymError: options that do not go together, or inputs or outputs that cannot be used.
        typer.Exit: a recording failed, or a folder could not be read.
    """
    from voicenym.corpus.batches import earlier_run
    from voicenym.corpus.plans.file_plan import check_distinct, check_output_folder
    from voicenym.corpus.plans.rename_map import check_place
    from voicenym.corpus.readers import similar_names
    from voicenym.corpus.run_records.run_log import lines_before

    corpus = read_inputs(
        inputs,
        output,
        speaker,
        allow_pipes,
        level=speaker_level,
        keep=keep,
        names=system.key if names.rename else None,
    )
    if edit is not None and corpus.is_dataset:
        raise RedactionError(
            "--redact and --list are for recordings and folders: a data set has texts of its own, "
            "which would name what is removed"
        )
    if preview is not None:
        write_preview(system, options, corpus.items, preview, output, corpus.folder)
        return
    items = _named_items(corpus, names, system.key, output)
    check_distinct(items, opaque=names.rename)
    if not corpus.is_dataset:
        check_output_folder(map(Path, inputs), output, (item.target for item in items))
    if names.mapping is not None and output is not None:
        check_place(names.mapping, output)
    say = options.say
    for line in similar_names.report({item.speaker for item in items}):
        say.warn(line)
    job = _checked_job(system, options, corpus, items, names, edit)
    if options.dry_run:
        earlier_run.check(job, items, lines_before(job.log))
        show_plan(items, renamed=names.rename and not names.show_names)
        if not corpus.is_dataset:
            account(map(Path, inputs), items, output, say, every=True)
        say(f"recordings: {len(items)}; nothing was written")
        return
    if system.stored and (note := each_alone(items)):
        say(note)
    started = time.monotonic()
    summary = _run(job, system, options, corpus, items, names, workers, engine)
    summarize(summary, items, job, started, say)
    complete = corpus.is_dataset or account(map(Path, inputs), items, output, say)
    if summary.done:
        system.conclude(say, summary.done, len(summary.refused))
    if summary.failures or not complete:
        raise typer.Exit(1)


def _named_items(corpus: Inputs, names: NameOptions, key: Key, output: Path | None) -> list[Item]:
    """Items with the names that their outputs are going to have.

    Raises:
        VoicenymError: options about names that do not go together.
    """
    from voicenym.corpus.plans.file_plan import renamed

    if not names.rename:
        if names.mapping is not None or names.show_names:
            raise VoicenymError("--mapping and --show-names are for --rename; add --rename")
        return corpus.items
    if output is None or corpus.folder is None:
        raise VoicenymError("--rename needs a folder as input and -o FOLDER")
    # those of a data set have their new names already
    return corpus.items if corpus.is_dataset else renamed(corpus.items, key, output)


def _checked_job(
    system: RunSystem,
    options: RunOptions,
    corpus: Inputs,
    items: list[Item],
    names: NameOptions,
    edit: EditSettings | None,
) -> Job:
    """Settings of the batch, whose outputs do not contradict those of an earlier run.

    Raises:
        VoicenymError: the run is refused; then nothing has changed.
    """
    from voicenym.corpus.run_records.run_log import LOG_NAME

    log = None if corpus.folder is None else corpus.folder / LOG_NAME
    job = system.job(options, opaque=names.rename, log=log, edit=edit)
    _check_outputs(job, system, corpus, items, options.say)
    if (edits := _edit_logs(job, system, options)) is not None:
        edits.check(items)
    return job


def _edit_logs(job: Job, system: RunSystem, options: RunOptions) -> _EditLogs | None:
    """Logs of removed words, where there is no log of the batch to hold them."""
    if job.edit is None or job.log is not None:
        return None
    return _EditLogs(system, options, job.edit)


def _run(
    job: Job,
    system: RunSystem,
    options: RunOptions,
    corpus: Inputs,
    items: list[Item],
    names: NameOptions,
    workers: int | None,
    engine: Engine,
) -> Summary:
    """Anonymizes the items, and writes the tables that go with them.

    Raises:
        VoicenymError: the run is refused; then nothing has changed.
    """
    from voicenym.corpus.batches.batch_runner import Summary, level_times, run
    from voicenym.corpus.plans.rename_map import kept

    if workers is None:
        workers = workers_of_run(items, system.anonymizer, engine)
    edits = _edit_logs(job, system, options)
    summary = Summary()
    with kept(names.mapping, items) as begin:
        try:
            with BatchProgress(len(items), options.say.quiet, names.show_names) as progress:

                def report(outcome: Outcome) -> None:
                    progress.report(outcome)
                    if edits is not None:
                        edits.write(outcome)

                summary = run(
                    job,
                    items,
                    workers,
                    report,
                    progress.within,
                    fail_fast=options.fail_fast,
                    engine=engine,
                    begin=begin,
                )
        finally:
            # a refused run changes nothing
            if not isinstance(sys.exc_info()[1], VoicenymError):
                tables = corpus.finish(summary)
                if names.rename:
                    level_times(job, items, tables)  # once more, after what the tables read
    return summary


def _check_outputs(
    job: Job, system: RunSystem, corpus: Inputs, items: list[Item], say: Messages
) -> None:
    """Refuses outputs of another run before the work, and says which revision is in use.

    Raises:
        VoicenymError: tables that earlier runs did not write, or a log of other settings.
    """
    from voicenym.corpus.batches.revision_check import check_log

    if not job.overwrite:
        corpus.check_tables()
    replaced = [item.target for item in items] if job.overwrite else []
    fallback = None if job.fallback is None else job.fallback.stamp()
    check_log(job.log, job.stamp(), replaced, fallback)
    latest = system.anonymizer.revisions[-1]
    for line in measured.revision_in_use(system.name, system.revision, latest):
        say(line)


class _EditLogs:
    """Logs of removed words beside outputs that lie in no folder with a log of its own.

    Args:
        system, options: of the run.
        edit: its settings.
    """

    def __init__(self, system: RunSystem, options: RunOptions, edit: EditSettings) -> None:
        self._system, self._edit = system, edit
        self._overwrite, self._say = options.overwrite, options.say

    def check(self, items: Sequence[Item]) -> None:
        """Refuses places that are taken, before the work.

        Raises:
            AudioError: a file is there and is not of an output that is there, too.
        """
        from voicenym.corpus.sound_edits import check_log_place

        for item in items:
            if not item.target.exists():  # else the output is what is refused, or is compared
                check_log_place(item.target, self._overwrite)

    def write(self, outcome: Outcome) -> None:
        """Writes the log of an output that was made.

        Raises:
            AudioError: it cannot be written.
        """
        from voicenym.audio.atomic import unnamed_text
        from voicenym.corpus.sound_edits import log_of_edit, log_path

        if outcome.edit is None or outcome.result is None or outcome.skipped:
            return
        system, target = self._system, outcome.item.target
        stamp = self._edit.stamp(system.key)
        text = log_of_edit(target, system.about(), stamp, outcome.edit)
        unnamed_text(log_path(target), text, self._overwrite).commit()
        self._say(f"{removed_in_words(outcome.edit)} (log: {log_path(target)})")
