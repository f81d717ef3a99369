"""Lines of a run by output, in a temporary database: a million of them take 2 MB of memory."""

from __future__ import annotations

import errno
import json
import weakref
from collections.abc import ItemsView, Iterable, Iterator, MutableMapping, ValuesView
from typing import Any

from voicenym.temporary import folder_for_temporary_files

Line = dict[str, Any]

CACHE_KIBIBYTES = 2048
"""Memory for pages of the database; what exceeds it lies in a temporary file."""


class LineTable(MutableMapping[str, Line]):
    """Mapping of outputs to their lines, in the order of the outputs' names.

    SQLite keeps it in the folder for temporary files, in a file without a name, which is gone when
    the process ends. It holds copies: to change a line, set it again.

    Raises:
        VoicenymError: the environment names a folder for temporary files that cannot be used.
        OSError: of ``table[output] = line`` and :meth:`add`: that folder is full.
    """

    def __init__(self) -> None:
        import sqlite3  # a run of one file has no log

        folder_for_temporary_files()  # SQLite would take another one
        self._errors = sqlite3.Error
        self._base = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._base.close)
        for pragma in ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{CACHE_KIBIBYTES}"):
            self._base.execute(f"PRAGMA {pragma}")
        self._base.execute(
            "CREATE TABLE lines (output BLOB PRIMARY KEY, line TEXT NOT NULL) WITHOUT ROWID"
        )
        self._base.execute("BEGIN")  # and no end: nobody else reads it, and each end would cost

    def __getitem__(self, output: str) -> Line:
        found = self._base.execute("SELECT line FROM lines WHERE output = ?", (_name(output),))
        row = found.fetchone()
        if row is None:
            raise KeyError(output)
        return _line(row[0])

    def __setitem__(self, output: str, line: Line) -> None:
        try:
            self._base.execute(_SET, (_name(output), json.dumps(line)))
        except self._errors as error:
            raise _full(error) from None

    def __delitem__(self, output: str) -> None:
        if not self._base.execute("DELETE FROM lines WHERE output = ?", (_name(output),)).rowcount:
            raise KeyError(output)

    def __contains__(self, output: object) -> bool:
        if not isinstance(output, str):
            return False
        return bool(
            self._base.execute("SELECT 1 FROM lines WHERE output = ?", (_name(output),)).fetchone()
        )

    def __iter__(self) -> Iterator[str]:
        for (output,) in self._base.execute("SELECT output FROM lines ORDER BY output"):
            yield _text(output)

    def __len__(self) -> int:
        return int(self._base.execute("SELECT count(*) FROM lines").fetchone()[0])

    def __bool__(self) -> bool:
        return self._base.execute("SELECT 1 FROM lines LIMIT 1").fetchone() is not None

    def items(self) -> ItemsView[str, Line]:
        return _Items(self)

    def values(self) -> ValuesView[Line]:
        return _Values(self)

    def add(self, lines: Iterable[tuple[str, str]]) -> None:
        """Sets many lines at once, each as JSON."""
        rows = ((_name(output), text) for output, text in lines)
        try:
            self._base.executemany(_SET, rows)
        except self._errors as error:
            raise _full(error) from None

    def rows(self) -> Iterator[tuple[str, Line]]:
        """Outputs and their lines, in one pass over the table."""
        for output, line in self._base.execute("SELECT output, line FROM lines ORDER BY output"):
            yield _text(output), _line(line)


class _Items(ItemsView[str, Line]):
    def __init__(self, table: LineTable) -> None:
        super().__init__(table)
        self._table = table

    def __iter__(self) -> Iterator[tuple[str, Line]]:
        return self._table.rows()


class _Values(ValuesView[Line]):
    def __init__(self, table: LineTable) -> None:
        super().__init__(table)
        self._table = table

    def __iter__(self) -> Iterator[Line]:
        return (line for _, line in self._table.rows())


_SET = "INSERT OR REPLACE INTO lines VALUES (?, ?)"


def _full(error: Exception) -> OSError:
    return OSError(errno.EIO, f"the folder for temporary files takes no more: {error}")


def _name(output: str) -> bytes:
    """Bytes of a name in the order of its characters; undecodable bytes of file names stay."""
    return output.encode("utf-8", "surrogatepass")


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass")


def _line(text: str) -> Line:
    line: Line = json.loads(text)
    return line
