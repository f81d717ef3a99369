"""Option ``--speaker-level`` of commands that read corpora: the folder that names the speaker."""

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
    """Callback of a command group with the option; :func:`current` returns its value."""
    _level.set(speaker_level)


def current() -> int | None:
    """Value of the option for the running command."""
    return _level.get()
