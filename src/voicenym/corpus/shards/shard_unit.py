"""Units of a run over shards or stores: what one task reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from voicenym.corpus.excerpt import Passage
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.shards.shard_source import GZIP, ZSTANDARD
from voicenym.corpus.shards.stores import object_store

SHARDS = {
    ".tar": "tar",
    ".parquet": "parquet",
    **dict.fromkeys((*GZIP, *ZSTANDARD), "tar"),
}
"""Kinds of shards by extension."""
RECORDING = "recording"
"""Kind of a file that is a recording of its own."""
SHAR = "shar"
"""Kind of the recordings of a lhotse Shar, of which only its cuts know the speakers."""
LEDGER = "voicenym-ledger"
"""Folder of the ledger in a store."""


@dataclass(frozen=True)
class Unit:
    """A shard or a recording that one task reads and writes.

    Args:
        source: path or URL.
        target: path or URL.
        name: of the output below the output folder.
        kind: of :data:`SHARDS`, :data:`SHAR`, or :data:`RECORDING`.
        speaker: of a recording whose folder or table names it; None otherwise.
        table: of a Shar: paths or URLs of its cuts, and of the new ones; None otherwise.
        utterance: name of a recording in its corpus; empty otherwise.
        passage: of a recording of which a part is anonymized: that part, whose path is not used;
            None for the whole.
    """

    source: str
    target: str
    name: str
    kind: str
    speaker: str | None = None
    table: tuple[str, str] | None = None
    utterance: str = ""
    passage: Passage | None = None

    @property
    def targets(self) -> list[str]:
        """Paths or URLs of all that is written."""
        return [self.target] if self.table is None else [self.target, self.table[1]]

    def __str__(self) -> str:
        return self.source if self.passage is None else f"{self.source} ({self.utterance})"


@dataclass(frozen=True)
class ShardPlan:
    """Units of a run, and what is not done.

    Args:
        units: of the run.
        skipped: names below the inputs that are not read, with reasons.
        missing: recordings that a table names and that cannot be read, and parts of a Shar without
            the others: the place, and the reason.
        finish: writes the tables of a data set from the ledger's lines of the outputs that are
            there, and returns their locations; None without tables.
        check_tables: refuses to replace tables that no earlier run wrote; None without tables.
    """

    units: list[Unit]
    skipped: list[str]
    missing: list[tuple[str, str]] = field(default_factory=list)
    finish: Callable[[Mapping[str, Line]], list[str]] | None = None
    check_tables: Callable[[], None] | None = None


def kind_of(name: str) -> str | None:
    """Kind of a shard by its name; None for other files."""
    found = (kind for suffix, kind in SHARDS.items() if name.lower().endswith(suffix))
    return next(found, None)


def version_of(unit: Unit) -> str | None:
    """What tells versions of a unit's inputs apart, as of :func:`object_store.identity`.

    Raises:
        CorpusError: the store cannot be asked.
    """
    version = object_store.identity(unit.source)
    if version is not None and unit.passage is not None:
        return f"{version} {unit.passage.part}"
    if version is None or unit.table is None:
        return version
    return f"{version} {object_store.identity(unit.table[0])}"
