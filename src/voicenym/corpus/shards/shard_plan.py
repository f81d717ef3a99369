"""The plan of a run over shards or stores: each shard or file becomes one of the same name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from voicenym.audio.container_files.containers import output_suffix
from voicenym.corpus.drawn_names import Names
from voicenym.corpus.readers import speaker_rule
from voicenym.corpus.readers.folder_walk import EXTENSIONS, Found, Reason, walk, without_outputs
from voicenym.corpus.readers.id_checks import check_id, printable
from voicenym.corpus.shards import store_tables, table_units
from voicenym.corpus.shards.shar_fields import CUTS, FIELD, SOUND, halves, sounds_of, tables_of
from voicenym.corpus.shards.shard_unit import (
    LEDGER,
    RECORDING,
    SHAR,
    SHARDS,
    ShardPlan,
    Unit,
    kind_of,
)
from voicenym.corpus.shards.stores import object_store, object_writes, store_locations
from voicenym.corpus.shards.stores.object_store import Listed
from voicenym.errors import CorpusError, check_path
from voicenym.special_files import special_kind


def concerns(inputs: Sequence[str], output: str | None) -> bool:
    """Whether a run is about shards or stores, and not about files and folders alone."""
    if any(map(store_locations.is_url, inputs)) or (output and store_locations.is_url(output)):
        return True
    return any(_is_shard(path) or _holds_shards(Path(path)) for path in inputs)


def plan_units(
    inputs: Sequence[str],
    output: str,
    *,
    speaker: str | None = None,
    level: speaker_rule.Level = None,
    names: Names | None = None,
    keep: Sequence[str] = (),
) -> ShardPlan:
    """Units for shards, recordings, folders of them, and data sets, on this machine and in stores.

    Args:
        inputs: paths and URLs.
        output: folder, as a path or a URL.
        speaker: of all recordings that are files.
        level: number of the folder that names the speaker of a file.
        names: draws new names of shards and files; None keeps the old ones.
        keep: further tables or fields of a data set to copy.

    Raises:
        CorpusError: nothing to do, two outputs of one name, or an output that is an input.
    """
    if level == "parent":
        raise CorpusError(
            "--speaker-level parent is for folders of this machine; give a number of the level"
        )
    object_writes.check_writable(output := store_locations.location_of(output))
    if not store_locations.is_url(output) and os.path.isfile(output):
        raise CorpusError(f"{output}: is a file; give a folder with -o")
    if _is_shard(output) and not os.path.isdir(output):
        raise CorpusError(f"{output}: has the name of a shard; give a folder with -o")
    units: list[Unit] = []
    skipped: list[str] = []
    missing: list[tuple[str, str]] = []
    for text in inputs:
        root = store_locations.location_of(text)
        if root == output and store_locations.is_url(root):
            raise CorpusError(f"{root}: is input and output; choose another folder with -o")
        found = listed(root, output, skipped, missing)
        if table_units.is_data_set(root, found) and speaker is None:
            if len(inputs) > 1 or level is not None:
                raise CorpusError(
                    f"{root}: is a data set, which names its speakers; give it alone, without "
                    "--speaker-level"
                )
            plan = table_units.plan_tables(root, found, output, keep=keep, names=names)
            _check_distinct(plan.units)
            return plan
        units += units_of(root, found, output, speaker=speaker, level=level, skipped=skipped)
        missing += halves(found)
    if missing and not units:
        raise CorpusError(missing[0][1])
    if not units:
        raise CorpusError(
            f"{inputs[0]}: no shards ({', '.join(SHARDS)}) and no recordings below it; check the "
            "name"
        )
    if names is not None:
        units = sorted((_renamed(u, output, names) for u in units), key=lambda unit: unit.name)
    _check_distinct(units)
    return ShardPlan(units, skipped, missing)


def units_of(
    root: str,
    listed: Sequence[Listed],
    output: str,
    *,
    speaker: str | None,
    level: int | None,
    skipped: list[str],
) -> list[Unit]:
    """Units of an input.

    Args:
        root: path or URL of the input.
        listed: names in it, of :func:`listed`.
        output: folder, as a path or a URL.
        speaker: of all recordings that are files; None if their folders name them.
        level: number of the folder that names the speaker of a file.
        skipped: receives names that are not read, with reasons.

    Raises:
        CorpusError: the folders are ambiguous, or are Kaldi's.
    """
    units, files = [], []
    tables = tables_of(listed)
    alone = {one for place, one in sounds_of(listed).items() if place not in tables}
    for one in listed:
        suffix = PurePosixPath(one.name).suffix.lower()
        field = FIELD.fullmatch(one.name)
        table = None if field is None else tables.get((field[1], field[3] or ""))
        try:
            check_id(root, one.name, folders=True)
        except CorpusError as error:
            skipped.append(str(error))
            continue
        if field is not None and table is not None:
            if field[2] == SOUND:
                units.append(_shar(one, table, output))
            elif one is not table:
                skipped.append(
                    f"{printable(one.location)}: is a field of a lhotse Shar that may be of the "
                    "original voices"
                )
        elif one in alone:
            continue  # see halves()
        elif kind := kind_of(one.name):
            units.append(Unit(one.location, store_locations.join(output, one.name), one.name, kind))
        elif suffix in EXTENSIONS:
            files.append(one)
        else:
            skipped.append(f"{printable(one.location)}: is no shard and no recording")
    inner = [PurePosixPath(one.name) for one in files]
    people: Sequence[str | None] = [speaker] * len(files)
    if speaker is None and files:
        store_tables.check_no_tables(root, listed)
        people = speaker_rule.by_folders(Path(root), inner, level)
    for one, place, who in zip(files, inner, people, strict=True):
        name = str(place.with_suffix(output_suffix(place.suffix)))
        target = store_locations.join(output, name)
        utterance = place.with_suffix("").as_posix()  # as in a folder of this machine
        units.append(Unit(one.location, target, name, RECORDING, who, utterance=utterance))
    return units


def _shar(one: Listed, table: Listed, output: str) -> Unit:
    """Unit of a Shar. lhotse takes each file of its folder for a field, so that the Shar has a
    folder of its own, apart from the log.
    """

    def placed(name: str) -> str:
        return name if "/" in name else f"{SHAR}/{name}"

    name, cuts = placed(one.name), placed(table.name.removesuffix(".gz") + ".gz")
    target, new = store_locations.join(output, name), store_locations.join(output, cuts)
    return Unit(one.location, target, name, SHAR, table=(table.location, new))


def listed(
    root: str, output: str | None, skipped: list[str], missing: list[tuple[str, str]]
) -> list[Listed]:
    """Files below an input, without those of the output folder.

    Args:
        root: path or URL.
        output: path or URL of the output folder; None without one.
        skipped: receives names that are not read, with reasons.
        missing: receives folders that may not be read, and reasons.

    Raises:
        CorpusError: there is nothing, or the store cannot be listed.
    """
    if store_locations.is_url(root):
        return _without_outputs(root, f"{output}/", object_store.find(root), skipped)
    path = Path(root)
    check_path(path)
    if not os.path.lexists(path):
        raise CorpusError(f"{root}: no such file or folder; check the name")
    if not path.exists():
        raise CorpusError(f"{root}: is a link to a file that is not there; mend the link")
    if kind := special_kind(path):
        raise CorpusError(f"{root}: is {kind}, and shards are read at any place; give a file")
    if not path.is_dir():
        field = FIELD.fullmatch(path.name)
        beside = []
        if field is not None and field[2] == SOUND:
            names = (f"cuts{field[3] or ''}.jsonl{end}" for end in (".gz", ""))
            beside = [name for name in names if (path.parent / name).is_file()][:1]
        return [Listed(name, str(path.parent / name)) for name in (path.name, *beside)]
    without = None if output is None or store_locations.is_url(output) else Path(output)
    found = walk(path, without)
    found = without_outputs(found, [*found.recordings, *_shards(found)])
    shards = _shards(found)
    for part in found.skipped:
        if part.reason.hides:
            missing.append((part.path.relative_to(path).as_posix(), str(part)))
        elif part.path not in shards:
            skipped.append(str(part))
    paths = sorted([*found.recordings, *shards])
    return [Listed(one.relative_to(path).as_posix(), str(one)) for one in paths]


def _without_outputs(
    root: str, output: str, found: Sequence[Listed], skipped: list[str]
) -> list[Listed]:
    """Objects below a URL without ledgers, without those of the output folder, and, beside
    originals, without those of other folders of outputs.
    """
    mark = f"/{LEDGER}/"
    kept = [
        one for one in found if mark not in one.location and not one.location.startswith(output)
    ]
    ledgers = (one.location.partition(mark)[0] for one in found if mark in one.location)
    folders = {f"{folder}/" for folder in ledgers} - {output, f"{root}/"}
    rest = [one for one in kept if not one.location.startswith(tuple(folders))]
    if not rest or len(rest) == len(kept):
        return kept
    skipped += [f"{folder}: {Reason.OUTPUTS.text}" for folder in sorted(folders)]
    return rest


def _shards(found: Found) -> list[Path]:
    """Shards and the tables of a Shar, which a walk does not take for recordings."""
    return [
        part.path
        for part in found.skipped
        if (_is_shard(str(part.path)) or CUTS.fullmatch(part.path.name)) and _is_own(part.path)
    ]


def _is_own(path: Path) -> bool:
    """Whether a file is a regular one that is not hidden, and no link."""
    return path.is_file() and not path.is_symlink() and not path.name.startswith(".")


def _is_shard(path: str) -> bool:
    return kind_of(path) is not None


def _holds_shards(folder: Path) -> bool:
    """Whether a folder holds shards and no recordings."""
    if not folder.is_dir() or not any(
        _is_shard(name) for _, _, names in os.walk(folder) for name in names
    ):
        return False
    return not walk(folder).recordings


def _renamed(unit: Unit, output: str, names: Names) -> Unit:
    """The unit under a drawn name; a recording of its own gets its name with its speaker's."""
    if unit.table is not None:  # lhotse reads names of these forms only
        place = PurePosixPath(unit.name)
        folder = names.other("shard", str(place.parent))
        name = f"{folder}/{place.name}"
        cuts = f"{folder}/{PurePosixPath(unit.table[1]).name}"
        new = (unit.table[0], store_locations.join(output, cuts))
        return replace(unit, name=name, target=store_locations.join(output, name), table=new)
    low = unit.name.lower()
    suffix = next((end for end in SHARDS if low.endswith(end)), PurePosixPath(unit.name).suffix)
    name = f"{names.other('shard', unit.name)}{suffix}"
    return replace(unit, name=name, target=store_locations.join(output, name))


def _check_distinct(units: Sequence[Unit]) -> None:
    taken: dict[str, Unit] = {}
    sources = {_real(unit.source) for unit in units}
    sources |= {_real(unit.table[0]) for unit in units if unit.table is not None}
    for unit in units:
        other = taken.setdefault(unit.name, unit)
        if other is not unit:
            raise CorpusError(
                f"{other.source} and {unit.source}: both would be written to one name; give them "
                "separately"
            )
        if any(_real(target) in sources for target in unit.targets):
            raise CorpusError(
                f"{unit.target}: the output would replace an input; choose another folder with -o"
            )


def _real(location: str) -> str:
    return location if store_locations.is_url(location) else os.path.realpath(location)
