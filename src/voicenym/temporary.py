"""Folder for temporary files: the one that the user named, and no other in its place.

Temporary files may hold speech. Python takes another folder, such as ``/tmp``, without a word where
the named one cannot be used, as an encrypted disk that is not mounted.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from voicenym.errors import VoicenymError

NAMES = ("TMPDIR", "TEMP", "TMP")
"""Variables of the environment that name the folder; the first that is set counts."""


def folder_for_temporary_files() -> Path:
    """The folder that the environment names, or the system's.

    Raises:
        VoicenymError: the folder that is named is none, or cannot be written.
    """
    name = next((name for name in NAMES if os.environ.get(name)), None)
    if name is not None:
        named = os.environ[name]
        if not os.path.isdir(named):
            raise VoicenymError(
                f"{named}: no such folder, and {name} names it for temporary files, which may hold "
                f"speech; create or mount it, or change {name}"
            )
        if not os.access(named, os.W_OK | os.X_OK):
            raise VoicenymError(
                f"{named}: cannot be written, and {name} names it for temporary files; make it "
                f"writable, or change {name}"
            )
    return Path(gettempdir())


def temporary_directory() -> TemporaryDirectory[str]:
    """A folder of mode 0700 that its context removes, where temporary files belong.

    Raises:
        VoicenymError: as of :func:`folder_for_temporary_files`.
    """
    return TemporaryDirectory(prefix="voicenym-", dir=folder_for_temporary_files())
