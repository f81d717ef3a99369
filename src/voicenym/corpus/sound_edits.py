"""Edits of recordings before they are anonymized, such as the removal of words.

An edit is prepared for each recording, may read it, and replaces parts of its sound while it is
anonymized. What raises an error in it stops the recording, of which nothing is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from voicenym.errors import AudioError

if TYPE_CHECKING:
    from voicenym.audio import Reader
    from voicenym.pseudonym import Key

Source = str | os.PathLike[str] | BinaryIO


class SoundEdit(Protocol):
    """Edit of one recording."""

    @property
    def transcript(self) -> str:
        """Text that is written beside the output."""
        ...

    @property
    def log(self) -> Mapping[str, Any]:
        """Fields for the log, which hold no word of the recording."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """For the user, each a sentence."""
        ...

    @property
    def intervals(self) -> Sequence[tuple[float, float]]:
        """Parts whose sound is replaced: start and end in seconds."""
        ...

    def __call__(self, reader: Reader) -> Reader:
        """A reader of the edited sound, which closes the given one, of which no block was read."""
        ...

    def texts(self, texts: Sequence[str]) -> list[str]:
        """The edit of phrases that a system heard in the edited sound and is going to speak."""
        ...

    def finish(self) -> None:
        """Drops what is kept for a run that is interrupted: the recording is written, or failed."""
        ...


Prepare = Callable[[Source, str, bool], SoundEdit]
"""Prepares the edit of a recording, by source, name for messages, and lenience."""


class EditSettings(Protocol):
    """Settings of edits, which go to other processes."""

    def stamp(self, key: Key) -> dict[str, Any]:
        """Settings for the log."""
        ...

    def editor(self) -> Prepare:
        """What prepares edits in this process, with its models loaded."""
        ...


def transcript_path(output: Path) -> Path:
    """Path of the transcript beside an output."""
    return output.with_suffix(".txt")


def log_path(output: Path) -> Path:
    """Path of the log beside an output that lies in no folder with a log of its own."""
    return output.with_suffix(".jsonl")


def log_of_edit(
    output: Path, system: Mapping[str, Any], stamp: Mapping[str, Any], log: Mapping[str, Any]
) -> str:
    """Log of one edited output, a line of JSON, with neither a word nor the recording's name.

    Args:
        output: whose name is told.
        system: its name, parameters and the like.
        stamp: of :class:`EditSettings`.
        log: of :class:`SoundEdit`.
    """
    line = {**system, "edit": dict(stamp), "output": output.name, "edited": dict(log)}
    return json.dumps(line, ensure_ascii=False) + "\n"


def check_log_place(output: Path, overwrite: bool) -> None:
    """Refuses a place of the log that is taken, before the work.

    Raises:
        AudioError: a file is there.
    """
    path = log_path(output)
    if not overwrite and os.path.lexists(path):
        raise AudioError(
            f"{path}: exists already; add --overwrite to replace it, or choose another output "
            "with -o"
        )
