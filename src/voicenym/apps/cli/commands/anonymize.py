"""``voicenym anonymize``: files, folders, Kaldi folders, manifests, and pipes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli.anonymizing.anonymize_files import anonymize_files
from voicenym.apps.cli.anonymizing.anonymize_run import RunOptions, RunSystem
from voicenym.apps.cli.anonymizing.anonymize_shards import (
    SPEAKER_FIELD,
    anonymize_shards,
    request_of,
)
from voicenym.apps.cli.anonymizing.anonymize_speakers import anonymize_speakers
from voicenym.apps.cli.anonymizing.anonymize_stream import anonymize_stream
from voicenym.apps.cli.anonymizing.batch_report import Messages
from voicenym.apps.cli.anonymizing.dry_run import ONE_ALONE
from voicenym.apps.cli.anonymizing.run_choices import (
    KEY_VARIABLE,
    PROTECTION,
    check_fallback,
    joined_settings,
    key_of_run,
    system_of_run,
)
from voicenym.apps.cli.anonymizing.voice_preview import check_preview
from voicenym.apps.cli.options.corpus_options import ALLOW_PIPES
from voicenym.apps.cli.options.engine_options import ADDRESS, ENGINE, GPUS, check_system
from voicenym.apps.cli.options.name_options import MAPPING, RENAME, SHOW_NAMES, NameOptions
from voicenym.apps.cli.options.refused_options import refuse_options
from voicenym.apps.cli.options.speaker_options import (
    KEEP,
    NAME,
    ONLY,
    RTTM,
    TIMELINE,
    UNSURE,
    SpeakerOptions,
)
from voicenym.apps.cli.options.system_options import (
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
from voicenym.apps.cli.options.word_options import (
    BY,
    ENTITIES,
    LEAST,
    LIST,
    ON_MISS,
    RECOGNISER,
    REDACT,
    SYNTHESISER,
    UNHEARD,
    RedactOptions,
)
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.corpus import DEFAULT_SYSTEM
from voicenym.errors import UnknownSystemError, VoicenymError

if TYPE_CHECKING:
    from voicenym.anonymizer import Anonymizer

app = new_app()


@command(
    app,
    "voicenym anonymize interview.wav",
    "voicenym anonymize interview.wav -o out.flac --key project.key --speaker anna",
    "voicenym anonymize corpus/ -o anonymized/ --key project.key --protection machine",
    "voicenym anonymize interview.wav --rttm interview.rttm --only anna --key project.key",
    "voicenym anonymize interview.wav --redact names,numbers --list people.txt",
)
def anonymize(
    inputs: list[str] = typer.Argument(
        help=(
            "Recordings, folders, Kaldi data folders, lhotse manifests, shards (.tar, .parquet), "
            "URLs of these (s3://), or - for standard input."
        )
    ),
    place: str | None = typer.Option(
        None,
        "--output",
        "-o",
        metavar="PATH",
        help="File or folder, or a URL; by default NAME.anon.EXT beside the input.",
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
    speaker_field: str | None = SPEAKER_FIELD,
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
    redact: list[str] = REDACT,
    own: Path | None = LIST,
    recogniser: str | None = RECOGNISER,
    on_miss: str = ON_MISS,
    entities: str | None = ENTITIES,
    least: float = LEAST,
    unheard: str = UNHEARD,
    by: str = BY,
    synthesiser: str | None = SYNTHESISER,
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Print speakers, inputs and outputs; write nothing."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print errors and warnings only."),
    allow_pipes: bool = ALLOW_PIPES,
    engine: str = ENGINE,
    address: str | None = ADDRESS,
    gpus: float | None = GPUS,
    device: str = DEVICE,
    language: str | None = LANGUAGE,
    fallback: str = FALLBACK,
) -> None:
    """Give the voices in recordings a pseudonym.

    Who speaks is hidden; what is said is kept.
    """
    _check_inputs(inputs, place, per)
    of_several = {
        "--workers": workers, "--fail-fast": fail_fast, "--allow-pipes": allow_pipes,
        "--engine ray": engine == "ray",
    }  # fmt: skip
    if inputs == ["-"]:
        refuse_options({
            "--dry-run": dry_run, "--per utterance": per == "utterance", "--rename": rename,
            "--mapping": mapping, "--show-names": show_names, "--keep": keep,
            "--speaker-level": speaker_level, **of_several,
        }, "is for files and folders, and not for -;")  # fmt: skip
    if rttm is not None:
        refuse_options(of_several, "is for several recordings, and not for --rttm;")
    say = Messages(quiet)
    output = None if place is None else Path(place)
    options = RunOptions(per == "utterance", overwrite, lenient, fail_fast, dry_run, say)
    names = NameOptions(rename, mapping, show_names)
    people = SpeakerOptions(rttm, only, keep, unsure, name, timeline)
    people.check(inputs, bool(names.given or speaker or speaker_level or per != "speaker"))
    words = RedactOptions(
        redact, own, recogniser, on_miss, entities, least, unheard, by, synthesiser
    )
    words.check(inputs)
    if words.wanted and output is not None:
        _check_beside(output, {"--list": own, "--rttm": rttm, "--key": key})
    edit = words.settings(language) if words.wanted else None
    from voicenym.corpus.batches.engines import engine_of
    from voicenym.corpus.batches.fallback import fallback_of

    machines = engine_of(engine, address, gpus, device)
    shards = request_of(
        inputs, place, speaker, speaker_level, speaker_field, keep, workers, machines,
        {
            "--rttm": rttm, "--redact and --list": edit, "--preview": preview,
            "--mapping": mapping, "--show-names": show_names, "--allow-pipes": allow_pipes,
        },
    )  # fmt: skip
    short = {
        "weights": weights,
        "strength": strength,
        "epsilon": epsilon,
        "target": target,
        "language": language,
        "voice_kind": voice,
        "voice_variant": voice_like,
    }
    system, anonymizer = _loaded(
        system_of_run(system, protection, say), settings, short, device, words.wanted
    )
    check_system(anonymizer, engine)  # a dry run refuses what the run would
    secret, stored = key_of_run(key, say)
    if voice is not None:
        anonymizer.drawn(secret.pseudonym(""))  # an impossible wish fails before the first file
    heard = check_preview(preview, stored, bool(rename or dry_run or rttm or inputs == ["-"]))
    if heard is not None and edit is not None:
        raise VoicenymError("--preview removes no words; leave out --redact and --list to use it")
    check_fallback(fallback, anonymizer)
    other = fallback_of(fallback, anonymizer, secret)
    used = RunSystem.of(system, anonymizer, secret, stored, other)
    if edit is not None:
        edit = edit.with_key(used.key, getattr(anonymizer, "synthesiser", ""))
    if rttm is not None:
        anonymize_speakers(used, options, Path(inputs[0]), output, people, edit)
    elif inputs == ["-"]:
        if stored and speaker is None:
            say(ONE_ALONE)
        anonymize_stream(used, options, output, speaker)
    elif "-" in inputs:
        raise VoicenymError("- (standard input) cannot be combined with files; give it alone")
    elif shards is not None:
        anonymize_shards(used, options, shards, opaque=rename)
    else:
        anonymize_files(
            used, options, inputs, output,
            speaker=speaker, speaker_level=speaker_level, keep=keep, names=names,
            allow_pipes=allow_pipes, workers=workers, engine=machines, edit=edit, preview=heard,
        )  # fmt: skip


def _check_inputs(inputs: list[str], place: str | None, per: str) -> None:
    """Refuses values of options before anything is loaded.

    Raises:
        UnknownSystemError: no such choice of voices.
        VoicenymError: standard output for files.
    """
    if per not in ("speaker", "utterance"):
        raise UnknownSystemError(f"--per is speaker or utterance, not {per!r}")
    if place == "-" and inputs != ["-"]:
        source = inputs[0] if len(inputs) == 1 else "FILE"
        raise VoicenymError(
            f"-o - (standard output) needs - as the input: voicenym anonymize - < {source}; or "
            "name a file or folder with -o"
        )


def _check_beside(output: Path, inputs: Mapping[str, Path | None]) -> None:
    """Refuses an output whose transcript or log would replace a file that the command reads.

    Raises:
        AudioError: with the option that names the file.
    """
    from voicenym.corpus.plans.output_target import check_other_inputs
    from voicenym.corpus.sound_edits import log_path, transcript_path

    check_other_inputs((transcript_path(output), log_path(output)), inputs)


def _loaded(
    text: str, settings: list[str], short: Mapping[str, object], device: str, about_words: bool
) -> tuple[str, Anonymizer]:
    """Name of a system, and the system.

    Args:
        text: its name, with parameters as in ``recast:strength=1``.
        settings: ``NAME=VALUE`` of ``--set``.
        short: values of options that are parameters; None where they are not given.
        device: to compute on.
        about_words: whether words are removed, whose language an option states.

    Raises:
        UnknownSystemError: no such system or parameter.
        VoicenymError: its weights are missing.
    """
    from voicenym.anonymizer import SYSTEMS, load
    from voicenym.anonymizer.live_delay import check_delay_is_used
    from voicenym.memory import spared_from_collection

    with spared_from_collection():
        system, written = SYSTEMS.parse(text)
        given = {name: value for name, value in short.items() if value is not None}
        if about_words and "language" not in {one.name for one in SYSTEMS.parameters(system)}:
            given.pop("language", None)  # of the words alone
        stated = [*settings, *(f"{name}={value}" for name, value in given.items())]
        parameters = joined_settings(written, SYSTEMS.settings(system, stated))
        anonymizer = load(system, **{"device": device, **parameters})
        check_delay_is_used(anonymizer)
        return system, anonymizer
