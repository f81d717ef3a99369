"""Outputs and tables that earlier runs left in a folder of an object store."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from voicenym.corpus.plans.earlier_tables import EarlierHere, EarlierRuns, ids_of
from voicenym.corpus.shards.shard_ledger import lines_of_store
from voicenym.corpus.shards.shard_unit import LEDGER
from voicenym.corpus.shards.stores import object_store, store_locations


class EarlierInStore(EarlierRuns):
    """Those in a folder of a store, as they were when they were first asked for.

    Args:
        output: URL of the folder of the ledger.
        sound: folder of the recordings below it, such as ``wav``.
        tables: folder of the tables below it; empty for itself.
        private: folder of this machine for copies of tables.
    """

    log = f"{LEDGER}/"

    def __init__(self, output: str, sound: str, tables: str, private: Path) -> None:
        self._output, self._sound, self._private = output, sound, private
        self._tables = store_locations.join(output, tables) if tables else output
        self._versions: dict[str, str | None] = {}

    def outputs(self) -> dict[str, str]:
        found = ids_of(lines_of_store(self._output), self._sound)
        return {one: store_locations.join(self._output, name) for one, name in found.items()}

    def is_there(self, location: str) -> bool:
        return location in self._found

    @cached_property
    def _found(self) -> frozenset[str]:
        return frozenset(one.location for one in object_store.find_any(self._output))

    def place(self, table: str) -> str:
        return store_locations.join(self._tables, table)

    def version(self, table: str) -> str | None:
        if table not in self._versions:
            self._versions[table] = object_store.version(self.place(table))
        return self._versions[table]

    def read(self, table: str) -> Path | None:
        if self.version(table) is None:
            return None
        data = object_store.read_bytes(self.place(table))
        if data is None:
            return None
        self._private.mkdir(parents=True, exist_ok=True)
        path = self._private / table
        path.write_bytes(data)
        return path


def earlier_runs(output: str, sound: str, tables: str, private: Path) -> EarlierRuns:
    """Earlier runs into an output folder.

    Args:
        output: path or URL of the folder of the log.
        sound: folder of the recordings below that of the tables, such as ``wav``.
        tables: folder of the tables below the output folder; empty for itself.
        private: folder of this machine for copies of tables.
    """
    sound = f"{tables}/{sound}" if tables else sound
    if store_locations.is_url(output):
        return EarlierInStore(output, sound, tables, private)
    return EarlierHere(Path(output), sound, tables)
