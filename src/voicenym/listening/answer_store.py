"""Answers in SQLite: written at once, each page of a listener once, whatever is sent again.

The database is in write-ahead mode with full synchronisation: an answer that was acknowledged
survives a power cut. Order is by a running number, so that a changed clock moves nothing.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.private import open_private

SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  listener TEXT NOT NULL,
  page TEXT NOT NULL,
  answers TEXT NOT NULL,
  seconds REAL,
  plays INTEGER,
  at REAL NOT NULL,
  UNIQUE (listener, page)
)
"""


class NotStoredError(VoicenymError):
    """An answer that could not be written; the listener's browser keeps it and sends it again."""


@dataclass(frozen=True)
class Stored:
    """Answers of one page.

    Args:
        listener: of the study, such as ``L001``.
        page: its name.
        answers: values by question; of sliders by ``QUESTION:CLIP``.
        seconds: from the page's display to the answer, by the browser's monotonic clock.
        plays: how often clips were played.
        at: seconds since 1970, by the server's clock; for information alone.
    """

    listener: str
    page: str
    answers: dict[str, Any]
    seconds: float | None
    plays: int | None
    at: float


class AnswerStore:
    """Answers of a study; safe for threads.

    Args:
        path: the database, which is made if it is missing.

    Raises:
        VoicenymError: it cannot be opened or is no database.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            if not path.exists():
                open_private(path, "ab").close()
            self._base = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=FULL")
            self._base.execute("PRAGMA busy_timeout=10000")
            self._base.execute(SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise VoicenymError(
                f"{path}: cannot be opened as answers ({error}); check the disk and the file"
            ) from error

    def add(
        self,
        listener: str,
        page: str,
        answers: Mapping[str, Any],
        seconds: float | None = None,
        plays: int | None = None,
    ) -> bool:
        """Stores the answers of a page; the first ones stay.

        Returns:
            False if the page was answered before.

        Raises:
            NotStoredError: the disk is full, or cannot be written.
        """
        text = json.dumps(dict(answers), ensure_ascii=False)
        with self._lock:
            try:
                done = self._base.execute(
                    "INSERT INTO answers (listener, page, answers, seconds, plays, at) "
                    "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (listener, page) DO NOTHING",
                    (listener, page, text, seconds, plays, time.time()),
                )
            except sqlite3.Error as error:
                raise NotStoredError(
                    f"{self.path}: the answer cannot be stored ({error}); free some space"
                ) from error
            return done.rowcount == 1

    def answered(self, listener: str) -> dict[str, dict[str, Any]]:
        """Answers of a listener by page, in the order of their arrival."""
        with self._lock:
            rows = self._base.execute(
                "SELECT page, answers FROM answers WHERE listener = ? ORDER BY sequence",
                (listener,),
            ).fetchall()
        return {page: json.loads(text) for page, text in rows}

    def everything(self) -> list[Stored]:
        """All answers in the order of their arrival."""
        with self._lock:
            rows = self._base.execute(
                "SELECT listener, page, answers, seconds, plays, at FROM answers ORDER BY sequence"
            ).fetchall()
        return [Stored(w, p, json.loads(text), s, n, at) for w, p, text, s, n, at in rows]

    def close(self) -> None:
        """Closes the database; its journal is merged into it."""
        with self._lock:
            self._base.close()
