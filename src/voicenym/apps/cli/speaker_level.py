"""``--speaker-level`` of commands that read corpora: which folder names who speaks."""

from __future__ import annotations

from contextvars import ContextVar

import typer

SPEAKER_LEVEL = typer.Option(
    None,
    "--speaker-level",
    metavar="N",
    min=1,
    help="Folder that names the speaker: 1 is the first below the given folder. Needed only if "
    "the folders can be read in two ways.",
)
_level: ContextVar[int | None] = ContextVar("speaker level", default=None)


def group(speaker_level: int | None = SPEAKER_LEVEL) -> None:
    """What all commands of a group take, before their names; :func:`current` is what was given."""
    _level.set(speaker_level)


def current() -> int | None:
    """The level that the running command's group was given."""
    return _level.get()
