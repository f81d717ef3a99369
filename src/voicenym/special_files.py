"""Pipes and devices where files are wanted: a program that opens one may wait for ever."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable

from voicenym.errors import VoicenymError

_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
_HANDED_OVER = re.compile(r"/dev/stdin|(/dev|/proc/self)/fd/[0-9]+")


def special_kind(path: str | os.PathLike[str]) -> str | None:
    """``a pipe``, ``a device`` or ``a socket``; None for a file, a folder, and what is missing."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return None
    return next((kind for is_one, kind in _KINDS if is_one(mode)), None)


def refuse_named_pipe(path: str | os.PathLike[str]) -> None:
    """Checks a list or table, which is read once: pipes from a shell, such as ``<(command)``, end.

    Raises:
        VoicenymError: it is a named pipe.
    """
    name = os.fspath(path)
    if special_kind(path) == "a pipe" and not _HANDED_OVER.fullmatch(name):
        raise VoicenymError(f"{name}: is a pipe; give a file, or /dev/stdin for standard input")
