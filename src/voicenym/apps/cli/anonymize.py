"""``voicenym anonymize``: files, folders, Kaldi folders, manifests, and pipes."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import typer

from voicenym.apps.cli.anonymize_inputs import read_inputs
from voicenym.apps.cli.anonymize_speakers import SpeakerOptions, anonymize_speakers
from voicenym.apps.cli.anonymize_stream import anonymize_stream
from voicenym.apps.cli.batch_report import BatchProgress, Messages, account, conclude, summarize
from voicenym.apps.cli.command_group import command, new_app
from voicenym.apps.cli.corpus_options import ALLOW_PIPES
from voicenym.apps.cli.dry_run import ONE_ALONE, each_alone
from voicenym.apps.cli.dry_run import show as show_plan
from voicenym.apps.cli.name_options import MAPPING, RENAME, SHOW_NAMES
from voicenym.apps.cli.run_choices import (
    KEY_VARIABLE,
    PROTECTION,
    key_of_run,
    system_of_run,
    workers_of_run,
)
from voicenym.apps.cli.speaker_options import KEEP, NAME, ONLY, RTTM, TIMELINE, UNSURE
from voicenym.apps.cli.system_options import (
    DEVICE,
    EPSILON,
    FALLBACK,
    LANGUAGE,
    PREVIEW,
    SETTINGS,
    STRENGTH,
    TARGET,
    VOICE,
    VOICE_LIKE,
    WEIGHTS,
)
from voicenym.apps.cli.voice_preview import check_preview, write_preview
from voicenym.corpus import DEFAULT_SYSTEM
from voicenym.errors import UnknownSystemError, VoicenymError

app = new_app()


@command(
    app,
    "voicenym anonymize interview.wav",
    "voicenym anonymize interview.wav -o out.flac --key project.key --speaker anna",
    "voicenym anonymize corpus/ -o anonymized/ --key project.key --protection machine",
    "voicenym anonymize interview.wav --rttm interview.rttm --only anna --key project.key",
)
def anonymize(
    inputs: list[str] = typer.Argument(
        help="Recordings, folders, Kaldi data folders, lhotse manifests, or - for standard input."
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="File or folder; by default NAME.anon.EXT beside the input."
    ),
    system: str | None = typer.Option(
        None,
        "--system",
        "-s",
        rich_help_panel="System",
        help="Name of the system; voicenym systems lists them.",
        show_default=DEFAULT_SYSTEM,
    ),
    protection: str | None = PROTECTION,
    settings: list[str] = SETTINGS,
    weights: Path | None = WEIGHTS,
    strength: str | None = STRENGTH,
    epsilon: str | None = EPSILON,
    target: Path | None = TARGET,
    voice: str | None = VOICE,
    voice_like: int | None = VOICE_LIKE,
    preview: str | None = PREVIEW,
    key: Path | None = typer.Option(
        None,
        "--key",
        "-k",
        rich_help_panel="Key and speakers",
        help=f"Key file; else ${KEY_VARIABLE}, else a fresh key, not stored.",
    ),
    speaker: str | None = typer.Option(
        None,
        "--speaker",
        rich_help_panel="Key and speakers",
        help=(
            "Name of the speaker of all inputs. Default: the first folder below a given "
            "folder names the speaker; a file outside one, or given by name, is a speaker "
            "of its own. Data sets name their speakers."
        ),
    ),
    speaker_level: str | None = typer.Option(
        None,
        "--speaker-level",
        metavar="N",
        rich_help_panel="Key and speakers",
        help=(
            "Folder that names the speaker: 1 is the first below the given folder, 2 the "
            "second; 0: each file is a speaker of its own; parent: the folder of the file."
        ),
    ),
    per: str = typer.Option(
        "speaker",
        "--per",
        rich_help_panel="Key and speakers",
        help="One voice per speaker or per utterance.",
    ),
    workers: int | None = typer.Option(
        None, "--workers", "-j", min=1, help="Number of processes; as many as pay unless given."
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace existing outputs."),
    lenient: bool = typer.Option(
        False,
        "--lenient",
        help=(
            "Accept silent, clipped and very short recordings, and Ogg files without an end mark."
        ),
    ),
    rename: bool = RENAME,
    fail_fast: bool = typer.Option(False, "--fail-fast", help="Stop at the first failure."),
    mapping: Path | None = MAPPING,
    show_names: bool = SHOW_NAMES,
    keep: list[str] = KEEP,
    rttm: Path | None = RTTM,
    only: list[str] = ONLY,
    unsure: str | None = UNSURE,
    name: list[str] = NAME,
    timeline: Path | None = TIMELINE,
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Print speakers, inputs and outputs; write nothing."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print errors and warnings only."),
    allow_pipes: bool = ALLOW_PIPES,
    device: str = DEVICE,
    language: str | None = LANGUAGE,
    fallback: str = FALLBACK,
) -> None:
    """Give the voices in recordings a pseudonym.

    Who speaks is hidden; what is said is kept.
    """
    if per not in ("speaker", "utterance"):
        raise UnknownSystemError(f"--per is speaker or utterance, not {per!r}")
    say = Messages(quiet)
    people = SpeakerOptions(rttm, only, keep, unsure, name, timeline)
    whole_run = rename or mapping or show_names or speaker or speaker_level or per != "speaker"
    people.check(inputs, bool(whole_run))
    short = {
        "weights": weights,
        "strength": strength,
        "epsilon": epsilon,
        "target": target,
        "language": language,
        "voice_kind": voice,
        "voice_variant": voice_like,
    }
    given = [f"{name}={value}" for name, value in short.items() if value is not None]
    from voicenym.anonymizer import SYSTEMS, load
    from voicenym.corpus.fallback import fallback_of
    from voicenym.memory import spared_from_collection

    with spared_from_collection():
        system, written = SYSTEMS.parse(system_of_run(system, protection, say))
        parameters = {**written, **SYSTEMS.settings(system, [*settings, *given]), "device": device}
        anonymizer = load(system, **parameters)
    if not dry_run:
        anonymizer.check()
    secret, stored = key_of_run(key, say)
    if voice is not None and not dry_run:
        anonymizer.drawn(secret.pseudonym(""))  # an impossible wish fails before the first file
    heard = check_preview(preview, stored, bool(rename or dry_run or rttm or inputs == ["-"]))
    revision = anonymizer.revision_for(secret)
    other = None if dry_run else fallback_of(fallback, anonymizer, secret)
    revisions = {system: revision, **({} if other is None else {other.system: other.revision})}
    secret = secret.with_revisions(revisions)  # for workers, too
    if rttm is not None:
        anonymize_speakers(
            anonymizer, secret, other, Path(inputs[0]), output, people,
            stored=stored, overwrite=overwrite, lenient=lenient, dry_run=dry_run, say=say,
            quiet=quiet,
        )  # fmt: skip
        return
    if inputs == ["-"]:
        if stored and speaker is None:
            say(ONE_ALONE)
        anonymize_stream(anonymizer, secret, output, speaker, overwrite, lenient, say, other)
        conclude(anonymizer.card, stored, say)
        return
    if "-" in inputs:
        raise VoicenymError("- (standard input) cannot be combined with files; give it alone")
    corpus = read_inputs(
        inputs,
        output,
        speaker,
        allow_pipes,
        level=speaker_level,
        keep=keep,
        names=secret if rename else None,
    )
    items = corpus.items
    if heard is not None:
        write_preview(
            anonymizer, secret, items, heard, None if corpus.folder is not None else output,
            per_utterance=per == "utterance", overwrite=overwrite, lenient=lenient, other=other,
            say=say,
        )  # fmt: skip
        return
    whole = corpus.folder is not None
    from voicenym.corpus import file_plan
    from voicenym.corpus.batch_runner import Job, Summary, level_times, run
    from voicenym.corpus.rename_map import check_place
    from voicenym.corpus.rename_map import write as write_mapping
    from voicenym.corpus.revision_check import check_log

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
    log = None if corpus.folder is None else corpus.folder / file_plan.LOG_NAME
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
    )
    replaced = [item.target for item in items] if overwrite else []
    check_log(log, job.stamp(), replaced, None if other is None else other.stamp())
    if revision != anonymizer.revisions[-1]:
        say(
            f"{system}: revision {revision}, as the key or the setting says; the latest is "
            f"{anonymizer.revisions[-1]}, with other voices (docs/howto/keys.md)"
        )
    if workers is None:
        workers = workers_of_run(items, anonymizer)
    started = time.monotonic()
    summary = Summary()
    try:
        with BatchProgress(len(items), quiet, show_names) as progress:
            summary = run(
                job, items, workers, progress.report, progress.within, fail_fast=fail_fast
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
        conclude(anonymizer.card, stored, say)
    if summary.failures:
        raise typer.Exit(1)
