"""``voicenym transcribe``: what is said in a recording, and when."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import typer

from voicenym.apps.cli.anonymizing.batch_report import Messages
from voicenym.apps.cli.options.word_options import LANGUAGE, RECOGNISER
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.interrupted_work import until_done
from voicenym.apps.cli.terminal.progress import Progress
from voicenym.errors import AudioError, VoicenymError

MOST_THREADS = 256
"""More than processors have; CTranslate2 crashes where the system refuses to start them all."""

app = new_app()


@command(
    app,
    "voicenym transcribe interview.wav",
    "voicenym transcribe interview.wav -o interview.srt --recogniser faster-whisper-small.en",
    "voicenym transcribe interview.wav -o words.json --channels each",
)
def transcribe(
    recording: Path = typer.Argument(help="A recording."),
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        help="File: .txt, .json (times of words), .srt or .vtt; by default text on standard "
        "output.",
    ),
    recogniser: str | None = RECOGNISER,
    language: str | None = LANGUAGE,
    channels: str = typer.Option(
        "mix", "--channels", metavar="mix|each", help="Hear the mean of the channels, or each."
    ),
    device: str = typer.Option("cpu", "--device", help="cpu or cuda."),
    threads: int = typer.Option(
        0, "--threads", min=0, max=MOST_THREADS, help="Of the processor; 0 for all."
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an existing output."),
    lenient: bool = typer.Option(
        False, "--lenient", help="Accept recordings without speech, and Ogg without an end mark."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print errors and warnings only."),
) -> None:
    """Write what is said in a recording, with the times of words.

    Nothing leaves this machine, and no model is fetched.
    """
    from voicenym.transcription.transcript_files import format_of, format_text

    say = Messages(quiet)
    if channels not in ("mix", "each"):
        raise VoicenymError(f"--channels is mix or each, not {channels!r}")
    written = format_text if output is None else format_of(output)
    if output is not None and not overwrite and output.exists():
        raise AudioError(
            f"{output}: exists already; add --overwrite to replace it, or choose another name "
            "with -o"
        )
    if output is not None and not output.parent.is_dir():
        raise AudioError(f"{output}: its folder does not exist; create the folder first")
    from voicenym.audio import open_reader
    from voicenym.diarization.formats.turn_files import write_text
    from voicenym.transcription.assumed_language import AssumedLanguage
    from voicenym.transcription.faster_whisper_words import FasterWhisperWords
    from voicenym.transcription.heard_stretches import heard_before
    from voicenym.transcription.word_listening import listen

    with ExitStack() as opened, Progress(quiet) as stage:
        reader = opened.enter_context(open_reader(recording, lenient=lenient))
        stage("loading the recogniser")
        whisper = FasterWhisperWords(
            recogniser or "", language=language, device=device, threads=threads
        )
        stage("transcribing")
        known = None
        if output is not None:
            known = heard_before(output, recording, whisper, language=language, channels=channels)
        kept = opened.enter_context(until_done(known))
        found = listen(
            reader, whisper, mix=channels == "mix", progress=stage.reached, kept=kept,
            check=AssumedLanguage(str(recording), whisper),
        )  # fmt: skip
        if not found.words and not found.unheard and not lenient:
            raise AudioError(
                f"{recording}: no speech was found in it; check that the right track was recorded, "
                "or add --lenient to write an empty transcript"
            )
        if output is not None:
            write_text(output, written(found), overwrite)
    if output is None:
        typer.echo(written(found), nl=False)
    else:
        say(f"wrote {output}")
    missing = sum(not word.placed for word in found.words)
    if missing:
        say.warn(f"{recording}: {missing} of {len(found.words)} words have no times")
    if found.unheard:
        seconds = sum(end - start for start, end in found.unheard)
        say.warn(f"{recording}: no word was recognised in {seconds:.1f} s of speech")
