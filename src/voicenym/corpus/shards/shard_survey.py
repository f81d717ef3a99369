"""Survey of a shard: names of its samples, and who speaks in them, by a worker.

The main process, which has the key, reads no shard: it gets a survey, and gives back the voices of
the samples in it.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from voicenym.corpus.readers import speaker_rule
from voicenym.corpus.shards.formats import parquet_shard, shar_shard, tar_shard
from voicenym.corpus.shards.formats.shard_sample import FieldChoice, Sample
from voicenym.corpus.shards.shard_source import is_packed, plain_file
from voicenym.corpus.shards.shard_unit import RECORDING, Unit
from voicenym.corpus.shards.stores import object_store

READERS: dict[str, Any] = {"tar": tar_shard, "parquet": parquet_shard}
"""Modules that read and write a kind of shard: ``survey``, ``owners`` and ``rewrite``."""
AHEAD = 1 << 16
"""Bytes that a store is asked for at a time where only headers and fields are read."""


@dataclass(frozen=True)
class SpeakerChoice:
    """Who speaks in shards.

    Args:
        fields: of the samples.
        speaker: of all samples; None if fields, folders or the recordings themselves say it.
        level: number of the folder in a tar's keys that names the speaker.
    """

    fields: FieldChoice = field(default_factory=FieldChoice)
    speaker: str | None = None
    level: int | None = None


@dataclass(frozen=True)
class Survey:
    """What the voices of a shard are derived from.

    Args:
        unit: the shard.
        people: speaker by the name of a sample; samples whose speaker is not known are not there.
        named: whether a field names the speakers.
    """

    unit: Unit
    people: dict[str, str]
    named: bool = False


def known(unit: Unit, choice: SpeakerChoice) -> Survey | None:
    """Survey of a unit of which nothing need be read; None for others."""
    if unit.kind != RECORDING:
        return None
    who = unit.speaker if choice.speaker is None else choice.speaker
    return None if who is None else Survey(unit, {unit.name: who})


def survey(unit: Unit, choice: SpeakerChoice, lenient: bool) -> Survey:
    """Samples of a unit and their speakers, by headers, fields and tables alone.

    A field names the speaker; else the folders of a tar's keys; else each sample is a speaker of
    its own, as files are (:mod:`voicenym.corpus.readers.speaker_rule`), and its recording is read.

    Args:
        unit: the shard.
        choice: speakers and fields.
        lenient: accept a tar without an end mark.

    Raises:
        CorpusError: the shard is damaged, or its speakers are not clear.
    """
    if (found := known(unit, choice)) is not None:
        return found
    if unit.kind == RECORDING:
        return Survey(unit, {unit.name: speaker_rule.OWN + object_store.digest(unit.source)})
    if unit.table is not None:
        with plain_file(unit.table[0]) as table:
            samples = shar_shard.survey(table, unit.table[0], choice.fields)
        people = {s.name: who for s in samples if (who := choice.speaker or s.speaker)}
        return Survey(unit, people, True)
    reader = READERS[unit.kind]
    with ExitStack() as stack:
        file: BinaryIO
        if is_packed(unit.source):  # its index needs the whole of it
            file = stack.enter_context(stack.enter_context(plain_file(unit.source)).open("rb"))
        else:
            file = stack.enter_context(object_store.open_read(unit.source, AHEAD))
        samples = reader.survey(file, unit.source, choice.fields, lenient)
        people = _people(reader, file, lenient, unit, samples, choice)
    return Survey(unit, people, any(sample.speaker is not None for sample in samples))


def _people(
    reader: Any,
    file: BinaryIO,
    lenient: bool,
    unit: Unit,
    samples: list[Sample],
    choice: SpeakerChoice,
) -> dict[str, str]:
    names = [sample.name for sample in samples]
    if choice.speaker is not None:
        return dict.fromkeys(names, choice.speaker)
    if any(sample.speaker is not None for sample in samples):
        return {s.name: s.speaker for s in samples if s.speaker is not None}
    found: dict[str, str] = {}
    if unit.kind == "tar" and names:
        keys = [PurePosixPath(name) for name in names]
        folders = speaker_rule.by_folders(Path(unit.source), keys, choice.level)
        found = {n: who for n, who in zip(names, folders, strict=True) if who is not None}
    alone = set(names) - found.keys()
    if alone:
        found.update(reader.owners(file, unit.source, lenient, alone))
    return found
