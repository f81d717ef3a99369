"""``voicenym key``: make the secret that voices are derived from."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.pseudonym import Key

app = typer.Typer(help="Make key files.", no_args_is_help=True)


@app.callback()
def _root() -> None:
    pass


@app.command("new")
def new(path: Path = typer.Argument(help="The file to write; never overwritten.")) -> None:
    """Write a fresh key that only you may read (mode 0600)."""
    Key.generate().save(path)
    typer.echo(
        f"{path}: new key. Whoever has it can link voices to speakers: keep it apart from the "
        "recordings; delete it to cut the link for good.",
        err=True,
    )
