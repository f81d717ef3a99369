"""``voicenym cache``: caches of voiceprints and decoded speech on disk, and their removal."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import typer

from voicenym.apps.cli.terminal import tables
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.tables import Column, field
from voicenym.errors import VoicenymError, counted

app = new_app("List or remove what commands keep of speech on disk.")

PLACES = typer.Argument(
    None, help="Folders of evaluations and trainings, searched with all below; default: here."
)
KEPT = re.compile(r"\.?[0-9a-f]{64}(\.[0-9a-f]{12})?(\.(i16|npy|partial))+(\.\d+)?")
"""Names of files in a cache folder, including partial ones."""
SQLITE = b"SQLite format 3\0"
SPOKEN = ({"of", "phones"}, {"of", "text", "loop"})
"""Fields of a line of alignments, and of a line of transcripts."""


@app.callback()
def _root() -> None:
    pass


@dataclass(frozen=True)
class Found:
    """One cache.

    Args:
        path: of a file, or of a folder of files.
        what: kind of its content.
        files: names of voicenym's files, beside or in it.
        bytes: of these.
        below: searched folder.
    """

    path: Path
    what: str
    files: tuple[str, ...]
    bytes: int
    below: Path

    @property
    def folder(self) -> Path:
        return self.path if self.path.is_dir() else self.path.parent

    def __str__(self) -> str:
        size = f"{counted(len(self.files), 'file')}, {self.bytes / 1e6:.1f} MB"
        return f"{self.path}: {self.what}, {size}"


@command(app, "voicenym cache show", "voicenym cache show report/ training/")
def show(
    places: list[Path] | None = PLACES,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """List caches: where they are, what they hold, and their size."""
    caches = list(found(places or [Path()]))
    records = [
        {
            "holds": cache.what,
            "files": len(cache.files),
            "MB": round(cache.bytes / 1e6, 1),
            "path": str(cache.path),
        }
        for cache in caches
    ]
    columns = (
        field("holds"),
        field("files", right=True),
        Column("MB", lambda record: f"{record['MB']:.1f}", right=True),
        field("path"),
    )
    tables.emit(records, columns, as_json=as_json)
    total = sum(cache.bytes for cache in caches)
    typer.echo(f"{counted(len(caches), 'cache')}, {total / 1e6:.1f} MB", err=True)


@command(app, "voicenym cache clear report/")
def clear(places: list[Path] | None = PLACES) -> None:
    """Remove caches without a question; weights, checkpoints, reports and keys stay."""
    caches = list(found(places or [Path()]))
    for cache in reversed(caches):  # what lies within another first
        others = removed(cache)
        typer.echo(f"removed {cache}")
        for name in others:
            typer.echo(f"kept {cache.path / name}: not made by voicenym", err=True)
    total = sum(cache.bytes for cache in caches)
    typer.echo(f"removed {counted(len(caches), 'cache')}, {total / 1e6:.1f} MB", err=True)


def found(places: list[Path]) -> Iterator[Found]:
    """Caches in folders and below them; symbolic links in these are not followed.

    Raises:
        VoicenymError: a path that is not a folder.
    """
    for place in places:
        if not place.is_dir():
            raise VoicenymError(f"{place}: is no folder; give the folder of a report or a training")
        for name, folders, files in os.walk(place, followlinks=False):
            folders.sort()
            yield from _in_folder(Path(name), sorted(files), place)


def removed(cache: Found) -> list[str]:
    """Removes the files of a cache, and folders that are empty then.

    Returns:
        Names of other files in its folder, which stay.

    Raises:
        VoicenymError: they cannot be removed.
    """
    from voicenym.private import TAG

    try:
        # by a descriptor of the folder, so that nobody can replace it by a link meanwhile
        handle = os.open(cache.folder, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            for name in cache.files:
                os.unlink(name, dir_fd=handle)
            if cache.path != cache.folder:
                return []
            others = sorted(set(os.listdir(handle)) - {TAG})
            if not others:
                os.unlink(TAG, dir_fd=handle)
        finally:
            os.close(handle)
        folder = cache.folder
        with suppress(OSError):  # one that is not empty
            while folder != cache.below:
                folder.rmdir()
                folder = folder.parent
    except OSError as error:
        raise VoicenymError(f"{cache.path}: cannot be removed ({error.strerror})") from error
    return others


def _in_folder(folder: Path, names: list[str], below: Path) -> Iterator[Found]:
    from voicenym.private import cache_kind
    from voicenym.verification.vector_store import BESIDE, is_cache

    kind = cache_kind(folder)
    if kind is not None:
        ours = [name for name in names if KEPT.fullmatch(name) and _is_file(folder / name)]
        yield Found(folder, kind, tuple(ours), _size(folder, ours), below)
        return
    for name in names:
        path = folder / name
        start = _start(path)
        if start.startswith(SQLITE) and is_cache(path):
            beside = [name + suffix for suffix in BESIDE if _is_file(folder / (name + suffix))]
            files = [name, *beside]
            yield Found(path, "voiceprints", tuple(files), _size(folder, files), below)
        elif start.startswith(b'{"of": ') and _tells_words(path):
            yield Found(path, "times of words and phones", (name,), _size(folder, [name]), below)


def _tells_words(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return set(json.loads(file.readline())) in SPOKEN
    except (OSError, ValueError, TypeError):
        return False


def _start(path: Path) -> bytes:
    try:
        if _is_file(path):
            with path.open("rb") as file:
                return file.read(len(SQLITE))
    except OSError:
        pass
    return b""


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _size(folder: Path, names: list[str]) -> int:
    return sum((folder / name).lstat().st_size for name in names)
