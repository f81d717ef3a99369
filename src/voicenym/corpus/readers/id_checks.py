"""Checks of ids and paths in a data set's tables, which become names of files.

A table may come from an unknown sender. Ids become file names below the output folder and words in
the new tables; only ids that are safe as both are accepted. Paths are used as they are, as in Kaldi
and lhotse, but only regular files are read.
"""

from __future__ import annotations

import stat
import unicodedata
from pathlib import Path

from voicenym.errors import CorpusError
from voicenym.errors import printable as printable

LONGEST_NAME = 200
"""Most bytes of a component of an id; file names have 255, and extensions need some of them."""

LONGEST = 1e8
"""Longest recording in seconds, about three years, so that sample counts stay in range."""


def check_id(where: str, name: str, *, folders: bool = False) -> str:
    """The id, checked for use as a word in a table and as a file name.

    Args:
        where: table of the id, for messages.
        name: the id.
        folders: whether it may contain folders, with ``/``.

    Raises:
        CorpusError: it has ``..``, is absolute, hidden, too long, or has a control character.
    """
    check_word(where, name)
    parts = name.split("/") if folders else [name]
    fault = None
    for part in parts:
        if "/" in part or "\\" in part:
            fault = "holds a slash"
        elif part.startswith("."):
            fault = "begins with a dot"
        elif not part:
            fault = "is absolute, or has an empty folder's name in it"
        elif len(part.encode("utf-8", "surrogateescape")) > LONGEST_NAME:
            fault = f"is longer than {LONGEST_NAME} bytes"
    if fault:
        raise CorpusError(
            f"{where}: {printable(name)[:60]!r} cannot be a file name, for it {fault}; rename it"
        )
    return name


def check_word(where: str, name: object) -> str:
    """Name of a speaker or an utterance, checked for use in tables and keys.

    Raises:
        CorpusError: not text, empty, or with a control character or an invalid character.
    """
    if not isinstance(name, str) or not name:
        raise CorpusError(f"{where}: {name!r} is no name; give a text that is not empty")
    try:
        name.encode("utf-8", "surrogateescape")
        bad = any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in name)
    except UnicodeEncodeError:
        bad = True
    if bad:
        raise CorpusError(
            f"{where}: {printable(name)[:60]!r} holds a control character or half a character; "
            "rename it"
        )
    return name


def check_source(where: str, entry: str) -> Path:
    """Path of a recording, checked before opening: devices and pipes, which may never end, are
    refused.

    Raises:
        CorpusError: it cannot be a path, or is not a regular file.
    """
    try:
        mode = Path(entry).stat().st_mode
    except OSError:
        return Path(entry)  # named when its turn comes; the others go on
    except ValueError:
        raise CorpusError(
            f"{where}: {printable(entry)[:60]!r} cannot be a path; mend the table"
        ) from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise CorpusError(
            f"{where}: {printable(entry)[:60]} is a device or a pipe and no recording; mend the "
            "table"
        )
    return Path(entry)
