"""Units of a data set whose tables name recordings, where it or its outputs are in a store.

Kaldi's data folders and lhotse's manifests are planned as on this machine
(:mod:`voicenym.corpus.plans.kaldi_plan`, :mod:`voicenym.corpus.plans.lhotse_manifest`), so that
speakers, names and cuts are the same; each of their recordings is then a unit of its own. A table
of a store may come from a stranger: what it names is looked for below the URL that the user wrote
and nowhere else. New tables are written at the end of a run, from the ledger, about the outputs
that are there, those of earlier runs among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from voicenym.audio.atomic import temporary_folder
from voicenym.corpus.drawn_names import Names
from voicenym.corpus.excerpt import Passage
from voicenym.corpus.plans import kaldi_plan, lhotse_manifest
from voicenym.corpus.plans.earlier_tables import EarlierRuns
from voicenym.corpus.plans.file_plan import Item, Openable
from voicenym.corpus.readers import kaldi_tables, kaldi_utterances
from voicenym.corpus.readers.id_checks import check_id, printable
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.shards import store_tables
from voicenym.corpus.shards.earlier_in_store import earlier_runs
from voicenym.corpus.shards.shard_unit import RECORDING, ShardPlan, Unit
from voicenym.corpus.shards.stores import object_store, object_writes, store_locations
from voicenym.corpus.shards.stores.object_store import Listed
from voicenym.errors import CorpusError
from voicenym.temporary import folder_for_temporary_files

Found = Callable[[Path], "str | None"]
"""Location of the recording that a table names by a path; None for one that is not there."""
Tables = Mapping[str, Callable[[Path], object]]
"""How tables are written, by name."""
ROUNDS = 20
"""Times that tables are written while other runs write them, too."""


def is_data_set(root: str, listed: Sequence[Listed]) -> bool:
    """Whether an input has tables that name its recordings and their speakers."""
    return _is_manifest(root) or bool(_data_folders(root, listed))


def plan_tables(
    root: str,
    listed: Sequence[Listed],
    output: str,
    *,
    keep: Sequence[str] = (),
    names: Names | None = None,
) -> ShardPlan:
    """Units of a data set.

    Args:
        root: path or URL of a data folder, of a folder of such in a store, or of a manifest.
        listed: names below it.
        output: folder, as a path or a URL.
        keep: further tables or fields to copy.
        names: draws new names; None keeps the old ones.

    Raises:
        CorpusError: tables are missing or wrong, have commands, or would be replaced.
        DependencyError: lhotse or the store's package is missing.
    """
    place = store_locations.join(output, lhotse_manifest.OUTPUT_NAME)
    if place == root or output == root:
        raise CorpusError(
            f"{output}: holds the data set itself, whose tables would be replaced; choose another "
            "folder with -o"
        )
    with temporary_folder(folder_for_temporary_files()) as private:
        if _is_manifest(root):
            return _of_manifest(root, output, private, keep, names)
        plans = [
            _of_folder(root, folder, listed, output, private, keep, names)
            for folder in _data_folders(root, listed)
        ]
    finishes = [plan.finish for plan in plans if plan.finish is not None]
    checks = [plan.check_tables for plan in plans if plan.check_tables is not None]

    def check() -> None:
        for one in checks:
            one()

    units = [unit for plan in plans for unit in plan.units]
    return ShardPlan(
        units,
        [],
        [one for plan in plans for one in plan.missing],
        lambda lines: [place for finish in finishes for place in finish(lines)],
        check,
    )


def _is_manifest(root: str) -> bool:
    return store_tables.is_cuts(root) or (
        not store_locations.is_url(root) and lhotse_manifest.is_manifest(Path(root))
    )


def _of_this_machine(path: Path) -> str | None:
    return str(path)


def _data_folders(root: str, listed: Sequence[Listed]) -> list[str]:
    """Data folders: the input itself (empty), or folders directly below it in a store."""
    if not store_locations.is_url(root):
        return [""] if kaldi_utterances.is_kaldi(Path(root)) else []
    tables = (one.name for one in listed if PurePosixPath(one.name).name == store_tables.SCP)
    found = [name.removesuffix(store_tables.SCP).rstrip("/") for name in sorted(tables)]
    return [folder for folder in found if "/" not in folder]


def _of_folder(
    root: str,
    folder: str,
    listed: Sequence[Listed],
    output: str,
    private: Path,
    keep: Sequence[str],
    names: Names | None,
) -> ShardPlan:
    url = store_locations.join(root, folder) if folder else root
    planned = private / "output" / folder
    found: Found = _of_this_machine
    data = Path(root)
    if store_locations.is_url(root):
        data = private / "data" / check_id(root, folder) if folder else private / "data"
        found = _private_tables(root, folder, listed, data, keep)
    try:
        store_tables.check_no_commands(url, kaldi_tables.table(data / store_tables.SCP))
        known = kaldi_plan.read_kaldi(data, planned, keep=keep, names=names)
    except CorpusError as error:
        raise CorpusError(str(error).replace(str(data), url)) from None
    where = f"{url}/{store_tables.SCP}"
    units, missing = _units(known.items, found, where, output, private / "output")

    def finish(lines: Mapping[str, Line]) -> list[str]:
        there = {unit.utterance: unit.target for unit in units if unit.name in lines}

        def made(earlier: EarlierRuns) -> Tables:
            found = known.rows_with_earlier(there, earlier)
            return {name: partial(_write_rows, rows) for name, rows in found.items()}

        return _written(made, output, kaldi_plan.FOLDER, folder)

    def check() -> None:
        with _earlier(output, kaldi_plan.FOLDER, folder) as earlier:
            known.check_tables(earlier)

    return ShardPlan(units, [], missing, finish, check)


def _private_tables(
    root: str, folder: str, listed: Sequence[Listed], data: Path, keep: Sequence[str]
) -> Found:
    """Copies the tables of a data folder; its ``wav.scp`` then names places of no file.

    Returns:
        What these places mean.
    """
    by_name = {one.name: one.location for one in listed}
    data.mkdir(parents=True)
    for table in {*store_tables.KALDI, *kaldi_plan.LABELS, *keep}:
        location = by_name.get(f"{folder}/{table}".lstrip("/"))
        if location is not None:
            object_store.download(location, data / table)
    places: dict[Path, str | None] = {}
    rows = {}
    for number, (name, entry) in enumerate(kaldi_tables.table(data / store_tables.SCP).items()):
        if entry.rstrip().endswith("|"):
            rows[name] = entry  # which is refused
            continue
        meant = store_tables.names_of(entry, root, folder)
        place = Path("recording", str(number), PurePosixPath(entry).name[:100] or "-")
        places[place] = next((by_name[one] for one in meant if one in by_name), None)
        rows[name] = str(place)
    kaldi_tables.write(data / store_tables.SCP, rows)
    return places.__getitem__


def _of_manifest(
    root: str, output: str, private: Path, keep: Sequence[str], names: Names | None
) -> ShardPlan:
    found: Found = _of_this_machine
    path = Path(root)
    if remote := store_locations.is_url(root):
        folder, _, name = root.rpartition("/")
        path = private / check_id(root, name)
        object_store.download(root, path)
        by_name = {one.name: one.location for one in object_store.find(folder) if one.name != name}

        def in_store(path: Path) -> str | None:
            return by_name.get(store_tables.name_of_cut(path, folder))

        found = in_store

    planned = private / "output"
    try:
        known = lhotse_manifest.read_manifest(path, planned, keep=keep, names=names, remote=remote)
    except CorpusError as error:
        raise CorpusError(str(error).replace(str(path), root)) from None
    units, missing = _units(known.items, found, root, output, planned)

    def finish(lines: Mapping[str, Line]) -> list[str]:
        cuts = []
        for item in known.items:
            name = item.target.relative_to(planned).as_posix()
            if name in lines:
                target = store_locations.join(output, name)
                cuts += known.cuts_of(item, _described(target, lines[name], known.id_of(item)))

        def made(earlier: EarlierRuns) -> Tables:
            before = known.earlier_cuts(earlier)
            return {lhotse_manifest.OUTPUT_NAME: lambda path: known.write(path, cuts, before)}

        return _written(made, output, lhotse_manifest.FOLDER)

    def check() -> None:
        with _earlier(output, lhotse_manifest.FOLDER) as earlier:
            known.check_tables(earlier)

    return ShardPlan(units, [], missing, finish, check)


@contextmanager
def _earlier(output: str, sound: str, tables: str = "") -> Iterator[EarlierRuns]:
    """Earlier runs into an output folder, as of :func:`earlier_runs`."""
    with temporary_folder(folder_for_temporary_files()) as private:
        yield earlier_runs(output, sound, tables, private)


def _described(target: str, line: Line, name: str) -> Any:
    """Description of an output as lhotse makes it, from its line of the ledger."""
    from lhotse import AudioSource, Recording

    kind = "url" if store_locations.is_url(target) else "file"
    channels, rate = list(range(line["channels"])), line["rate"]
    count = round(line["duration"] * rate)
    source = AudioSource(kind, channels, target)
    return Recording(name, [source], rate, count, count / rate, channels)


def _units(
    items: Sequence[Item], found: Found, where: str, output: str, planned: Path
) -> tuple[list[Unit], list[tuple[str, str]]]:
    """Units of the recordings that are there, and why there are none of others."""
    units, missing = [], []
    for item in items:
        path, passage = _parts(item.source)
        location = found(path)
        if location is None:
            why = (
                f"{where}: there is no {printable(path.name)} of {printable(item.utterance)} below "
                "the folder that was given; put the recording there, or take its line out"
            )
            missing.append((where, why))
            continue
        name = item.target.relative_to(planned).as_posix()
        units.append(
            Unit(
                location,
                store_locations.join(output, name),
                name,
                RECORDING,
                item.speaker,
                utterance=item.utterance,
                passage=passage,
            )
        )
    units.sort(key=lambda unit: unit.name)  # new names must not show the old order
    return units, missing


def _parts(source: Path | Openable) -> tuple[Path, Passage | None]:
    """Path of a recording, and the part of it that is an utterance; None for the whole."""
    if isinstance(source, Path):
        return source, None
    if isinstance(source, Passage):
        return source.path, replace(source, path=Path())
    assert isinstance(source, kaldi_utterances.Cut)
    assert source.path is not None  # no command
    one = source.utterance
    return source.path, Passage(Path(), one.name, one.start, one.end)


def _write_rows(rows: Mapping[str, str], path: Path) -> None:
    kaldi_tables.write(path, rows)


def _written(
    made: Callable[[EarlierRuns], Tables], output: str, sound: str, tables: str = ""
) -> list[str]:
    """Writes tables over those of earlier runs, and once more if another run does so meanwhile.

    Args:
        made: tables by name, of what earlier runs have left.
        output, sound, tables: as of :func:`earlier_runs`.

    Returns:
        Their locations.

    Raises:
        CorpusError: other runs write all the time, or a table cannot be written.
    """
    for _ in range(ROUNDS):
        with _earlier(output, sound, tables) as earlier:
            found = made(earlier)
            if all(_put(earlier, name, write) for name, write in found.items()):
                return [earlier.place(name) for name in found]
    raise CorpusError(
        f"{output}: other runs replace its tables all the time; run the same command again when "
        "they have ended, which adds what is missing"
    )


def _put(earlier: EarlierRuns, name: str, write: Callable[[Path], object]) -> bool:
    """Writes a table in the place of an earlier one; False if that one was replaced meanwhile."""
    location = earlier.place(name)
    if not store_locations.is_url(location):
        write(Path(location))  # the folder is locked
        return True
    with temporary_folder(folder_for_temporary_files()) as private:
        path = private / "table"
        write(path)
        return object_writes.upload_over(path, location, earlier.version(name))
