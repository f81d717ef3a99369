"""Results of the finished parts of a long run, kept in a private file until the run is complete.

A run that was interrupted takes them from there and goes on with the first part that is missing.
Each part has a key, which says of what it is the result: a part is taken where the next one in the
file has the key that is asked for, and what follows another key is dropped. A part that was torn,
as by ``kill -9`` or by a full disk, does not count.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from voicenym.private import open_private
from voicenym.temporary import folder_for_temporary_files

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MOST_LINE = 1 << 26
"""Bytes of the longest line of facts that is read."""


@dataclass(frozen=True)
class KeptPart:
    """A part of a run that is finished.

    Args:
        facts: what is to be known of it.
        place: of its data in the file.
        size: of its data in bytes.
    """

    facts: Mapping[str, Any]
    place: int
    size: int


class KeptWork:
    """Parts of a run in a file, in the order in which they were finished.

    Args:
        file: open for reading and writing; :meth:`open` and :meth:`unnamed` make one.
        path: of the file; None if it has no name.
        stamp: on what all parts depend, such as the recording and the options; what is in the file
            under another stamp is dropped.
    """

    def __init__(self, file: IO[bytes], path: Path | None, stamp: Mapping[str, Any]) -> None:
        self._file, self._path = file, path
        first = _line({"kept": 1, **stamp})
        file.seek(0)
        self._end = len(first) if file.readline(MOST_LINE) == first else 0
        self._replays = bool(self._end)
        self._full = False
        if not self._end:
            self._append(first)

    @classmethod
    def open(cls, path: Path, stamp: Mapping[str, Any]) -> KeptWork | None:
        """The work that is kept at a path; None where another run uses it, or no file can be there.

        Args:
            path: of the file, which only its owner can read.
            stamp: as of the class.

        Raises:
            VoicenymError: the file belongs to another user, or is a symbolic link.
        """
        try:
            file = open_private(path, "r+b")
        except OSError:
            return None
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                return None
            except OSError:
                pass  # a file system without locks
        try:
            return cls(file, path, stamp)
        except OSError:  # the disk is full
            _closed(file)
            path.unlink(missing_ok=True)
            return None

    @classmethod
    def unnamed(cls, folder: Path | None) -> KeptWork:
        """Work that no other run can take, in a file without a name.

        Args:
            folder: of the file; None for the one for temporary files.
        """
        if folder is None:
            folder = folder_for_temporary_files()
        return cls(tempfile.TemporaryFile(dir=folder, prefix="voicenym-"), None, {})

    def take(self, key: str) -> KeptPart | None:
        """The next part, if it is in the file with this key; otherwise, no further one is taken.

        Args:
            key: of what the part is the result; it depends on all that the stamp does not have.
        """
        if not self._replays:
            return None
        found = self._next(key)
        if found is None:
            self._replays = False
            self._file.truncate(self._end)
        return found

    def add(self, key: str, facts: Mapping[str, Any], data: bytes = b"") -> KeptPart:
        """Keeps the next part.

        Args:
            key: as of :meth:`take`.
            facts: what is to be known of it, as JSON has it.
            data: bytes, which are read with :meth:`read`.

        Raises:
            OSError: the disk is full.
        """
        if self._replays:
            self._replays = False
            self._file.truncate(self._end)
        head = _line({"key": key, "facts": facts, "size": len(data), "sum": _sum(key, facts, data)})
        place = self._end + len(head)
        self._append(head, data, b"\n")
        return KeptPart(facts, place, len(data))

    def note(self, key: str, facts: Mapping[str, Any], data: bytes = b"") -> None:
        """Keeps the next part for another run alone: on a full disk, no further one is kept, and
        this run goes on.

        Args:
            key, facts, data: as of :meth:`add`.
        """
        if self._full:
            return
        try:
            self.add(key, facts, data)
        except OSError:
            self._full = True
            _closed(self._file)

    def read(self, place: int, size: int) -> bytes:
        """Bytes of the data of a part."""
        self._file.seek(place)
        return self._file.read(size)

    def close(self) -> None:
        """Closes the file; one with a name stays for another run."""
        self._file.close()

    def remove(self) -> None:
        """Removes the file, because the run is complete."""
        if self._file.closed and not self._full:
            return
        if fcntl is None:  # where an open file cannot be removed
            self._file.close()
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink()
        self._file.close()

    def _next(self, key: str) -> KeptPart | None:
        self._file.seek(self._end)
        head = self._file.readline(MOST_LINE)
        try:
            found = json.loads(head)
            facts, size, total = found["facts"], int(found["size"]), found["sum"]
            if found["key"] != key or not 0 <= size <= os.fstat(self._file.fileno()).st_size:
                return None
        except (ValueError, TypeError, KeyError):
            return None
        data = self._file.read(size)
        if self._file.read(1) != b"\n" or _sum(key, facts, data) != total:
            return None
        place = self._end + len(head)
        self._end = place + size + 1
        return KeptPart(facts, place, size)

    def _append(self, *parts: bytes) -> None:
        """Writes after the last part; the file ends there."""
        self._file.seek(self._end)
        for part in parts:
            self._file.write(part)
        self._file.truncate()
        self._file.flush()
        self._end = self._file.tell()


def _closed(file: IO[bytes]) -> None:
    """Closes a file on a full disk, which cannot take what is left to write."""
    with suppress(OSError):
        file.close()


def beside(place: Path, kind: str) -> Path:
    """Path of the work that is kept beside a file.

    Args:
        place: the file, after which the work is named.
        kind: of work, one word.
    """
    return place.with_name(f".voicenym-{place.name}.{kind}")


def digest_of(*parts: bytes | str) -> str:
    """Digest of bytes and texts, in hex, as a key of :class:`KeptWork`.

    Example:
        >>> digest_of("a", b"b") == digest_of("ab")
        False
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def _line(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, ensure_ascii=True).encode() + b"\n"


def _sum(key: str, facts: Mapping[str, Any], data: bytes) -> str:
    """Checksum of a part: what a crash left half written has another one."""
    return digest_of(key, json.dumps(facts, sort_keys=True), data)
