"""Checks of ids and paths in a data set's tables, which become names of files.

A table may come from an unknown sender. An id becomes a file's name below the output folder and a
word in the new tables, so it must be able to do neither more nor less. A path is read as it
stands, as everywhere in Kaldi and lhotse, but only regular files are.
"""

from __future__ import annotations

import stat
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.errors import CorpusError

if TYPE_CHECKING:
    from voicenym.corpus.file_plan import Item

LONGEST_NAME = 200
"""Bytes of an id's part that is one file's name; file systems have 255, endings need some."""

LONGEST = 1e8
"""Seconds, some three years: no recording is longer, and sample counts stay in range."""


def printable(text: str) -> str:
    """The text for messages and lists, with control characters escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def check_id(where: str, name: str, *, folders: bool = False) -> str:
    """The id, if it can be a word in a table and a file's name.

    Args:
        where: it stands, for messages.
        name: the id.
        folders: whether it may name folders, with ``/``.

    Raises:
        CorpusError: it climbs, is absolute, hidden, too long, or holds a control character.
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
    """The name of a speaker or an utterance, if tables and keys can take it.

    Raises:
        CorpusError: no text, empty, or with a control character or what is no character.
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
    """The path of a recording, if it may be opened: not a device or a pipe, which never end.

    Raises:
        CorpusError: it cannot be a path, or names something else than a file.
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


def check_inside(items: Iterable[Item], output: Path) -> None:
    """No output lies elsewhere than below the output folder, through links neither.

    Raises:
        CorpusError: naming the output and where it would go.
    """
    root = output.resolve()
    folders: dict[Path, Path] = {}
    for item in items:
        folder = item.target.parent
        if folder not in folders:
            folders[folder] = folder.resolve()
        if not folders[folder].is_relative_to(root):
            raise CorpusError(
                f"{item.target}: would be written to {folders[folder]}, outside {output}; remove "
                "the link, or choose a new folder with -o"
            )
