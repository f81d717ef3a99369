"""Options of commands that read corpora, and the printer of their progress."""

from __future__ import annotations

from collections.abc import Callable

import typer

SPLIT = typer.Option(None, "--split", help="Rows of a manifest to use.")
CORPUS = typer.Option([], "--corpus", help="Corpora of a manifest to use; may be repeated.")
ALLOW_PIPES = typer.Option(
    False, "--allow-pipes", help="Run the commands of a Kaldi wav.scp; they run with your rights."
)
SPEAKER_FIELD = typer.Option(
    None,
    "--speaker-field",
    metavar="NAME",
    help="Of shards: field or column of the speaker; by default speaker, speaker_id and the like.",
)
QUIET = typer.Option(False, "--quiet", "-q", help="Only errors.")


def progress_printer(quiet: bool) -> Callable[[str], None]:
    """Prints lines of progress on stderr, unless quiet."""

    def say(text: str) -> None:
        if not quiet:
            typer.echo(text, err=True)

    return say
