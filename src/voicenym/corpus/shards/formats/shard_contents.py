"""Recordings in a shard with their labels, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from voicenym.corpus.readers.id_checks import printable
from voicenym.corpus.shards.formats.parquet_shard import UNNAMED, ParquetShard, content_of
from voicenym.corpus.shards.formats.shar_shard import cuts_of, sounds_of
from voicenym.corpus.shards.formats.shard_sample import MOST_BYTES, is_sound
from voicenym.corpus.shards.formats.tar_index import bytes_of, fields_of, index, text_of
from voicenym.corpus.shards.shard_source import plain_file
from voicenym.corpus.shards.shard_unit import Unit
from voicenym.errors import CorpusError

TEXT_FIELDS = ("text", "transcript", "transcription", "sentence")
"""Names of the field of the transcript, in the order in which they are looked for."""


@dataclass(frozen=True)
class Content:
    """A recording of a sample, or what is wrong with it.

    Args:
        sample: its sample, as a survey names it.
        name: of the recording, within the shard.
        data: the file; empty with a fault.
        suffix: of the file.
        labels: by name: ``text``, ``sex``, ``age``, ``accent`` and ``emotion``, where known.
        start, end: seconds within the file; an ``end`` of None is its end.
        fault: why it cannot be used; empty if it can.
    """

    sample: str
    name: str
    data: bytes = b""
    suffix: str = ""
    labels: Mapping[str, str] | None = None
    start: float = 0.0
    end: float | None = None
    fault: str = ""


def contents(unit: Unit, file: BinaryIO, lenient: bool = False) -> Iterator[Content]:
    """Recordings of a shard, in its order.

    Args:
        unit: the shard.
        file: its file, not compressed, open at any position.
        lenient: accept a tar without an end mark.

    Raises:
        CorpusError: the shard is damaged.
        DependencyError: a package that reads it is missing.
    """
    if unit.table is not None:
        with plain_file(unit.table[0]) as table:
            yield from _of_shar(unit, file, table, lenient)
    elif unit.kind == "parquet":
        yield from _of_parquet(unit, file)
    else:
        yield from _of_tar(unit, file, lenient)


def _of_tar(unit: Unit, file: BinaryIO, lenient: bool) -> Iterator[Content]:
    for sample in index(file, unit.source, lenient):
        if sample.fault:
            yield Content(sample.name, sample.name, fault=sample.fault)
            continue
        try:
            labels = labels_of(fields_of(file, sample, unit.source) or {})
            if "txt" in sample.members:
                labels["text"] = text_of(file, sample.members["txt"], unit.source).strip()
        except CorpusError as error:
            yield Content(sample.name, sample.name, fault=str(error))
            continue
        for sound in sample.sounds:
            stem = sound.extension.rpartition(".")[0]
            name = f"{sample.name}.{stem}" if stem else sample.name
            if sound.size > MOST_BYTES:
                yield Content(sample.name, name, fault=_too_large(unit, name))
            else:
                data = bytes_of(file, sound)
                yield Content(sample.name, name, data, sound.suffix, labels)


def _of_parquet(unit: Unit, file: BinaryIO) -> Iterator[Content]:
    shard = ParquetShard(file, unit.source)
    wanted = ("gender", "sex", "age", "accent", "emotion", *TEXT_FIELDS)
    columns = [name for name in shard.names if name in (*shard.sounds, *wanted)]
    for row in shard.rows(columns):
        labels = labels_of(row.values)
        for column in shard.sounds:
            data, path = content_of(row.values[column])
            own = f"{row.name} {column}" if len(shard.sounds) > 1 else row.name
            name = path.stem if len(shard.sounds) == 1 and path.stem else own
            suffix = path.suffix if is_sound(path.suffix) else UNNAMED
            if data is None:
                why = (
                    f"{unit.source} ({row.name}): has no bytes in {printable(column)}; a path in "
                    "it is not opened: embed the recordings"
                )
                yield Content(row.name, name, fault=why)
            elif len(data) > MOST_BYTES:
                yield Content(row.name, name, fault=_too_large(unit, name))
            else:
                yield Content(row.name, name, data, suffix, labels)


def _of_shar(unit: Unit, file: BinaryIO, table: Path, lenient: bool) -> Iterator[Content]:
    assert unit.table is not None
    sounds = sounds_of(file, unit.source, lenient)
    for name, cut in cuts_of(table, unit.table[0]).items():
        sound = sounds.get(name)
        if sound is None or sound.size > MOST_BYTES:
            why = f"{unit.source} ({printable(name)}): has no sound in the tar"
            yield Content(name, name, fault=_too_large(unit, name) if sound else why)
            continue
        suffix = sound.suffix if is_sound(sound.suffix) else UNNAMED
        data = bytes_of(file, sound)
        for one in cut.supervisions:
            start = max(0.0, one.start)
            whole = start == 0.0 and one.duration >= cut.duration - 0.01
            end = None if whole else min(one.end, cut.duration)
            labels = labels_of({"gender": one.gender, "text": one.text, **(one.custom or {})})
            yield Content(name, one.id, data, suffix, labels, start, end)


def labels_of(fields: Mapping[str, Any]) -> dict[str, str]:
    """Labels of a recording from the fields of its sample; others, and other types, are ignored.

    Example:
        >>> labels_of({"gender": "Female", "sentence": " Hello. ", "age": 31, "mood": "calm"})
        {'text': 'Hello.', 'sex': 'f', 'age': '31'}
    """

    def first(*names: str) -> str:
        values = (fields.get(name) for name in names)
        return next((v.strip() for v in values if isinstance(v, str) and v.strip()), "")

    sex = first("gender", "sex").lower()
    age = fields.get("age")
    found = {
        "text": first(*TEXT_FIELDS),
        "sex": sex[:1] if sex in ("f", "m", "female", "male") else "",
        "age": str(age) if type(age) in (int, float) else first("age"),
        "emotion": first("emotion").lower(),
        "accent": first("accent").lower(),
    }
    return {name: value for name, value in found.items() if value}


def _too_large(unit: Unit, name: str) -> str:
    return f"{unit.source} ({printable(name)}): is larger than 2 GiB; give it as a file of its own"
