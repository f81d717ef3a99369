"""Voices and names of the samples of a shard, which the main process derives from the key."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from voicenym.corpus import speaker_rule
from voicenym.corpus.batch import Job
from voicenym.corpus.drawn_names import Names
from voicenym.corpus.shards import object_store, shar_shard
from voicenym.corpus.shards.shard_plan import RECORDING, Unit
from voicenym.corpus.shards.shard_sample import Assignment, FieldChoice, Sample
from voicenym.corpus.shards.shard_source import is_packed, plain_file
from voicenym.corpus.shards.shard_task import READERS


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


def assignments(job: Job, unit: Unit, choice: SpeakerChoice) -> dict[str, Assignment]:
    """Voice and name of each sample; samples whose speaker is not known are left out.

    A field names the speaker; else the folders of a tar's keys; else each sample is a speaker of
    its own, as files are (:mod:`voicenym.corpus.speaker_rule`).

    Raises:
        CorpusError: the shard is damaged, or its speakers are not clear.
    """
    if unit.kind == RECORDING:
        who = unit.speaker if choice.speaker is None else choice.speaker
        if who is None:
            who = speaker_rule.OWN + object_store.digest(unit.source)
        return {unit.name: _assigned(job, unit, unit.name, who, False)}
    if unit.table is not None:
        with plain_file(unit.table[0]) as table:
            samples = shar_shard.survey(table, unit.table[0], choice.fields)
        people = {s.name: who for s in samples if (who := choice.speaker or s.speaker)}
        return {name: _assigned(job, unit, name, who, True) for name, who in people.items()}
    reader = READERS[unit.kind]
    with ExitStack() as stack:
        file: BinaryIO
        if is_packed(unit.source):  # its index needs the whole of it
            file = stack.enter_context(stack.enter_context(plain_file(unit.source)).open("rb"))
        else:
            file = stack.enter_context(object_store.open_read(unit.source))
        samples = reader.survey(file, unit.source, choice.fields, job.lenient)
        people = _people(reader, file, job, unit, samples, choice)
    named = any(sample.speaker is not None for sample in samples)
    return {name: _assigned(job, unit, name, who, named) for name, who in people.items()}


def _people(
    reader: Any, file: BinaryIO, job: Job, unit: Unit, samples: list[Sample], choice: SpeakerChoice
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
        found.update(reader.owners(file, unit.source, job.lenient, alone))
    return found


def _assigned(job: Job, unit: Unit, name: str, who: str, named: bool) -> Assignment:
    utterance = name if unit.kind != "parquet" else f"{unit.name}/{name}"
    pseudonym = job.key.pseudonym(who, utterance if job.per_utterance else None)
    if not job.opaque:
        return Assignment(pseudonym, name)
    names = Names(job.key)
    drawn = names.utterance(who, utterance)
    return Assignment(pseudonym, drawn, names.speaker(who) if named else None)
