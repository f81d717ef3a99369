"""Run state of a batch: outputs that are done, that failed, and that are in progress.

The runner reads and writes a :class:`RunState` and knows no file. :class:`LocalRunState` keeps the
state in the output folder, for one run at a time on one machine; an engine with workers on several
machines brings an implementation of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from voicenym.corpus.run_lock import RunLock
from voicenym.corpus.run_log import Line, RunLog
from voicenym.errors import CorpusError

STAMP_DEFAULTS = {"revision": 1}
"""Values that lines of earlier releases imply."""
STAMP_OPTIONAL = ("weights",)


class RunState(Protocol):
    """The state of a batch; a context manager, within which the batch may be worked on.

    An output is named by its path below the output folder. Its line says what was made: the stamp
    (system, revision, parameters, weights, derivation, whose voice, a check of the key),
    ``sha256`` of the output, ``input_check`` (a tag by the key of the recording that it was made
    of), or ``error`` where it failed.
    """

    def __enter__(self) -> Self:
        """Begin to work on the batch.

        Raises:
            CorpusError: another run works on it and cannot share it.
        """

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    @property
    def lines(self) -> Mapping[str, Line]:
        """Settled outputs of this run and earlier ones."""

    def claim(self, output: str, worker: str) -> bool:
        """Say that ``worker`` makes this output now; false where another one does."""

    def worker(self, output: str) -> str | None:
        """The worker that makes this output now."""

    def settle(self, line: Line) -> None:
        """Say that ``line["output"]`` is done, or that it failed, and give it free.

        Raises:
            CorpusError: it cannot be recorded.
        """


class LocalRunState:
    """State in files: the log holds settled outputs, a lock excludes other runs.

    Claims are those of this process's run, the only one there is: they live in memory, and are
    gone with it. Without a log, nothing is kept.

    Args:
        log: path of the log, in the output folder; None where there is no such folder.
    """

    def __init__(self, log: Path | None) -> None:
        self._log = None if log is None else RunLog(log)
        self._lock = None if log is None else RunLock(log.parent)
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
                self._log.read()
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
    """Take part, as a worker process, in the run that this process's parent began."""
    if log is not None:
        RunLock(log.parent).share()


def same_stamp(line: Mapping[str, Any], stamp: Mapping[str, Any]) -> bool:
    """Whether a line's output was made as a job with this stamp makes it."""
    names = {*stamp, *STAMP_OPTIONAL}
    return all(
        line.get(name, STAMP_DEFAULTS.get(name)) == stamp.get(name, STAMP_DEFAULTS.get(name))
        for name in names
    )


def output_name(target: Path, log: Path | None) -> str:
    """The name of an output in the state: its path below the folder of the log."""
    return str(target) if log is None else os.path.relpath(target, log.parent)
