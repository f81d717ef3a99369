"""Syntax that distinguishes names from paths, without access to the disk.

A folder ``ecapa-small`` among untrusted recordings must not replace the weights of that name. A
name therefore never means a file or folder; a path has a separator (``./NAME``, ``NAME/``) or is
absolute.
"""

from __future__ import annotations

import os
import re

from voicenym.errors import VoicenymError

HUB_NAME = re.compile(r"(?P<name>[\w-][\w.-]*/[\w.-]+?)(@(?P<revision>[\w./-]+))?")
"""A repository of the hub, ``owner/name`` or ``owner/name@revision``."""
SEPARATORS = tuple({os.sep, os.altsep or os.sep, "/"})


def is_path(text: str) -> bool:
    """Whether a text is a path rather than a name.

    >>> [is_path(text) for text in ("ecapa-small", "./ecapa-small", "ecapa-small/", ".")]
    [False, True, True, True]
    """
    return text in (os.curdir, os.pardir) or any(sign in text for sign in SEPARATORS)


def is_hub_name(text: str) -> bool:
    """Whether a text is a repository name of the hub.

    ``owner/name`` does; a folder of that form is written ``./owner/name`` or ``owner/name/``.
    """
    return HUB_NAME.fullmatch(text) is not None


def as_path(value: str | os.PathLike[str]) -> str:
    """Text of a path with a separator, because ``pathlib`` drops ``./``."""
    text = os.fspath(value)
    return text if is_path(text) else os.path.join(os.curdir, text)


def hint(name: str) -> str:
    """Addition to the error message of an unknown name: how to write a path, or nothing."""
    if os.path.isabs(name) or name.startswith(os.curdir) or not os.path.lexists(name):
        return ""
    return f"; a path needs a separator, so write ./{name} for the one in the current folder"


def unambiguous(place: str) -> str:
    """Rejects a hub name that is also a folder here, for libraries that prefer the folder.

    Args:
        place: a path, or a name of the hub.

    Returns:
        The same.

    Raises:
        VoicenymError: a hub name of a folder that exists here.
    """
    named = is_hub_name(place) or not is_path(place)
    if named and os.path.lexists(place):
        raise VoicenymError(
            f"{place}: names weights on the hub, and there is a {place} in the current folder too; "
            f"write ./{place} for that, or start in another folder"
        )
    return place
