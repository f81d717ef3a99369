"""Recordings of shards and of stores, for attacks, metrics, pools and training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from voicenym.corpus.readers import speaker_rule
from voicenym.corpus.readers.folder_walk import EXTENSIONS
from voicenym.corpus.readers.id_checks import check_id, printable
from voicenym.corpus.recording import Recording
from voicenym.corpus.shards import shard_plan, store_tables
from voicenym.corpus.shards.formats.shard_contents import Content, contents
from voicenym.corpus.shards.formats.shard_sample import FieldChoice
from voicenym.corpus.shards.shar_fields import halves
from voicenym.corpus.shards.shard_source import plain_file
from voicenym.corpus.shards.shard_survey import SpeakerChoice, Survey, survey
from voicenym.corpus.shards.shard_unit import RECORDING, Unit
from voicenym.corpus.shards.stores import object_store, private_copies, store_locations
from voicenym.corpus.shards.stores.object_store import Listed
from voicenym.corpus.skipped import LeftOut, nothing_left
from voicenym.errors import CorpusError

MANIFEST = "manifest.tsv"
"""Name of a table of recordings."""


@dataclass(frozen=True)
class Copied:
    """Private copies of a location.

    Args:
        shards: recordings of its shards, or of a lhotse manifest.
        files: folder of its recordings that are files of a store, with their texts, a manifest and
            tables of Kaldi, which name these copies; None without any.
    """

    shards: list[Recording]
    files: Path | None


def copied(
    location: str, left_out: LeftOut, *, level: int | None = None, field: str | None = None
) -> Copied:
    """Private copies of recordings in shards and stores (:mod:`private_copies`).

    Args:
        location: shard, folder of shards, or URL of either or of a folder of files.
        left_out: collects shards that are damaged, and samples and files that cannot be read.
        level: which folder in the keys of a tar names the speaker, where no field does.
        field: of the speaker; None for the usual names.

    Raises:
        CorpusError: there is nothing, or speakers are not clear.
        DependencyError: a package that reads the shards or the store is missing.
    """
    location = store_locations.location_of(location)
    if store_tables.is_cuts(location):
        return Copied(store_tables.of_cuts(location, left_out), None)
    missing: list[tuple[str, str]] = []
    listed = shard_plan.listed(location, None, [], missing)
    units = shard_plan.units_of(location, listed, "", speaker="", level=None, skipped=[])
    for place, why in [*missing, *halves(listed)]:
        left_out.add(place, why)
    choice = SpeakerChoice(FieldChoice(field), None, level)
    shards = [unit for unit in units if unit.kind != RECORDING]
    found = [pair for unit in shards for pair in _of_shard(unit, choice, left_out)]
    files = _files(location, listed, left_out) if store_locations.is_url(location) else None
    if shards and not found and files is None:
        reasons = {one.name: one.reason for one in left_out}
        raise (
            nothing_left(len(shards), reasons)
            if reasons
            else CorpusError(f"{location}: no recordings in its shards")
        )
    return Copied(_named(found), files)


def _of_shard(
    unit: Unit, choice: SpeakerChoice, left_out: LeftOut
) -> Iterator[tuple[Unit, Recording]]:
    """Recordings of a shard with their shard; a damaged shard is left out as a whole."""
    found: list[tuple[Unit, Recording]] = []
    try:
        known = survey(unit, choice, lenient=False)
        folder = private_copies.new_folder()
        with plain_file(unit.source) as path, path.open("rb") as file:
            for content in contents(unit, file):
                why = content.fault or _nobody(unit, content, known)
                if why:
                    left_out.add(f"{unit.name} ({printable(content.name)})", why)
                else:
                    found.append((unit, _recording(unit, content, known, folder)))
    except CorpusError as error:
        left_out.add(unit.name, str(error))
        return
    except OSError as error:
        left_out.add(unit.name, f"{unit}: {error.strerror}; check its permissions")
        return
    if found and all(speaker_rule.is_own(one.speaker) for _, one in found):
        raise CorpusError(
            f"{unit}: names no speakers, so that nobody knows who speaks; name the field with "
            "--speaker-field, or give keys such as SPEAKER/UTTERANCE.wav"
        )
    yield from found


def _nobody(unit: Unit, content: Content, known: Survey) -> str:
    """Why nobody knows who speaks in a recording; empty if somebody does."""
    if content.sample in known.people:
        return ""
    return f"{unit} ({printable(content.sample)}): names no valid speaker; mend its fields"


def _recording(unit: Unit, content: Content, known: Survey, folder: Path) -> Recording:
    return Recording(
        content.name,
        known.people[content.sample],
        private_copies.stored(folder, content.data, content.suffix),
        start=content.start,
        end=content.end,
        origin=f"{unit} ({printable(content.name)})",
        **(content.labels or {}),
    )


def _named(found: Sequence[tuple[Unit, Recording]]) -> list[Recording]:
    """Recordings by unique names: with the name of their shard, if two have one name."""
    count = Counter(one.name for _, one in found)
    return [
        one if count[one.name] == 1 else replace(one, name=f"{unit.name}/{one.name}")
        for unit, one in found
    ]


def _files(location: str, listed: Sequence[Listed], left_out: LeftOut) -> Path | None:
    """Folder of the recordings below a URL; None without any."""
    names = {one.name for one in listed if PurePosixPath(one.name).suffix.lower() in EXTENSIONS}
    texts = {str(PurePosixPath(name).with_suffix(".txt")) for name in names}
    if not names:
        for one in listed:
            if PurePosixPath(one.name).name == store_tables.SCP:
                raise CorpusError(
                    f"{one.location}: names recordings, and there are none below {location}; give "
                    "the folder that holds both"
                )
        return None
    folder = private_copies.new_folder()
    for one in listed:
        wanted = one.name in names or one.name in texts or one.name == MANIFEST
        if not wanted and not store_tables.is_kaldi_table(one.name):
            continue
        try:
            path = folder / check_id(location, one.name, folders=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            object_store.download(one.location, path)
        except CorpusError as error:
            left_out.add(one.name, str(error))
    try:
        store_tables.point_to_copies(folder, location)
    except CorpusError as error:
        raise CorpusError(str(error).replace(str(folder), location)) from None
    return folder
