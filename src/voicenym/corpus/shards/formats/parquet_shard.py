"""Parquet shards with a column of recordings, as Hugging Face writes them.

Such a column is a struct of ``bytes`` and ``path``, or is called ``audio`` and holds bytes. A
``path`` without bytes is not opened. Rows are read and written by row group.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from voicenym.corpus.readers.id_checks import check_word, printable
from voicenym.corpus.readers.speaker_rule import own_of
from voicenym.corpus.shards.formats.shard_sample import (
    MOST_BYTES,
    MOST_SAMPLES,
    Assignments,
    FieldChoice,
    Rewritten,
    Sample,
    Voice,
    base_name,
    is_sound,
    speaker_name,
    written_name,
)
from voicenym.errors import CorpusError, DependencyError

AUDIO = "audio"
"""Name of a column of bytes that are recordings."""
MOST_COLUMN = 1 << 32
"""Most bytes of a column of a row group, unpacked."""
BATCH = 16
"""Rows that are decoded at a time."""
UNNAMED = ".wav"
"""Extension of a recording without a path."""


@dataclass(frozen=True)
class ParquetRow:
    """A row by its number in the shard."""

    name: str
    number: int
    values: dict[str, Any]


class ParquetShard:
    """A Parquet file that is open.

    Args:
        file: at any position.
        where: its name, for messages.

    Raises:
        CorpusError: no Parquet file, no recordings in it, or row groups that are too large.
        DependencyError: pyarrow is missing.
    """

    def __init__(self, file: BinaryIO, where: str) -> None:
        try:
            import pyarrow as arrow  # type: ignore[import-untyped]
            from pyarrow import parquet  # type: ignore[import-untyped]
        except ImportError:
            raise DependencyError(
                f"{where}: reading Parquet needs pyarrow: pip install 'voicenym[stores]'"
            ) from None
        self.where = where
        file.seek(0)
        try:
            self._file = parquet.ParquetFile(
                file, pre_buffer=False, page_checksum_verification=True
            )
            self.schema = self._file.schema_arrow
        except (arrow.ArrowException, OSError, ValueError) as error:
            raise self.damaged(error) from None
        if self.length > MOST_SAMPLES:
            raise CorpusError(f"{where}: has over {MOST_SAMPLES} rows; make more shards of it")
        self.sounds = [field.name for field in self.schema if _is_audio(field)]
        self.names = [field.name for field in self.schema]
        if not self.sounds:
            raise CorpusError(
                f"{where}: has no column of recordings (a struct of bytes and path, or bytes "
                f"called {AUDIO}); it has: {', '.join(map(printable, self.names)) or 'none'}"
            )
        if len(set(self.names)) < len(self.names):
            raise CorpusError(f"{where}: two columns have one name; rename one")

    def damaged(self, error: Exception) -> CorpusError:
        """Error for a file that cannot be decoded."""
        text = printable(" ".join(str(error).split()))[:120]
        return CorpusError(
            f"{self.where}: is no whole Parquet file ({text}); get a whole copy of it"
        )

    def rows(self, columns: list[str], group: int | None = None) -> Iterator[ParquetRow]:
        """Rows with some columns; ``audio.path`` is part of a column.

        Args:
            columns: to read.
            group: number of the row group; None for all.

        Raises:
            CorpusError: the file is damaged.
        """
        import pyarrow as arrow

        groups = range(self._file.num_row_groups) if group is None else [group]
        for one in groups:
            self._check_size(one, columns)
            number = self._starts[one]
            try:
                for batch in self._file.iter_batches(BATCH, [one], columns, use_threads=False):
                    for values in batch.to_pylist():
                        yield ParquetRow(f"row {number}", number, values)
                        number += 1
            except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
                raise self.damaged(error) from None

    @cached_property
    def _starts(self) -> list[int]:
        """Number of the first row of each group."""
        there = self._file.metadata
        rows = (there.row_group(number).num_rows for number in range(self.groups))
        return list(accumulate(rows, initial=0))

    @property
    def length(self) -> int:
        """Number of rows."""
        return int(self._file.metadata.num_rows)

    @property
    def groups(self) -> int:
        """Number of row groups."""
        return int(self._file.num_row_groups)

    def _check_size(self, group: int, columns: list[str]) -> None:
        there = self._file.metadata.row_group(group)
        for number in range(there.num_columns):
            column = there.column(number)
            wanted = column.path_in_schema.split(".")[0] in {c.split(".")[0] for c in columns}
            if wanted and column.total_uncompressed_size > MOST_COLUMN:
                raise CorpusError(
                    f"{self.where}: a row group has over 4 GiB of "
                    f"{printable(column.path_in_schema)}; write it with smaller row groups"
                )


def survey(file: BinaryIO, where: str, choice: FieldChoice, lenient: bool) -> list[Sample]:
    """Rows and their speakers, without their recordings.

    Raises:
        CorpusError: as of :class:`ParquetShard`; chosen columns are not there.
    """
    shard = ParquetShard(file, where)
    choice.check(where, shard.names)
    named = choice.speaker_field(shard.names)
    if named is None:
        return [Sample(f"row {number}", None) for number in range(shard.length)]
    found = []
    for row in shard.rows([named]):
        try:
            found.append(Sample(row.name, speaker_name(where, row.values[named])))
        except CorpusError:
            continue  # a fault, which rewrite reports
    return found


def owners(file: BinaryIO, where: str, lenient: bool, names: set[str]) -> Iterator[tuple[str, str]]:
    """Names of rows, and of the speakers that they are if nothing else names one."""
    shard = ParquetShard(file, where)
    for row in shard.rows(shard.sounds):
        if row.name in names:
            data = [content_of(row.values[column])[0] or b"" for column in shard.sounds]
            yield row.name, own_of(b"".join(data))


def rewrite(
    file: BinaryIO,
    where: str,
    target: Path,
    assigned: Assignments,
    choice: FieldChoice,
    voice: Voice,
    *,
    lenient: bool = False,
    opaque: bool = False,
) -> Rewritten:
    """Writes the shard of the anonymized rows, with the row groups of the original.

    Args:
        file: the original, open.
        where: its name, for messages.
        target: file to write.
        assigned: voices and new names by row.
        choice: columns that travel.
        voice: anonymizes a recording.
        lenient: without effect here.
        opaque: whether names are new; rows are then in the order of the new names within a group.

    Raises:
        CorpusError: as of :class:`ParquetShard`.
    """
    import pyarrow as arrow
    from pyarrow import parquet

    shard, done = ParquetShard(file, where), Rewritten()
    speaker, labels = choice.speaker_field(shard.names), choice.labels(shard.names)
    kept = [n for n in shard.names if n in (*shard.sounds, *labels, speaker)]
    done.behind = set(shard.names) - set(kept)
    drawn = any(one.speaker is not None for one in assigned.values())
    fields = []
    for name in kept:
        kind = shard.schema.field(name).type
        if name in shard.sounds:
            kind = arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
        elif name == speaker and drawn:
            kind = arrow.string()
        fields.append(arrow.field(name, kind))
    schema = arrow.schema(fields, metadata=_metadata(shard))
    with parquet.ParquetWriter(
        str(target), schema, compression="zstd", write_page_checksum=True
    ) as writer:
        for group in range(shard.groups):
            made: dict[str, list[Any]] = {name: [] for name in kept}
            new = []
            for row in shard.rows(kept, group):
                try:
                    new.append(
                        _anonymized(
                            shard, row, speaker, labels, assigned, choice, voice, done, opaque
                        )
                    )
                except CorpusError as error:
                    done.failures[row.name] = str(error)
            for _, values in sorted(new, key=lambda one: one[0]) if opaque else new:
                for name, value in values.items():
                    made[name].append(value)
            if new:
                writer.write_table(arrow.table(made, schema=schema))
    return done


def _anonymized(
    shard: ParquetShard,
    row: ParquetRow,
    speaker: str | None,
    labels: list[str],
    assigned: Assignments,
    choice: FieldChoice,
    voice: Voice,
    done: Rewritten,
    opaque: bool,
) -> tuple[str, dict[str, Any]]:
    """New name and values of a row."""
    place = f"{shard.where} ({row.name})"
    new = assigned.get(row.name)
    if new is None:
        raise CorpusError(f"{place}: names no valid speaker; fill in its {speaker}")
    values: dict[str, Any] = {n: choice.value(place, n, row.values[n]) for n in labels}
    if speaker is not None:
        values[speaker] = row.values[speaker] if new.speaker is None else new.speaker
    for column in shard.sounds:
        data, path = content_of(row.values[column])
        if data is None:
            raise CorpusError(
                f"{place}: has no bytes in {printable(column)}; a path in it is not opened: embed "
                "the recordings"
            )
        if len(data) > MOST_BYTES:
            raise CorpusError(f"{place}: is larger than 2 GiB; give it as a file of its own")
        suffix = path.suffix if is_sound(path.suffix) else UNNAMED
        sound = voice(place, data, suffix, new.pseudonym, done)
        stem = new.name if opaque or not path.stem else path.stem
        called = check_word(place, written_name(stem, suffix)) if path.name else None
        values[column] = {"bytes": sound, "path": called}
    done.recordings += len(shard.sounds)
    return new.name, values


def content_of(value: Any) -> tuple[bytes | None, PurePosixPath]:
    """Bytes of a recording in a column, if it has some, and the last part of its path."""
    if isinstance(value, dict):
        return value.get("bytes"), base_name(value.get("path"))
    return value, PurePosixPath()


def _is_audio(field: Any) -> bool:
    from pyarrow import types

    kind = field.type
    if types.is_struct(kind):
        inner = {kind.field(i).name: kind.field(i).type for i in range(kind.num_fields)}
        return set(inner) == {"bytes", "path"} and _is_bytes(inner["bytes"])
    return field.name == AUDIO and _is_bytes(kind)


def _is_bytes(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_binary(kind) or types.is_large_binary(kind))


def _metadata(shard: ParquetShard) -> dict[str, str] | None:
    """Says to Hugging Face's library which columns are recordings; nothing else travels."""
    if b"huggingface" not in (shard.schema.metadata or {}):
        return None
    features = {name: {"_type": "Audio"} for name in shard.sounds}
    return {"huggingface": json.dumps({"info": {"features": features}})}
