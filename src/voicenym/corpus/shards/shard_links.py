"""Links samples of anonymized shards to speakers' names, by the key that made them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from voicenym.corpus.drawn_names import Names
from voicenym.corpus.readers import speaker_rule
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.shards import shard_plan
from voicenym.corpus.shards.formats.shard_sample import FieldChoice
from voicenym.corpus.shards.shard_survey import SpeakerChoice, survey
from voicenym.corpus.shards.shard_unit import RECORDING, Unit
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key

LEVELS = (None, *range(10))
"""Values of ``--speaker-level`` that a run may have had."""


@dataclass(frozen=True)
class ShardLinks:
    """What shards say of speakers.

    Args:
        found: shards and samples by speaker, such as ``a.tar (u1)``.
        unknown: outputs that do not say who speaks in them.
    """

    found: Mapping[str, Sequence[str]]
    unknown: Sequence[str]


def choice_tag(key: Key, choice: SpeakerChoice) -> str:
    """Tag of the options on speakers in a ledger."""
    people = repr((choice.speaker, choice.level, choice.fields.speaker))
    return key.tag("speakers of shards", people)[:16]


def names_nobody(line: Line) -> bool:
    """Whether a line of a log is of an output and has no check of its speaker: of a shard, or of an
    earlier release.
    """
    return "sha256" in line and "speaker_check" not in line


def links(
    folder: str, lines: Mapping[str, Line], key: Key, speakers: Iterable[str], field: str | None
) -> ShardLinks:
    """Looks for speakers in the shards of an output folder.

    Args:
        folder: its path or URL.
        lines: of its shards, by output.
        key: of the run.
        speakers: names as the run had them.
        field: of the speaker, if the run was told one.

    Raises:
        CorpusError: the folder or store cannot be read.
    """
    found: dict[str, list[str]] = {speaker: [] for speaker in speakers}
    whole = {choice_tag(key, SpeakerChoice(speaker=speaker)): speaker for speaker in found}
    choices = (SpeakerChoice(FieldChoice(field), None, level) for level in LEVELS)
    known = {choice_tag(key, choice): choice for choice in choices}
    names = Names(key)
    drawn = {names.speaker(speaker): speaker for speaker in found}
    listed = shard_plan.listed(folder, None, [], [])
    units = {
        unit.name: unit
        for unit in shard_plan.units_of(folder, listed, "", speaker="", level=None, skipped=[])
        if unit.kind != RECORDING
    }
    unknown = []
    for output in sorted(lines):
        tag = str(lines[output].get("speakers"))
        if tag in whole:
            found[whole[tag]].append(output)
            continue
        people = None
        if tag in known and output in units:
            people = _people(units[output], known[tag], bool(lines[output].get("renamed")))
        if people is None:
            unknown.append(output)
            continue
        for sample, who in people.items():
            if (speaker := drawn.get(who, who)) in found:
                found[speaker].append(f"{output} ({sample})")
    return ShardLinks(found, unknown)


def _people(unit: Unit, choice: SpeakerChoice, renamed: bool) -> dict[str, str] | None:
    """Speaker, or drawn name of one, by sample; None if the shard does not say it."""
    try:
        seen = survey(unit, choice, lenient=True)
    except (CorpusError, OSError):
        return None
    if seen.named:
        return seen.people
    if renamed or all(speaker_rule.is_own(who) for who in seen.people.values()):
        return None  # names of samples are drawn, or nothing names the speakers
    return seen.people
