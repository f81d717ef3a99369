"""``--speaker-level`` of commands that read corpora: which folder names who speaks."""

from __future__ import annotations

import click
import typer

SPEAKER_LEVEL = typer.Option(
    None,
    "--speaker-level",
    metavar="N",
    min=1,
    help="Of folders of speakers, the one that names who speaks: 1 is the first below the root. "
    "Needed only where folders can be read in two ways.",
)


def group(speaker_level: int | None = SPEAKER_LEVEL) -> None:
    """What all commands of a group take, before their names: see :func:`current`."""


def current() -> int | None:
    """What the running command, or the group that it is of, was given."""
    context = click.get_current_context(silent=True)
    while context is not None:
        level: int | None = context.params.get("speaker_level")
        if level is not None:
            return level
        context = context.parent
    return None
