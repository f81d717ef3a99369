"""Vectors that were computed before, by content, in one file that survives a kill."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from voicenym.errors import VoicenymError


class VectorCache:
    """Vectors by the identity of what was embedded.

    Args:
        path: a SQLite file, made where there is none; None keeps all in memory.

    Raises:
        VoicenymError: if the file cannot be opened or is no such cache.
    """

    def __init__(self, path: Path | None = None) -> None:
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(path or ":memory:")
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS vectors (id BLOB PRIMARY KEY, vector BLOB NOT NULL)"
            )
        except (sqlite3.Error, OSError) as error:
            raise VoicenymError(
                f"{path}: cannot be used as cache ({error}); delete it or choose another folder"
            ) from error

    @staticmethod
    def _id(identity: str) -> bytes:
        return hashlib.sha256(identity.encode()).digest()

    def get(self, identity: str) -> np.ndarray | None:
        """The vector, float32 ``[dimension]``, or None."""
        row = self._base.execute(
            "SELECT vector FROM vectors WHERE id = ?", (self._id(identity),)
        ).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)

    def put(self, vectors: Iterable[tuple[str, np.ndarray]]) -> None:
        """Keep vectors; all of them or, after a kill, none."""
        rows = [(self._id(i), np.asarray(v, dtype=np.float32).tobytes()) for i, v in vectors]
        with self._base:
            self._base.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
