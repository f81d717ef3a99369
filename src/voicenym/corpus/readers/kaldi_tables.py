"""Tables of a Kaldi data folder: lines of a name and a value, sorted by the name's bytes."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path

from voicenym.audio.atomic import AtomicFile
from voicenym.corpus.readers.id_checks import LONGEST, check_word
from voicenym.errors import CorpusError

BLANKS = " \t\r\v\f"
"""Separators of a name and its value, as in Kaldi; other Unicode spaces are characters."""


def by_bytes(text: str) -> bytes:
    """Sort key of Kaldi: the bytes of the name (LC_ALL=C)."""
    return text.encode("utf-8", "surrogateescape")


def table(path: Path) -> dict[str, str]:
    """Rows of a table: a name, and the rest of the line.

    Raises:
        CorpusError: it cannot be read, a row has no value, or a name occurs twice.
    """
    rows: dict[str, str] = {}
    try:
        text = path.read_bytes().removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from None
    for number, line in enumerate(text.split("\n"), 1):  # other ends of lines are characters
        if "\0" in line:
            raise CorpusError(f"{path}:{number}: holds a byte 0 and is no text; restore it")
        words = re.split(f"[{BLANKS}]+", line.strip(BLANKS), maxsplit=1)
        if words == [""]:
            continue
        if len(words) < 2:
            raise CorpusError(f"{path}:{number}: expected a name and a value, found {line!r}")
        name = check_word(f"{path}:{number}", words[0])
        if name in rows:
            raise CorpusError(f"{path}:{number}: {name} stands here a second time; remove one line")
        rows[name] = words[1]
    return rows


def segments(path: Path) -> dict[str, tuple[str, float, float | None]]:
    """Recording, start and end in seconds (to the recording's end where None), by utterance.

    Raises:
        CorpusError: as :func:`table`, or invalid times.
    """
    found: dict[str, tuple[str, float, float | None]] = {}
    for utterance, value in table(path).items():
        try:
            recording, start_text, end_text = value.split()
            start, end = float(start_text), float(end_text)
            sound = 0.0 <= start <= LONGEST and end <= LONGEST
        except ValueError:
            raise CorpusError(
                f"{path}: {utterance} needs a recording and two times in seconds, not {value!r}"
            ) from None
        if sound and end == -1.0:  # Kaldi's "to the end"
            found[utterance] = (recording, start, None)
        elif not (sound and start < end):
            raise CorpusError(
                f"{path}: {utterance} must start before it ends, not {start} to {end}"
            )
        else:
            found[utterance] = (recording, start, end)
    return found


def write(path: Path, rows: Mapping[str, str]) -> None:
    """Writes a table atomically, sorted by bytes.

    Raises:
        AudioError: the disk is full, or the folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{name} {rows[name]}\n" for name in sorted(rows, key=by_bytes)]
    file = AtomicFile(path, overwrite=True)
    try:
        file.temporary.write_text("".join(lines), "utf-8", "surrogateescape", newline="\n")
        file.commit()
    finally:
        file.discard()
