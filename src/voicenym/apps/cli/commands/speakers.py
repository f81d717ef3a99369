"""``voicenym speakers``: who speaks when in a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli.anonymizing.batch_report import Messages
from voicenym.apps.cli.options.speaker_options import NAME
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.interrupted_work import until_done, voices_before
from voicenym.apps.cli.terminal.progress import Progress
from voicenym.errors import DiarizationError, check_path

if TYPE_CHECKING:
    from voicenym.diarization.turn_doubts import Doubt

app = new_app()


@command(
    app,
    "voicenym speakers interview.wav",
    "voicenym speakers interview.wav -o interview.rttm --speakers 2",
    "voicenym speakers interview.wav --turns interview.rttm --name speaker-1=anna -o new.vtt",
)
def speakers(
    recording: Path = typer.Argument(help="A recording."),
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        help="File of turns: .rttm, .TextGrid, .vtt or .txt (labels of Audacity); by default RTTM "
        "on standard output.",
    ),
    count: int | None = typer.Option(
        None, "--speakers", metavar="N", min=1, help="Number of speakers; found unless given."
    ),
    clustering: str | None = typer.Option(
        None,
        "--clustering",
        help="vbx, spectral or agglomerative; vbx, or spectral with --speakers, unless given.",
    ),
    encoder: str | None = typer.Option(
        None,
        "--encoder",
        help="Speaker encoder, by the name or folder of a verifier; ecapa-small unless given.",
    ),
    overlaps: bool = typer.Option(
        True, "--overlaps/--no-overlaps", help="Mark a second speaker where several people speak."
    ),
    turns: Path | None = typer.Option(
        None, "--turns", help="Read this file of turns instead of the recording's sound."
    ),
    name: list[str] = NAME,
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an existing output."),
    lenient: bool = typer.Option(False, "--lenient", help="Accept Ogg files without an end mark."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print errors and warnings only."),
) -> None:
    """Find who speaks when in a recording.

    Speakers are numbered by their first turns. No name is guessed, and speakers of two recordings
    are never matched.
    """
    from voicenym.diarization.formats import turn_files
    from voicenym.diarization.formats.timeline import summary
    from voicenym.diarization.formats.turn_names import names_of, renamed

    say = Messages(quiet)
    if output is not None:
        turn_files.format_of(output)
        check_path(output)
        if not overwrite and output.exists():
            raise DiarizationError(
                f"{output}: exists already; add --overwrite to replace it, or choose another name "
                "with -o"
            )
        if not output.parent.is_dir():
            raise DiarizationError(f"{output}: its folder does not exist; create the folder first")
    if turns is not None and (count or clustering or encoder or not overlaps):
        raise DiarizationError(
            "--turns reads turns instead of finding them; leave out --speakers, --clustering, "
            "--encoder and --no-overlaps"
        )
    names = names_of(name)
    if turns is not None:
        from voicenym.diarization.formats.turns_fit import turns_for
        from voicenym.diarization.recording_signal import seconds_of

        seconds = seconds_of(recording, lenient=lenient)
        found = turns_for(turns, recording, seconds)
    else:
        import torch

        from voicenym.diarization.diarizer import BUNDLED, diarize_file
        from voicenym.diarization.recording_signal import mono
        from voicenym.diarization.turn_doubts import doubts_of

        torch.set_num_threads(1)  # the same turns on any machine
        before = None
        if output is not None:
            before = voices_before(output, recording, encoder or BUNDLED)
        doubts: list[Doubt] = []  # printed when the bar of progress has gone
        with Progress(quiet) as stage, until_done(before) as kept:
            found, seconds = diarize_file(
                recording, encoder, count, clustering, overlaps=overlaps, lenient=lenient,
                stage=stage, progress=stage.reached, warn=doubts.append, kept=kept,
                strict=True,
            )  # fmt: skip
        doubts.extend(doubts_of(found, mono(recording, lenient=lenient), count))
        for doubt in doubts:
            say.warn(f"{recording}: {doubt}")
    found = renamed(found, names)
    text = turn_files.format_turns(found, output or "turns.rttm", recording.stem, seconds)
    if output is None:
        typer.echo(text, nl=False)
    else:
        turn_files.write_text(output, text, overwrite)
    for line in summary(found, seconds):
        say(line)
    if output is not None:
        say(f"wrote {output}")
