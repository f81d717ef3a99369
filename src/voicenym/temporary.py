"""Folder for temporary files: the one that the user named, and no other in its place.

Temporary files may hold speech. Python takes another folder, such as ``/tmp``, without a word where
the named one cannot be used, as an encrypted disk that is not mounted.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from voicenym.errors import VoicenymError

NAMES = ("TMPDIR", "TEMP", "TMP")
"""Variables of the environment that name the folder; the first that is set counts."""


def folder_for_temporary_files() -> Path:
    """The folder that the environment names, or the system's.

    Raises:
        VoicenymError: the folder that is named is none, is full, or cannot be written.
    """
    name = next((name for name in NAMES if os.environ.get(name)), None)
    undecided = tempfile.tempdir is None
    found = tempfile.gettempdir()
    if name is None:
        return Path(found)
    named = os.environ[name]
    # Python also leaves a folder that is full
    left = undecided and found != os.path.abspath(named)
    if os.path.isdir(named) and os.access(named, os.W_OK | os.X_OK) and not left:
        return Path(found)
    if undecided:  # Python would keep its choice once the named folder can be used
        tempfile.tempdir = None
    if not os.path.isdir(named):
        raise VoicenymError(
            f"{named}: no such folder, and {name} names it for temporary files, which may hold "
            f"speech; create or mount it, or change {name}"
        )
    raise VoicenymError(
        f"{named}: cannot be written or is full, and {name} names it for temporary files, which "
        f"may hold speech; make it writable, free some space, or change {name}"
    )


def temporary_directory() -> tempfile.TemporaryDirectory[str]:
    """A folder of mode 0700 that its context removes, where temporary files belong.

    Raises:
        VoicenymError: as of :func:`folder_for_temporary_files`.
    """
    return tempfile.TemporaryDirectory(prefix="voicenym-", dir=folder_for_temporary_files())
