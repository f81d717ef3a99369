"""Objects that are written: once, over one version, or over whatever is there; and removed."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from voicenym.corpus.shards.stores.store_calls import PACKAGES, system_of, tried, writes_once
from voicenym.corpus.shards.stores.store_errors import words_of
from voicenym.corpus.shards.stores.store_locations import is_url
from voicenym.errors import CorpusError, DependencyError

READ_ONLY = ("hf",)
"""Schemes whose stores cannot write an object only if its name is free."""


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
        version: of :func:`voicenym.corpus.shards.stores.object_store.version`; None if there was
            none.

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


def write_json(location: str, content: dict[str, Any]) -> None:
    """Writes an object, replacing one of that name; stores show it whole or not at all.

    Raises:
        CorpusError: the store does not take it.
    """
    data = json.dumps(content).encode()
    tried(location, lambda: system_of(location).pipe_file(location, data))


def remove(location: str) -> None:
    """Removes an object, if it is there.

    Raises:
        CorpusError: the store does not do it.
    """

    def go() -> None:
        with suppress(FileNotFoundError):
            system_of(location).rm_file(location)

    tried(location, go)
