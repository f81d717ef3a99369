"""Run state of a batch: outputs that are done, that failed, and that are in progress.

The runner accesses only a :class:`RunState`, and no file. :class:`LocalRunState` stores the state
in the output folder, for one run at a time on one machine; an engine with workers on several
machines has an implementation of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.run_records.run_lock import RunLock
from voicenym.corpus.run_records.run_log import RunLog
from voicenym.errors import CorpusError

STAMP_DEFAULTS = {"revision": 1}
"""Values of fields that lines of earlier releases lack."""
STAMP_OPTIONAL = ("weights", "edit")


class RunState(Protocol):
    """State of a batch; a context manager around the processing of the batch.

    An output is named by its path below the output folder. Its line holds the stamp (system,
    revision, parameters, weights, derivation, checks of the speaker and of the key), ``sha256`` of
    the output, ``input_check`` (a keyed tag of its recording), or ``error`` after a failure.
    """

    def __enter__(self) -> Self:
        """Starts the processing of the batch.

        Raises:
            CorpusError: another run processes it and cannot share it.
        """

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    @property
    def lines(self) -> Mapping[str, Line]:
        """Lines of settled outputs of this run and earlier ones."""

    def claim(self, output: str, worker: str) -> bool:
        """Assigns this output to ``worker``; False if another worker has it."""

    def worker(self, output: str) -> str | None:
        """Worker that has claimed this output."""

    def settle(self, line: Line) -> None:
        """Records that ``line["output"]`` is done or failed, and ends its claim.

        Raises:
            CorpusError: it cannot be recorded.
        """


class LocalRunState:
    """State in files: the log holds settled outputs, and a lock excludes other runs.

    Claims are stored in memory, because this process's run is the only one. Without a log, nothing
    is stored.

    Args:
        log: path of the log, in the output folder; None without such a folder.
        items: number of recordings of the run, for :mod:`voicenym.corpus.run_records.run_status`.
    """

    def __init__(self, log: Path | None, items: int = 0) -> None:
        self._log = None if log is None else RunLog(log)
        self._lock = None if log is None else RunLock(log.parent)
        self._items = items
        self._claims: dict[str, str] = {}
        self._lines: dict[str, Line] = {}

    def __enter__(self) -> Self:
        if self._log is not None and self._lock is not None:
            folder = self._log.path.parent
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise CorpusError(
                    f"{folder}: cannot be made ({error.strerror}); choose another folder with -o"
                ) from None
            self._lock.acquire()
            try:
                self._log.check_own()
                self._log.read()
                self._lock.describe(items=self._items, settled=len(self._log.lines))
            except BaseException:
                self._lock.release()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._log is None or self._lock is None:
            return
        try:
            self._log.settle()
        finally:
            self._lock.release()

    @property
    def lines(self) -> Mapping[str, Line]:
        return self._lines if self._log is None else self._log.lines

    def claim(self, output: str, worker: str) -> bool:
        return self._claims.setdefault(output, worker) == worker

    def worker(self, output: str) -> str | None:
        return self._claims.get(output)

    def settle(self, line: Line) -> None:
        if self._log is None:
            self._lines[line["output"]] = line
        else:
            self._log.append(line)
        self._claims.pop(line["output"], None)


def join(log: Path | None) -> None:
    """Joins, as a worker process, the run of this process's parent."""
    if log is not None:
        RunLock(log.parent).share()


def same_stamp(line: Mapping[str, Any], stamp: Mapping[str, Any]) -> bool:
    """Whether a line's output was made with this stamp."""
    names = {*stamp, *STAMP_OPTIONAL}
    return all(
        line.get(name, STAMP_DEFAULTS.get(name)) == stamp.get(name, STAMP_DEFAULTS.get(name))
        for name in names
    )


def output_name(target: Path, log: Path | None) -> str:
    """Name of an output in the state: its path below the folder of the log."""
    return str(target) if log is None else os.path.relpath(target, log.parent)
