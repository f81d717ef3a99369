"""Files and objects by location: list, read, download, and write once.

Locations are those of :mod:`voicenym.corpus.shards.stores.store_locations`, such as
``s3://bucket/folder``.
"""

from __future__ import annotations

import errno
import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from voicenym.corpus.batches.single_file import HASH_BYTES, sha256_of
from voicenym.corpus.shards.stores.store_calls import (
    PACKAGES,
    info_of,
    system_of,
    tried,
    writes_once,
)
from voicenym.corpus.shards.stores.store_errors import words_of
from voicenym.corpus.shards.stores.store_locations import is_url
from voicenym.corpus.shards.stores.tried_reads import tried_again
from voicenym.errors import CorpusError, DependencyError

READ_ONLY = ("hf",)
"""Schemes whose stores cannot write an object only if its name is free."""
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


def check_writable(location: str) -> None:
    """Refuses a store to which nothing can be written exactly once.

    Raises:
        CorpusError, DependencyError: with the cure.
    """
    if is_url(location) and location.partition("://")[0] in READ_ONLY:
        raise CorpusError(
            f"{location}: can be read and not written, since this store replaces what another "
            "process writes; write to a folder or to s3://, then upload it"
        )
    if is_url(location) and not writes_once(system_of(location)):
        extra = PACKAGES[location.partition("://")[0]]
        raise DependencyError(
            f"{location}: the installed {extra} would replace what another process writes there; "
            f"pip install --upgrade fsspec {extra}"
        )


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


def upload(path: Path, location: str, overwrite: bool) -> bool:
    """Writes a file to a store under its final name, whole or not at all.

    Args:
        path: the file.
        location: URL of the object.
        overwrite: whether an object of that name may be replaced.

    Returns:
        Whether the object is there by this call; False: another one has the name.

    Raises:
        CorpusError: the store does not take it.
    """
    mode = "overwrite" if overwrite else "create"  # create: If-None-Match: *
    return _written(
        location, FileExistsError, lambda system: system.put_file(str(path), location, mode=mode)
    )


def upload_over(path: Path, location: str, version: str | None) -> bool:
    """Writes a file to a store in the place of one version of an object, whole or not at all.

    S3 servers compare the version (``If-Match``); where a store's package has no such call, what
    replaced that version meanwhile is replaced.

    Args:
        path: the file, which one call sends.
        location: URL of the object.
        version: of :func:`version`; None if there was none.

    Returns:
        Whether the object is there by this call; False: there is another version by now.

    Raises:
        CorpusError: the store does not take it.
    """
    if version is None:
        return upload(path, location, overwrite=False)
    if not location.startswith("s3://"):
        return upload(path, location, overwrite=True)

    whole = path.stat().st_size + 1
    return _written(
        location,
        FileNotFoundError,  # it was removed
        lambda system: system.put_file(str(path), location, chunksize=whole, IfMatch=version),
    )


def _written(location: str, taken: type[OSError], put: Callable[[Any], object]) -> bool:
    """Whether a conditional put was done; False if its condition did not hold.

    Args:
        location: URL of the object.
        taken: error by which a store's package says so; S3 servers answer 412.
        put: writes the object by fsspec's file system of the store.

    Raises:
        CorpusError: the store does not take it.
    """

    def call() -> bool:
        try:
            put(system_of(location))
        except taken:
            return False
        except OSError as error:
            if "PreconditionFailed" in words_of(error) or "412" in words_of(error):
                return False
            raise
        return True

    return tried(location, call)


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


def write_json(location: str, content: dict[str, Any]) -> None:
    """Writes an object, replacing one of that name; stores show it whole or not at all.

    Raises:
        CorpusError: the store does not take it.
    """
    data = json.dumps(content).encode()
    tried(location, lambda: system_of(location).pipe_file(location, data))


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


def remove(location: str) -> None:
    """Removes an object, if it is there.

    Raises:
        CorpusError: the store does not do it.
    """

    def go() -> None:
        with suppress(FileNotFoundError):
            system_of(location).rm_file(location)

    tried(location, go)


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
