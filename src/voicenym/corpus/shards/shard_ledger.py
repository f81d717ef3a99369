"""Ledger of a run over shards: the log of an output folder, or one object per output in a store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from voicenym.corpus.file_plan import LOG_NAME
from voicenym.corpus.run_log import Line
from voicenym.corpus.run_state import LocalRunState, RunState
from voicenym.corpus.shards import object_store
from voicenym.corpus.shards.shard_plan import LEDGER


class StoreRunState:
    """State in a store: ``voicenym-ledger/OUTPUT.json`` holds the line of an output.

    A store has no locks: that an output is written once is due to its own conditional put, and two
    runs at a time are allowed. A line is written after its output; a lost one costs a comparison.

    Args:
        folder: URL of the output folder.
        names: of the outputs of this run, whose lines are read.
    """

    def __init__(self, folder: str, names: list[str]) -> None:
        self._folder, self._names = folder, names
        self._lines: dict[str, Line] = {}
        self._claims: dict[str, str] = {}

    def __enter__(self) -> Self:
        for name in self._names:
            data = object_store.read_bytes(self._place(name))
            try:
                line = json.loads(data) if data else None
            except ValueError:
                continue  # no line of ours: the output is compared
            if isinstance(line, dict) and line.get("output") == name:
                self._lines[name] = line
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

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
        object_store.write_json(self._place(line["output"]), line)
        self._claims.pop(line["output"], None)

    def _place(self, name: str) -> str:
        return object_store.join(self._folder, f"{LEDGER}/{name}.json")


def ledger_of(output: str, names: list[str]) -> RunState:
    """Ledger of an output folder.

    Args:
        output: path or URL.
        names: of the outputs of this run.
    """
    if object_store.is_url(output):
        return StoreRunState(output, names)
    return LocalRunState(Path(output) / LOG_NAME, len(names))
