"""A cache of speaker vectors by content, in one SQLite file that survives a kill."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from voicenym.errors import VoicenymError
from voicenym.private import open_private, private_folder

APPLICATION = 0x766E796D
"""SQLite's application_id of these caches, by which ``voicenym cache`` recognises them."""
TABLE = "CREATE TABLE vectors (id BLOB PRIMARY KEY, vector BLOB NOT NULL)"
BESIDE = ("-journal", "-wal", "-shm")
"""Suffixes of the files that SQLite keeps beside a database."""


def unusable(path: Path | None, error: Exception) -> VoicenymError:
    """Error for a file that is no cache, or cannot be opened."""
    if path is not None and path.is_dir():
        return VoicenymError(f"{path}: is a folder, and a cache is a file; name a file in it")
    why = getattr(error, "strerror", None) or error
    return VoicenymError(f"{path}: cannot be used as cache ({why}); delete it or name another file")


@contextmanager
def using(path: Path | None) -> Iterator[None]:
    """Makes errors of SQLite, such as a damaged page or a full disk, errors that name the file."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise unusable(path, error) from error


class VectorCache:
    """Speaker vectors by the identity of the embedded recording.

    Args:
        path: a SQLite file, created where there is none, readable by its owner alone (0600, in a
            folder of 0700), as are SQLite's files beside it; None for a cache in memory.

    Raises:
        VoicenymError: if the file cannot be opened or is no such cache.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        with using(path):
            if path is not None:
                _made(path)
            self._base = sqlite3.connect(path or ":memory:")
            self._base.execute(TABLE.replace("TABLE", "TABLE IF NOT EXISTS", 1))
            self._base.execute(f"PRAGMA application_id = {APPLICATION}")

    @staticmethod
    def _id(identity: str) -> bytes:
        return hashlib.sha256(identity.encode()).digest()

    def get(self, identity: str) -> np.ndarray | None:
        """The vector, float32 ``[dimension]``, or None.

        Raises:
            VoicenymError: the file is damaged.
        """
        with using(self._path):
            row = self._base.execute(
                "SELECT vector FROM vectors WHERE id = ?", (self._id(identity),)
            ).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)

    def put(self, vectors: Iterable[tuple[str, np.ndarray]]) -> None:
        """Store vectors: all of them or, after a kill, none.

        Raises:
            VoicenymError: the file is damaged, or the disk is full.
        """
        rows = [(self._id(i), np.asarray(v, dtype=np.float32).tobytes()) for i, v in vectors]
        with using(self._path), self._base:
            self._base.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)


def _made(path: Path) -> None:
    """Create the file before SQLite does, which would apply the umask; its side files follow."""
    private_folder(path.parent)
    open_private(path, "a").close()
    for suffix in BESIDE:
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            open_private(beside, "a").close()


def is_cache(path: Path) -> bool:
    """Whether a file is a cache of vectors, of this or an earlier release."""
    try:
        if path.is_symlink() or not path.is_file():
            return False
        base = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            marked = base.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
            tables = base.execute("SELECT sql FROM sqlite_master WHERE type = 'table'").fetchall()
        finally:
            base.close()
    except (sqlite3.Error, OSError):
        return False
    return marked or tables == [(TABLE,)]
