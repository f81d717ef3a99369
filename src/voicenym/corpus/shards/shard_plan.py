"""The plan of a run over shards or stores: each shard or file becomes one of the same name."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from voicenym.audio.containers import output_suffix
from voicenym.corpus import speaker_rule
from voicenym.corpus.drawn_names import Names
from voicenym.corpus.folder_walk import EXTENSIONS, walk
from voicenym.corpus.id_checks import check_id, printable
from voicenym.corpus.shards import object_store
from voicenym.corpus.shards.object_store import Listed
from voicenym.errors import CorpusError

SHARDS = {".tar": "tar", ".parquet": "parquet"}
"""Kinds of shards by extension."""
RECORDING = "recording"
"""Kind of a file that is a recording of its own."""
SHAR = re.compile(r"(^|/)cuts\.\d+\.jsonl(\.gz)?(:|$)")
"""Tables of a lhotse shar, of whose tars only these know the speakers."""
LEDGER = "voicenym-ledger"
"""Folder of the ledger in a store."""


@dataclass(frozen=True)
class Unit:
    """A shard or a recording that one task reads and writes.

    Args:
        source: path or URL.
        target: path or URL.
        name: of the output below the output folder.
        kind: of :data:`SHARDS`, or :data:`RECORDING`.
        speaker: of a recording whose folder names it; None otherwise.
    """

    source: str
    target: str
    name: str
    kind: str
    speaker: str | None = None

    def __str__(self) -> str:
        return self.source


@dataclass(frozen=True)
class ShardPlan:
    """Units of a run, and names below the inputs that are not read, with reasons."""

    units: list[Unit]
    skipped: list[str]


def concerns(inputs: Sequence[str], output: str | None) -> bool:
    """Whether a run is about shards or stores, and not about files and folders alone."""
    if any(map(object_store.is_url, inputs)) or (output and object_store.is_url(output)):
        return True
    return any(_is_shard(path) or _holds_shards(Path(path)) for path in inputs)


def plan_units(
    inputs: Sequence[str],
    output: str,
    *,
    speaker: str | None = None,
    level: speaker_rule.Level = None,
    names: Names | None = None,
) -> ShardPlan:
    """Units for shards, recordings, and folders of them, on this machine and in stores.

    Args:
        inputs: paths and URLs.
        output: folder, as a path or a URL.
        speaker: of all recordings that are files.
        level: number of the folder that names the speaker of a file.
        names: draws new names of shards and files; None keeps the old ones.

    Raises:
        CorpusError: nothing to do, two outputs of one name, or an output that is an input.
    """
    if level == "parent":
        raise CorpusError(
            "--speaker-level parent is for folders of this machine; give a number of the level"
        )
    object_store.check_writable(output := object_store.location_of(output))
    if not object_store.is_url(output) and os.path.isfile(output):
        raise CorpusError(f"{output}: is a file; give a folder with -o")
    if _is_shard(output) and not os.path.isdir(output):
        raise CorpusError(f"{output}: has the name of a shard; give a folder with -o")
    units: list[Unit] = []
    skipped: list[str] = []
    for text in inputs:
        units += _of_input(object_store.location_of(text), output, speaker, level, skipped)
    if not units:
        raise CorpusError(
            f"{inputs[0]}: no shards (.tar, .parquet) and no recordings below it; check the name"
        )
    if names is not None:
        units = sorted((_renamed(u, output, names) for u in units), key=lambda unit: unit.name)
    _check_distinct(units)
    return ShardPlan(units, skipped)


def _of_input(
    root: str,
    output: str,
    speaker: str | None,
    level: int | None,
    skipped: list[str],
) -> list[Unit]:
    units, files = [], []
    listed = _listed(root, output, skipped)
    shar = next((part for part in skipped if SHAR.search(part)), None)
    if shar and any(_is_shard(one.name) for one in listed):
        raise CorpusError(
            f"{root}: is a lhotse shar, whose cuts name the speakers, and which is not read; save "
            "it as files with CutSet.from_shar(...).save_audios(...), or as Parquet"
        )
    for one in listed:
        suffix = PurePosixPath(one.name).suffix.lower()
        try:
            check_id(root, one.name, folders=True)
        except CorpusError as error:
            skipped.append(str(error))
            continue
        if kind := SHARDS.get(suffix):
            units.append(Unit(one.location, object_store.join(output, one.name), one.name, kind))
        elif suffix in EXTENSIONS:
            files.append(one)
        else:
            skipped.append(f"{printable(one.location)}: is no shard and no recording")
    inner = [PurePosixPath(one.name) for one in files]
    people: Sequence[str | None] = [speaker] * len(files)
    if speaker is None and files:
        people = speaker_rule.by_folders(Path(root), inner, level)
    for one, place, who in zip(files, inner, people, strict=True):
        name = str(place.with_suffix(output_suffix(place.suffix)))
        target = object_store.join(output, name)
        units.append(Unit(one.location, target, name, RECORDING, who))
    return units


def _listed(root: str, output: str, skipped: list[str]) -> list[Listed]:
    """Files below an input, without those of the output folder."""
    if object_store.is_url(root):
        inside = f"{output}/"
        own = f"/{LEDGER}/"
        return [
            one
            for one in object_store.find(root)
            if not one.location.startswith(inside) and own not in one.location
        ]
    path = Path(root)
    if not os.path.lexists(path):
        raise CorpusError(f"{root}: no such file or folder; check the name")
    if not path.is_dir():
        return [Listed(path.name, root)]
    without = None if object_store.is_url(output) else Path(output)
    found = walk(path, without)
    shards = [
        part.path for part in found.skipped if _is_shard(str(part.path)) and _is_own(part.path)
    ]
    for part in found.skipped:
        if part.path not in shards:
            skipped.append(f"{part.path}: {part.reason.text}")
    paths = sorted([*found.recordings, *shards])
    return [Listed(one.relative_to(path).as_posix(), str(one)) for one in paths]


def _is_own(path: Path) -> bool:
    """Whether a file is a regular one that is not hidden, and no link."""
    return path.is_file() and not path.is_symlink() and not path.name.startswith(".")


def _is_shard(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in SHARDS


def _holds_shards(folder: Path) -> bool:
    """Whether a folder holds shards and no recordings."""
    if not folder.is_dir() or not any(
        _is_shard(name) for _, _, names in os.walk(folder) for name in names
    ):
        return False
    return not walk(folder).recordings


def _renamed(unit: Unit, output: str, names: Names) -> Unit:
    """The unit under a drawn name; a recording of its own gets its name with its speaker's."""
    suffix = PurePosixPath(unit.name).suffix
    name = f"{names.other('shard', unit.name)}{suffix}"
    return replace(unit, name=name, target=object_store.join(output, name))


def _check_distinct(units: Sequence[Unit]) -> None:
    taken: dict[str, Unit] = {}
    sources = {_real(unit.source) for unit in units}
    for unit in units:
        other = taken.setdefault(unit.name, unit)
        if other is not unit:
            raise CorpusError(
                f"{other.source} and {unit.source}: both would be written to one name; give them "
                "separately"
            )
        if _real(unit.target) in sources:
            raise CorpusError(
                f"{unit.target}: the output would replace an input; choose another folder with -o"
            )


def _real(location: str) -> str:
    return location if object_store.is_url(location) else os.path.realpath(location)
