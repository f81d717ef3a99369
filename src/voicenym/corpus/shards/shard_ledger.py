"""Ledger of a run over shards: the log of an output folder, or one object per output in a store."""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from voicenym.corpus.run_records import run_log
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.run_records.run_lock import lives
from voicenym.corpus.run_records.run_log import LOG_NAME
from voicenym.corpus.run_records.run_state import LocalRunState, RunState
from voicenym.corpus.run_records.run_status import RunStatus, status_from
from voicenym.corpus.shards.shard_unit import LEDGER
from voicenym.corpus.shards.stores import object_store, object_writes, store_locations
from voicenym.errors import CorpusError

RUNS = f"{LEDGER}/run/"
"""Folder of what runs say of themselves while they work."""
PATIENCE = 20.0
"""Seconds that a run which was interrupted waits for the store at its end."""


class StoreRunState:
    """State in a store: ``voicenym-ledger/OUTPUT.json`` holds the line of an output.

    A store has no locks: that an output is written once is due to its own conditional put, and two
    runs at a time are allowed. A line is written after its output; a lost one costs a comparison.
    While a run works, ``voicenym-ledger/run/NUMBER.json`` says so, for :func:`status_of_store`.

    Lines of outputs that another run settles meanwhile are not seen.

    Args:
        folder: URL of the output folder.
        names: of the outputs of this run.
    """

    def __init__(self, folder: str, names: list[str]) -> None:
        self._folder, self._names = folder, names
        self._lines: dict[str, Line] = {}
        self._claims: dict[str, str] = {}
        self._run = store_locations.join(folder, f"{RUNS}{secrets.token_hex(8)}.json")

    def __enter__(self) -> Self:
        self._lines = lines_of_store(self._folder)
        self._forget_dead()
        owner = {"pid": os.getpid(), "host": socket.gethostname(), "started": time.time()}
        facts = {"items": len(self._names), "settled": len(self._lines)}
        object_writes.write_json(self._run, {**owner, **facts})
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._forget_own()
            return
        # An interrupt may have left a lock of a library held, for which a store's thread waits.
        last = threading.Thread(target=self._forget_own, daemon=True)
        last.start()
        last.join(PATIENCE)

    def _forget_own(self) -> None:
        """Removes what this run has said of itself."""
        with suppress(CorpusError):  # then the next reader sees a run that does not live
            object_writes.remove(self._run)

    def _forget_dead(self) -> None:
        """Removes what runs of this machine that were killed have said of themselves."""
        folder = store_locations.join(self._folder, RUNS)
        for name, data in object_store.read_all(folder).items():
            if (holder := _holder(data)) and not lives(holder):
                object_writes.remove(store_locations.join(folder, name))

    @property
    def lines(self) -> Mapping[str, Line]:
        """Lines of settled outputs of this run and earlier ones."""
        return self._lines

    def claim(self, output: str, worker: str) -> bool:
        """Assigns this output to ``worker``; False if another worker of this run has it."""
        return self._claims.setdefault(output, worker) == worker

    def worker(self, output: str) -> str | None:
        """Worker that has claimed this output."""
        return self._claims.get(output)

    def settle(self, line: Line) -> None:
        """Writes the line of ``line["output"]``.

        Raises:
            CorpusError: the store does not take it.
        """
        self._lines[line["output"]] = line
        object_writes.write_json(self._place(line["output"]), line)
        self._claims.pop(line["output"], None)

    def _place(self, name: str) -> str:
        return store_locations.join(self._folder, f"{LEDGER}/{name}.json")


def lines_of_store(folder: str) -> dict[str, Line]:
    """Lines of the ledger of an output folder, by output.

    Args:
        folder: its URL.

    Raises:
        CorpusError: the store cannot be read.
    """
    lines: dict[str, Line] = {}
    for name, data in object_store.read_all(store_locations.join(folder, LEDGER)).items():
        try:
            line = json.loads(data)
        except (ValueError, RecursionError):
            continue  # no line of ours: the output is compared
        if isinstance(line, dict) and name == f"{line.get('output')}.json":
            lines[line["output"]] = line
    return lines


def status_of_store(folder: str) -> RunStatus:
    """Progress of a run whose outputs are in a store.

    Args:
        folder: URL of the output folder.

    Raises:
        CorpusError: the store cannot be read, or no run has written there.
    """
    found = object_store.read_all(store_locations.join(folder, LEDGER))
    lines: dict[str, Line] = {}
    runs: list[dict[str, object]] = []
    for name, data in found.items():
        try:
            content = json.loads(data)
        except (ValueError, RecursionError):
            continue
        if not isinstance(content, dict):
            continue
        if isinstance(content.get("output"), str):
            lines[content["output"]] = content
        elif name.startswith("run/"):
            runs.append(_holder(data))
    living = [run for run in runs if lives(run)]
    if not lines and not living:
        raise CorpusError(
            f"{folder}: no run has written to it ({LEDGER}/ is missing); give the URL after -o"
        )
    return status_from(lines, living[-1] if living else None)


def _holder(data: bytes) -> dict[str, object]:
    """What a run said of itself; nothing if it is not understood, or is the line of an output in a
    folder of that name.
    """
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    known = isinstance(content, dict) and isinstance(content.get("pid"), int) and "host" in content
    known = known and "output" not in content
    return content if known else {}


def lines_before(output: str) -> Mapping[str, Line]:
    """Lines of the ledger of an output folder, read beside a run that may write it.

    Args:
        output: path or URL.

    Raises:
        CorpusError: it cannot be read.
    """
    if store_locations.is_url(output):
        return lines_of_store(output)
    return run_log.lines_before(Path(output) / LOG_NAME)


def ledger_of(output: str, names: list[str]) -> RunState:
    """Ledger of an output folder.

    Args:
        output: path or URL.
        names: of the outputs of this run.
    """
    if store_locations.is_url(output):
        return StoreRunState(output, names)
    return LocalRunState(Path(output) / LOG_NAME, len(names))
