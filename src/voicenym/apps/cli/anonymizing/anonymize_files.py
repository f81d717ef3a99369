"""``voicenym anonymize`` of files, folders and data sets: a batch with its log and summary."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import voicenym
from voicenym.apps.cli.anonymizing.anonymize_inputs import read_inputs
from voicenym.apps.cli.anonymizing.batch_report import (
    BatchProgress,
    Messages,
    account,
    conclude,
    summarize,
)
from voicenym.apps.cli.anonymizing.dry_run import each_alone
from voicenym.apps.cli.anonymizing.dry_run import show as show_plan
from voicenym.apps.cli.anonymizing.run_choices import workers_of_run
from voicenym.apps.cli.anonymizing.voice_preview import write_preview
from voicenym.apps.cli.measured_systems import measured
from voicenym.apps.cli.options.word_options import removed_in_words
from voicenym.errors import RedactionError, VoicenymError

if TYPE_CHECKING:
    from voicenym.corpus.batches.batch import Job, Outcome
    from voicenym.corpus.batches.engines import Engine
    from voicenym.corpus.batches.fallback import Fallback
    from voicenym.corpus.plans.file_plan import Item
    from voicenym.corpus.sound_edits import EditSettings
    from voicenym.pseudonym import Key


def anonymize_files(
    anonymizer: Any,
    system: str,
    secret: Key,
    other: Fallback | None,
    revision: int,
    inputs: list[str],
    output: Path | None,
    *,
    speaker: str | None,
    speaker_level: str | None,
    per: str,
    keep: list[str],
    rename: bool,
    mapping: Path | None,
    show_names: bool,
    allow_pipes: bool,
    workers: int | None,
    overwrite: bool,
    lenient: bool,
    fail_fast: bool,
    dry_run: bool,
    stored: bool,
    edit: EditSettings | None,
    engine: Engine,
    heard: float | None,
    say: Messages,
    quiet: bool,
) -> None:
    """Anonymizes what the command names, or lists what would be done."""
    corpus = read_inputs(
        inputs,
        output,
        speaker,
        allow_pipes,
        level=speaker_level,
        keep=keep,
        names=secret if rename else None,
    )
    if edit is not None and corpus.is_dataset:
        raise RedactionError(
            "--redact and --list are for recordings and folders: a data set has texts of its own, "
            "which would name what is removed"
        )
    items = corpus.items
    if heard is not None:
        write_preview(
            anonymizer, secret, items, heard, output, corpus.folder,
            per_utterance=per == "utterance", overwrite=overwrite, lenient=lenient, other=other,
            say=say,
        )  # fmt: skip
        return
    whole = corpus.folder is not None
    from voicenym.corpus.batches.batch_runner import Job, Summary, level_times, run
    from voicenym.corpus.batches.revision_check import check_log
    from voicenym.corpus.plans import file_plan
    from voicenym.corpus.plans.rename_map import check_place
    from voicenym.corpus.plans.rename_map import write as write_mapping
    from voicenym.corpus.run_records.run_log import LOG_NAME

    if rename:
        if output is None or not whole:
            raise VoicenymError("--rename needs a folder as input and -o FOLDER")
        if not corpus.is_dataset:  # whose items have their new names already
            items = file_plan.renamed(items, secret, output)
    elif mapping is not None or show_names:
        raise VoicenymError("--mapping and --show-names are for --rename; add --rename")
    file_plan.check_distinct(items, opaque=rename)
    if mapping is not None and output is not None:
        check_place(mapping, output)
    if dry_run:
        show_plan(items, renamed=rename and not show_names)
        if not corpus.is_dataset:
            account(map(Path, inputs), items, output, say, every=True)
        say(f"{len(items)} recordings; nothing was written")
        return
    if stored and (note := each_alone(items)):
        say(note)
    log = None if corpus.folder is None else corpus.folder / LOG_NAME
    job = Job(
        system=system,
        parameters=anonymizer.parameters(),
        version=anonymizer.version,
        revision=revision,
        key=secret,
        per_utterance=per == "utterance",
        overwrite=overwrite,
        lenient=lenient,
        log=log,
        opaque=rename,
        fresh=not stored,
        fallback=other,
        edit=edit,
    )
    if not overwrite:
        corpus.check_tables()
    replaced = [item.target for item in items] if overwrite else []
    check_log(log, job.stamp(), replaced, None if other is None else other.stamp())
    for line in measured.revision_in_use(system, revision, anonymizer.revisions[-1]):
        say(line)
    if workers is None:
        workers = workers_of_run(items, anonymizer, engine)
    edits = None if edit is None or log is not None else _EditLogs(job, edit, say)
    if edits is not None:
        edits.check(items)
    started = time.monotonic()
    summary = Summary()
    try:
        with BatchProgress(len(items), quiet, show_names) as progress:

            def report(outcome: Outcome) -> None:
                progress.report(outcome)
                if edits is not None:
                    edits.write(outcome)

            summary = run(
                job, items, workers, report, progress.within, fail_fast=fail_fast, engine=engine
            )
    finally:
        # a refused run changes nothing
        if not isinstance(sys.exc_info()[1], VoicenymError):
            tables = corpus.finish(summary)
            if mapping is not None:
                write_mapping(mapping, items)
            if rename:
                level_times(job, items, tables)  # once more, after what the tables read
    summarize(summary, items, job, started, say)
    if not corpus.is_dataset:
        account(map(Path, inputs), items, output, say)
    if summary.done:
        conclude(anonymizer, stored, say)
    if summary.failures:
        raise typer.Exit(1)


class _EditLogs:
    """Logs of removed words beside outputs that lie in no folder with a log of its own.

    Args:
        job: of the run.
        edit: its settings.
        say: prints what was removed.
    """

    def __init__(self, job: Job, edit: EditSettings, say: Messages) -> None:
        self._job, self._edit, self._say = job, edit, say

    def check(self, items: Sequence[Item]) -> None:
        """Refuses places that are taken, before the work.

        Raises:
            AudioError: a file is there and is not of an output that is there, too.
        """
        from voicenym.corpus.sound_edits import check_log_place

        for item in items:
            if not item.target.exists():  # else the output is what is refused, or is compared
                check_log_place(item.target, self._job.overwrite)

    def write(self, outcome: Outcome) -> None:
        """Writes the log of an output that was made.

        Raises:
            AudioError: it cannot be written.
        """
        from voicenym.audio.atomic import unnamed_text
        from voicenym.corpus.sound_edits import log_of_edit, log_path

        if outcome.edit is None or outcome.result is None or outcome.skipped:
            return
        job, target = self._job, outcome.item.target
        about = {
            "version": voicenym.__version__,
            "system": job.system,
            "revision": job.revision,
            "parameters": dict(job.parameters),
        }
        text = log_of_edit(target, about, self._edit.stamp(job.key), outcome.edit)
        unnamed_text(log_path(target), text, job.overwrite).commit()
        self._say(f"{removed_in_words(outcome.edit)} (log: {log_path(target)})")
