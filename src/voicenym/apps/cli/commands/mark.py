"""``voicenym mark``: marks in a recording which say that its voices are not the speakers' own."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli.anonymizing.batch_report import Messages
from voicenym.apps.cli.options.refused_options import refuse_options
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.errors import AudioError, VoicenymError

ALGORITHM = "es256"
CHANGED = "changed"
EVERY = 60.0
"""Seconds from audible mark to mark."""

app = new_app()


@command(
    app,
    "voicenym mark anon.wav -o published.wav --certificate chain.pem --private-key key.pem",
    "voicenym mark anon.wav -o published.wav --audible",
    "voicenym mark published.wav",
)
def mark(
    recording: Path = typer.Argument(help="A recording that voicenym wrote."),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="File to write; without it, the recording's mark is printed."
    ),
    certificate: Path | None = typer.Option(
        None, "--certificate", help="Certificates that sign, in PEM, the signer's first."
    ),
    private_key: Path | None = typer.Option(
        None, "--private-key", help="Private key of the certificate, in PEM, of mode 0600."
    ),
    algorithm: str = typer.Option(ALGORITHM, "--algorithm", help="Of the signature."),
    source: str = typer.Option(
        CHANGED,
        "--source",
        metavar="changed|synthesised",
        help="Voices changed in a recording, or speech made of text (asr-tts).",
    ),
    audible: bool = typer.Option(False, "--audible", help="Add two soft tones at intervals."),
    every: float = typer.Option(EVERY, "--every", help="Seconds from audible mark to mark."),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an existing output."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print errors only."),
) -> None:
    """Mark a recording as one whose voices are not the speakers' own.

    Content Credentials are a signed statement in the file (wav, flac, mp3, m4a, mp4, mov), which
    names whoever signs. Marks are never added unless asked for. Without -o, the statement of a
    recording is printed.
    """
    from voicenym.synthetic_marks import audible_mark, content_credentials

    say = Messages(quiet)
    if certificate is None:
        refuse_options(
            {"--algorithm": algorithm != ALGORITHM, "--source": source != CHANGED},
            "is of Content Credentials; give --certificate and --private-key, or",
        )
    if not audible:
        refuse_options({"--every": every != EVERY}, "is of tones; give --audible, or")
    if output is None:
        if certificate or private_key or audible or overwrite:
            raise AudioError("nothing to write to; give -o FILE")
        _show(content_credentials.read_statement(recording))
        return
    if (certificate is None) != (private_key is None):
        raise VoicenymError("--certificate and --private-key belong together; give both")
    if certificate is None or private_key is None:
        if not audible:
            raise VoicenymError(
                "no mark; give --certificate and --private-key for Content Credentials, or "
                "--audible"
            )
        audible_mark.write_marked(recording, output, every, overwrite=overwrite)
        say(f"wrote {output}, with tones every {every:g} s")
        return
    credential = content_credentials.read_credential(certificate, private_key, algorithm)
    if not audible:
        made = content_credentials.sign(recording, output, credential, source, overwrite=overwrite)
    else:
        from voicenym.audio.atomic import temporary_folder
        from voicenym.corpus.plans.output_target import check_target

        check_target(recording, output, overwrite)
        if not output.parent.is_dir():
            raise AudioError(f"{output}: its folder does not exist; create the folder first")
        with temporary_folder(output.parent) as folder:
            toned = folder / f"toned{output.suffix}"
            audible_mark.write_marked(recording, toned, every)
            made = content_credentials.sign(toned, output, credential, source, overwrite=overwrite)
    say(f"wrote {output}, signed by {made.signer or 'a nameless certificate'}")


def _show(found: object) -> None:
    """Prints a statement, or that there is none."""
    from voicenym.synthetic_marks.content_credentials import Statement

    if not isinstance(found, Statement):
        typer.echo("no Content Credentials")
        return
    what = {
        "changed": "voices were changed",
        "synthesised": "speech was synthesised",
    }.get(found.source, "nothing about voices")
    state = "intact" if found.intact else "changed since it was signed: do not rely on it"
    typer.echo(f"{what}; signed by {found.signer!r}, whom nobody has checked; {state}")
    if not found.intact:
        raise typer.Exit(1)
