"""Tables in an object store that name recordings: Kaldi data folders, lhotse's cuts.

A table may come from a stranger. What it names is looked for below the URL that the user wrote and
nowhere else: neither in another place of the store nor on this machine.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from voicenym.corpus.plans.lhotse_manifest import SUFFIXES
from voicenym.corpus.readers import kaldi_tables, lhotse_cuts
from voicenym.corpus.readers.id_checks import check_id, printable
from voicenym.corpus.recording import Recording
from voicenym.corpus.shards.stores import object_store, private_copies, store_locations
from voicenym.corpus.shards.stores.object_store import Listed
from voicenym.corpus.skipped import LeftOut
from voicenym.errors import CorpusError

SCP = "wav.scp"
KALDI = (SCP, "utt2spk", "segments", "spk2gender", "spk2age", "text")
"""Tables of a data folder that are read."""


def is_kaldi_table(name: str) -> bool:
    """Whether a name below a URL is a table of a data folder, or of one directly below it."""
    place = PurePosixPath(name)
    return place.name in KALDI and len(place.parts) <= 2


def is_cuts(location: str) -> bool:
    """Whether a URL has the name of a lhotse manifest."""
    return store_locations.is_url(location) and location.endswith(SUFFIXES)


def point_to_copies(files: Path, location: str) -> None:
    """Rewrites each ``wav.scp`` among private copies, so that it names these copies.

    An entry may be a URL below the location, a path below the data folder or below the location,
    or any path to a file that the data folder has in ``wav``.

    Args:
        files: folder of the copies.
        location: URL that they come from.

    Raises:
        CorpusError: a table cannot be read, or an entry is a command.
    """
    for path in [files / SCP, *sorted(files.glob(f"*/{SCP}"))]:
        if not path.is_file():
            continue
        folder = path.parent.relative_to(files).as_posix()
        url = store_locations.join(location, "" if folder == "." else folder).rstrip("/")
        rows = {}
        entries = kaldi_tables.table(path)
        check_no_commands(url, entries)
        for name, entry in entries.items():
            last = f"wav/{PurePosixPath(entry).name}"
            copies = (files / place for place in names_of(entry, location, folder))
            there = [copy for copy in copies if _is_copy(copy, files)]
            rows[name] = str(there[0] if there else files / folder / last)
        kaldi_tables.write(path, rows)


def check_no_commands(url: str, entries: Mapping[str, str]) -> None:
    """Refuses a ``wav.scp`` with commands, where a store is read or written.

    Raises:
        CorpusError: an entry is a command.
    """
    for entry in entries.values():
        if entry.rstrip().endswith("|"):
            raise CorpusError(
                f"{url}/{SCP}: {printable(entry[:60])} is a command, and commands are not run for "
                "a store; work in a folder of this machine, and add --allow-pipes there"
            )


def names_of(entry: str, location: str, folder: str) -> list[str]:
    """Names below a location that an entry of a data folder may mean, the likeliest first.

    Args:
        entry: of ``wav.scp``; no command.
        location: URL that the user wrote.
        folder: of the table, below it; empty or ``.`` for the location itself.
    """
    below = entry.removeprefix(f"{location}/")
    if below != entry:
        return [below]
    last = PurePosixPath(entry).name
    own = (
        []
        if store_locations.is_url(entry) or entry.startswith("/")
        else [f"{folder or '.'}/{entry}", entry]
    )
    return [posixpath.normpath(name) for name in (*own, f"{folder or '.'}/wav/{last}")]


def _is_copy(path: Path, files: Path) -> bool:
    """Whether a path is a file among the copies."""
    try:
        return path.resolve().is_relative_to(files.resolve()) and path.is_file()
    except (OSError, ValueError):  # a name that is too long, or holds a zero byte
        return False


def of_cuts(location: str, left_out: LeftOut) -> list[Recording]:
    """Private copies of the recordings that a lhotse manifest in a store names.

    Args:
        location: URL of the manifest. Recordings lie below its folder, under paths relative to it
            or under URLs.
        left_out: collects recordings that are not there.

    Raises:
        CorpusError: it is no manifest of cuts, or the store cannot be read.
        DependencyError: lhotse or the store's package is missing.
    """
    root, _, name = location.rpartition("/")
    folder = private_copies.new_folder()
    manifest = folder / check_id(location, name)
    object_store.download(location, manifest)
    try:
        found = lhotse_cuts.utterances(manifest, remote=True)
    except CorpusError as error:
        raise CorpusError(str(error).replace(str(manifest), location)) from None
    listed = {one.name: one for one in object_store.find(root)}
    copies: dict[str, Path] = {}
    kept = []
    for one in found:
        place = name_of_cut(one.path, root)
        if place not in listed or place == name:
            left_out.add(
                one.name,
                f"{location}: there is no {printable(place)[:200]} below its folder; put the "
                "recording there, or take its cut out",
            )
            continue
        if place not in copies:
            copies[place] = _copied(listed[place], root, folder)
        kept.append(replace(one, path=copies[place], origin=listed[place].location))
    return kept


def name_of_cut(path: Path, folder: str) -> str:
    """Name below the folder of a manifest that it means by a path or a URL, which is a path now."""
    return (store_locations.url_in(path) or path.as_posix()).removeprefix(f"{folder}/")


def _copied(one: Listed, root: str, folder: Path) -> Path:
    """Private copy of an object.

    Raises:
        CorpusError: its name cannot be one of a file, or the store cannot be read.
    """
    path = folder / "sound" / check_id(root, one.name, folders=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    object_store.download(one.location, path)
    return path


def check_no_tables(root: str, listed: Sequence[Listed]) -> None:
    """Refuses to anonymize data folders of a store by their folders, which are no speakers.

    Raises:
        CorpusError: there is a ``wav.scp``.
    """
    for one in listed:
        if store_locations.is_url(root) and PurePosixPath(one.name).name == SCP:
            raise CorpusError(
                f"{one.location}: a Kaldi folder, which lies too deep below {root}; give the "
                "folder itself, or the one above it"
            )
