"""Voices and names of the samples of a shard, which the main process derives from the key."""

from __future__ import annotations

from voicenym.corpus.batches.batch import Job
from voicenym.corpus.drawn_names import Names
from voicenym.corpus.shards.formats.shard_sample import Assignment
from voicenym.corpus.shards.shard_survey import Survey
from voicenym.corpus.shards.shard_unit import Unit


def assignments(job: Job, survey: Survey) -> dict[str, Assignment]:
    """Voice and name of each sample of a survey."""
    return {
        name: _assigned(job, survey.unit, name, who, survey.named)
        for name, who in survey.people.items()
    }


def _assigned(job: Job, unit: Unit, name: str, who: str, named: bool) -> Assignment:
    utterance = name if unit.kind != "parquet" else f"{unit.name}/{name}"
    utterance = unit.utterance or utterance
    pseudonym = job.key.pseudonym(who, utterance if job.per_utterance else None)
    if not job.opaque:
        return Assignment(pseudonym, name)
    names = Names(job.key)
    drawn = names.utterance(who, utterance)
    return Assignment(pseudonym, drawn, names.speaker(who) if named else None)
