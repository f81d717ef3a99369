"""Checks of the place of an output."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from voicenym.errors import AudioError

Source = str | os.PathLike[str] | BinaryIO


def same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths are the same file, also through links."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return Path(one).resolve() == Path(other).resolve()


def check_target(source: Source, target: str | os.PathLike[str], overwrite: bool) -> None:
    """Refuses a target that is the source, a folder, or a file that may not be replaced.

    Raises:
        AudioError: with the reason.
    """
    if not os.path.lexists(target):
        return
    if isinstance(source, (str, os.PathLike)) and same_file(source, target):
        raise AudioError(
            f"{os.fspath(target)}: the output is the input itself; choose another name with -o, "
            "so that the original is never replaced"
        )
    if Path(target).is_dir():
        raise AudioError(f"{os.fspath(target)}: is a folder; give a file name with -o")
    if not overwrite:
        raise AudioError(
            f"{os.fspath(target)}: exists already; add --overwrite to replace it, or choose "
            "another name with -o"
        )
