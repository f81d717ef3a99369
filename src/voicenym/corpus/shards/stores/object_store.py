"""Files and objects by location: list, read, download, and tell their versions apart.

Locations are those of :mod:`voicenym.corpus.shards.stores.store_locations`, such as
``s3://bucket/folder``.
"""

from __future__ import annotations

import errno
import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from voicenym.corpus.batches.single_file import HASH_BYTES, sha256_of
from voicenym.corpus.shards.stores.store_calls import (
    info_of,
    system_of,
    tried,
)
from voicenym.corpus.shards.stores.store_locations import is_url
from voicenym.corpus.shards.stores.tried_reads import tried_again
from voicenym.errors import CorpusError

READS = 16
"""Small objects that are read at a time."""


@dataclass(frozen=True)
class Listed:
    """A file or an object below a folder.

    Args:
        name: its path below the folder, with ``/``.
        location: its path or URL.
    """

    name: str
    location: str


def find(folder: str) -> list[Listed]:
    """All objects below a URL, sorted by name; the object itself if the URL names one.

    Raises:
        CorpusError, DependencyError: the store cannot be listed, or holds nothing there.
    """
    found = find_any(folder)
    if not found:
        tried(folder, lambda: system_of(folder).ls(_bucket(folder)))  # or there is no such bucket
        raise CorpusError(f"{folder}: there is nothing below this name; check it")
    return found


def find_any(folder: str) -> list[Listed]:
    """As :func:`find`; none if the store holds nothing there.

    Raises:
        CorpusError, DependencyError: the store cannot be listed.
    """
    scheme = folder.partition("://")[0]

    def listing() -> list[str]:
        system = system_of(folder)
        system.invalidate_cache()
        return list(system.find(folder))

    paths = tried(folder, listing)
    root = _path(folder)
    found = []
    for path in sorted(p.lstrip("/") for p in paths if not p.endswith("/")):  # marks of folders
        name = path.removeprefix(root).lstrip("/") if path != root else path.rsplit("/")[-1]
        found.append(Listed(name, f"{scheme}://{path}"))
    return found


def open_read(location: str, ahead: int = 1 << 20) -> BinaryIO:
    """A file or an object, open for reading at any position; reads of a store are tried again.

    Args:
        location: path or URL.
        ahead: bytes that a store sends beyond those that are read.

    Raises:
        CorpusError, DependencyError: it cannot be opened.
    """
    if not is_url(location):
        return open(location, "rb")
    opened = tried(location, lambda: system_of(location).open(location, "rb", block_size=ahead))
    return tried_again(location, opened)


def download(location: str, path: Path) -> None:
    """Copies an object into a file, whole.

    Raises:
        CorpusError: it cannot be read, or fewer bytes came than it has.
    """

    def copy() -> None:
        system_of(location).get_file(location, str(path))
        size = info_of(location)["size"]
        if path.stat().st_size != size:
            raise OSError(errno.EIO, f"{path.stat().st_size} of {size} bytes came")

    tried(location, copy)


def version(location: str) -> str | None:
    """Version of an object for :func:`upload_over`; None if there is none.

    Raises:
        CorpusError: the store cannot be asked.
    """

    def ask() -> str | None:
        try:
            info = info_of(location)
        except FileNotFoundError:
            return None
        return str(info.get("ETag", ""))

    return tried(location, ask)


def read_bytes(location: str) -> bytes | None:
    """Content of an object; None if there is none.

    Raises:
        CorpusError: it cannot be read.
    """

    def read() -> bytes | None:
        try:
            return bytes(system_of(location).cat_file(location))
        except FileNotFoundError:
            return None

    return tried(location, read)


def read_all(folder: str) -> dict[str, bytes]:
    """Content of the objects below a folder, by their names below it; none if there are none.

    Raises:
        CorpusError, DependencyError: the store cannot be read.
    """
    scheme, root = folder.partition("://")[0], _path(folder)

    def listing() -> list[str]:
        system = system_of(folder)
        system.invalidate_cache()
        try:
            return [path for path in system.find(folder) if not path.endswith("/")]
        except FileNotFoundError:
            return []

    paths, system = tried(folder, listing), system_of(folder)

    def read(path: str) -> bytes | Exception:
        try:
            return bytes(system.cat_file(path))
        except Exception as error:
            return error

    with ThreadPoolExecutor(READS) as pool:
        contents = list(pool.map(read, paths))
    found = {}
    for path, content in zip(paths, contents, strict=True):
        data: bytes | None = None  # of a run that ended meanwhile
        if isinstance(content, bytes):
            data = content
        elif not isinstance(content, FileNotFoundError):
            data = read_bytes(f"{scheme}://{path.lstrip('/')}")  # once more, with its attempts
        if data is not None:
            found[path.lstrip("/").removeprefix(root).lstrip("/")] = data
    return found


def identity(location: str) -> str | None:
    """What tells versions of an object apart without reading it; SHA-256 of a file.

    Returns:
        None if there is no such object or file.

    Raises:
        CorpusError: the store cannot be asked.
    """
    if not is_url(location):
        try:
            return sha256_of(location)
        except OSError:
            return None

    def ask() -> str | None:
        try:
            info = info_of(location)
        except FileNotFoundError:
            return None
        tag = next((info[k] for k in ("ETag", "etag", "md5Hash", "blob_id") if info.get(k)), "")
        return f"{info['size']} {str(tag or info.get('created', '')).strip(chr(34))}"

    return tried(location, ask)


def digest(location: str) -> str:
    """SHA-256 of a file or an object, in hex.

    Raises:
        CorpusError: it cannot be read.
    """
    if not is_url(location):
        return sha256_of(location)

    def read() -> str:
        found = hashlib.sha256()
        with system_of(location).open(location, "rb") as file:
            while data := file.read(HASH_BYTES):
                found.update(data)
        return found.hexdigest()

    return tried(location, read)


def _path(location: str) -> str:
    return location.partition("://")[2].strip("/")


def _bucket(location: str) -> str:
    scheme, _, rest = location.partition("://")
    return f"{scheme}://{rest.strip('/').split('/')[0]}"
