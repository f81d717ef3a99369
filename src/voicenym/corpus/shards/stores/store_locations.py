"""Locations of files and objects: paths of this machine, and URLs of stores that fsspec knows.

Only locations that the user wrote on the command line, and what is listed below them, come here;
nothing that is named in a recording or in a table does.
"""

from __future__ import annotations

import os
from pathlib import Path

from voicenym.corpus.readers.id_checks import printable
from voicenym.corpus.shards.stores.store_calls import PACKAGES
from voicenym.errors import CorpusError

ALIASES = {"s3a": "s3", "gcs": "gs"}
"""Other names of schemes."""


def is_url(location: str) -> bool:
    """Whether a location has a scheme; ``file://`` counts as one too."""
    return "://" in location


def url_in(path: Path) -> str | None:
    """URL that was written in the place of a path, which has lost a slash; None for a path.

    Example:
        >>> url_in(Path("s3://bucket/train"))
        's3://bucket/train'
    """
    scheme, colon, rest = path.as_posix().partition(":/")
    known = {*PACKAGES, *ALIASES, "file"}
    if not colon or scheme not in known or os.path.lexists(path):
        return None
    return f"{scheme}://{rest.lstrip('/')}" if scheme != "file" else f"file:///{rest.lstrip('/')}"


def location_of(text: str) -> str:
    """Location as the user wrote it, checked; ``file://`` becomes a path.

    Raises:
        CorpusError: a scheme that is not supported.
    """
    if not is_url(text):
        return text
    scheme, _, rest = text.partition("://")
    if scheme == "file":
        return f"/{rest.lstrip('/')}"
    scheme = ALIASES.get(scheme, scheme)
    if scheme not in PACKAGES:
        known = ", ".join(f"{name}://" for name in (*PACKAGES, "file") if name != "memory")
        raise CorpusError(
            f"{printable(text)}: {printable(scheme)}:// is not supported; use one of {known}, or a "
            "path"
        )
    if not rest.strip("/"):
        raise CorpusError(f"{text}: names no bucket; write {scheme}://BUCKET/FOLDER")
    return f"{scheme}://{rest.rstrip('/')}"


def join(folder: str, name: str) -> str:
    """Location of a name below a folder."""
    return f"{folder.rstrip('/')}/{name}"
