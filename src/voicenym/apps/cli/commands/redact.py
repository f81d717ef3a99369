"""``voicenym redact``: removes spoken names, numbers and other words from a recording."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli.anonymizing.batch_report import Messages
from voicenym.apps.cli.anonymizing.run_choices import KEY_VARIABLE, key_of_run
from voicenym.apps.cli.options.word_options import (
    ENTITIES,
    LANGUAGE,
    LEAST,
    LIST,
    ON_MISS,
    RECOGNISER,
    SYNTHESISER,
    UNHEARD,
    WORDS,
    removed_in_words,
)
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.interrupted_work import until_done
from voicenym.apps.cli.terminal.progress import Progress
from voicenym.errors import AudioError, RedactionError, VoicenymError, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voicenym.redaction.removal import Decision, Listened, Removal

app = new_app()


@command(
    app,
    "voicenym redact interview.wav --words names,numbers --findings found.txt",
    "voicenym redact interview.wav --apply found.txt -o redacted.wav --by beep",
    "voicenym redact interview.wav --list people.txt -o redacted.wav --transcript redacted.txt",
)
def redact(
    recording: Path = typer.Argument(help="A recording."),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="File of the redacted recording; without it, none is written."
    ),
    words: list[str] = WORDS,
    own: Path | None = LIST,
    apply: Path | None = typer.Option(
        None, "--apply", metavar="FILE", help="Remove what this file of findings says."
    ),
    findings: Path | None = typer.Option(
        None, "--findings", metavar="FILE", help="Write the findings to this file, for editing."
    ),
    transcript: Path | None = typer.Option(
        None,
        "--transcript",
        metavar="FILE",
        help="Write the transcript without the removed words: .txt, .json, .srt or .vtt.",
    ),
    by: str = typer.Option(
        "silence",
        "--by",
        metavar="silence|beep|word",
        help="What stands instead; word: spoken words of the same class, in a drawn voice.",
    ),
    synthesiser: str | None = SYNTHESISER,
    key: Path | None = typer.Option(
        None,
        "--key",
        "-k",
        help=f"With --by word, draws words and voice: else ${KEY_VARIABLE}, else a fresh key.",
    ),
    on_miss: str = ON_MISS,
    recogniser: str | None = RECOGNISER,
    language: str | None = LANGUAGE,
    entities: str | None = ENTITIES,
    least: float = LEAST,
    unheard: str = UNHEARD,
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace existing outputs."),
    lenient: bool = typer.Option(
        False, "--lenient", help="Accept recordings without speech, and Ogg without an end mark."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print errors and warnings only."),
) -> None:
    """Remove spoken names, numbers and other words from a recording.

    Without -o, the findings are printed. The voice stays: voicenym anonymize hides it.
    """
    say = Messages(quiet)
    _check(recording, output, words, own, apply, findings, transcript, overwrite, key)
    from voicenym.corpus.batches.single_file import sha256_of
    from voicenym.redaction import findings_file
    from voicenym.redaction.redacted_file import write_redacted
    from voicenym.redaction.redaction_settings import settings_of
    from voicenym.redaction.sound_removal import WORD
    from voicenym.transcription.heard_stretches import heard_before

    settings = settings_of(
        words, own, recogniser, language, way=by, on_miss=on_miss, entities=entities,
        least=least, unheard=unheard, synthesiser=synthesiser,
    )  # fmt: skip
    if by == WORD:
        settings = settings.with_key(key_of_run(key, say)[0])
    elif key is not None:
        raise RedactionError("--key draws words that stand for others; add --by word")
    lines: Sequence[findings_file.Line] = ()
    if apply is not None:
        read = findings_file.read_findings(apply)
        digest = sha256_of(recording) if recording.is_file() else ""
        lines = findings_file.of_recording(read, digest, str(recording), str(apply))
    with Progress(quiet) as stage:
        stage("loading the recogniser")
        redactor = settings.redactor(stage=stage, progress=stage.reached)
        known = heard_before(recording, recording, redactor.recogniser, language=language)
        with until_done(known) as kept:
            heard = redactor.hear(recording, str(recording), lenient=lenient, kept=kept)
            stage("finding the words")
            if apply is not None:
                decisions = redactor.of_lines(lines, heard, str(apply))
            else:
                decisions = redactor.decide(heard)
            with _saving(findings, recording, heard, decisions, overwrite):
                if output is not None:
                    removal = redactor.secure(
                        recording, str(recording), heard, decisions, lenient=lenient, kept=kept
                    )
                    stage("writing")
                    with _text(transcript, removal, overwrite):
                        warnings = write_redacted(
                            recording, output, removal, removal.plain, overwrite=overwrite,
                            lenient=lenient, progress=stage.reached,
                        )  # fmt: skip
    if findings is not None:
        say(f"wrote {findings}")
    if output is None:
        _show(decisions)
        say("no recording was written; give -o FILE, with --apply FILE after editing")
        return
    for warning in (*removal.warnings, *warnings):
        say.warn(warning)
    say(removed_in_words(removal.log()))
    say(f"wrote {output}" + (f" and {transcript}" if transcript is not None else ""))
    if removal.words is not None:
        spoken = len(removal.words.words)
        said = counted(spoken, "word of the same class was", "words of the same class were")
        say(f"{said} spoken instead, in a voice that the key drew")
    say("the speaker's voice was not changed; voicenym anonymize hides it")


def _check(
    recording: Path,
    output: Path | None,
    words: Sequence[str],
    own: Path | None,
    apply: Path | None,
    findings: Path | None,
    transcript: Path | None,
    overwrite: bool,
    key: Path | None,
) -> None:
    """Refuses options that do not go together, before anything is loaded."""
    if apply is None and not words and own is None:
        raise RedactionError(
            "nothing to remove: give --words names,numbers, --list FILE, or --apply FILE"
        )
    if apply is not None and words:
        raise RedactionError(
            "--apply takes the findings from its file; leave out --words, or find words again "
            "without --apply"
        )
    if transcript is not None and output is None:
        raise RedactionError("--transcript belongs to a redacted recording; give -o FILE, too")
    from voicenym.audio.atomic import sweep
    from voicenym.audio.container_files.containers import EXTENSIONS, READ_ONLY, container_of
    from voicenym.corpus.plans.output_target import check_other_inputs, check_target, same_file
    from voicenym.transcription.transcript_files import format_of

    places = [path for path in (output, findings, transcript) if path is not None]
    for folder in {path.parent for path in places}:
        sweep(folder)  # what a killed run left, also if this one is refused
    for path in places:
        check_target(recording, path, overwrite)
        if not path.parent.is_dir():
            raise AudioError(f"{path}: its folder does not exist; create the folder first")
    check_other_inputs(places, {"--list": own, "--apply": apply, "--key": key})
    if findings is not None and findings.suffix.lower() in (*EXTENSIONS, *READ_ONLY):
        raise RedactionError(f"{findings}: findings are a text; give a name that ends in .txt")
    for one, other in combinations(places, 2):
        if same_file(one, other):
            raise RedactionError(f"{one}: is named for two outputs; give each a name of its own")
    if output is not None:
        container_of(output, str(output))
    if transcript is not None:
        format_of(transcript)


def _text(path: Path | None, removal: Removal, overwrite: bool) -> AbstractContextManager[None]:
    """Writes the transcript beside a recording that is written meanwhile: both or neither."""
    if path is None:
        return nullcontext()
    from voicenym.audio.atomic import PRIVATE, text_beside
    from voicenym.transcription.transcript_files import format_of

    return text_beside(path, format_of(path)(removal.transcript), overwrite, PRIVATE)


@contextmanager
def _saving(
    path: Path | None,
    recording: Path,
    heard: Listened,
    decisions: Sequence[Decision],
    overwrite: bool,
) -> Iterator[None]:
    """Writes the file of findings after the removal, also after one that failed: it can be edited
    then. A run that was interrupted leaves none, so that the same command can go on.
    """
    try:
        yield
    except VoicenymError:
        _save(path, recording, heard, decisions, overwrite)
        raise
    _save(path, recording, heard, decisions, overwrite)


def _save(
    path: Path | None,
    recording: Path,
    heard: Listened,
    decisions: Sequence[Decision],
    overwrite: bool,
) -> None:
    """Writes the file of findings; words without times have those of their sentence."""
    if path is None:
        return
    from voicenym.corpus.batches.single_file import sha256_of
    from voicenym.redaction.findings_file import FindingsFile, write_findings

    lines = tuple(one.line for one in decisions)
    found = FindingsFile(sha256_of(recording), heard.transcript.seconds, lines)
    write_findings(path, found, overwrite)


def _show(decisions: Sequence[Decision]) -> None:
    """Prints the findings on standard output, which is asked for without -o."""
    from voicenym.redaction.findings_file import format_line

    for one in decisions:
        note = "\tno times: those of the sentence" if one.missed else ""
        typer.echo(format_line(one.line) + note)
