"""Destruction of a key file: overwritten, flushed and removed."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from voicenym.errors import KeyFileError
from voicenym.pseudonym import key_file, secret_files

LIMITS = (
    "Copies, backups, snapshots of the file system and shares of the key are not touched; a "
    "journalled or copy-on-write file system and a flash disk may keep the former blocks until "
    "they are used again. Where that matters, keep keys on an encrypted disk, and destroy its key."
)
"""What the destruction of a file does not promise."""


def destroy(path: Path) -> None:
    """Overwrites a key file with random bytes of the same length, flushes and removes it.

    Raises:
        KeyFileError: no key file, a link, a file with several names, or it cannot be written.
    """
    key_file.read(path)  # nothing but keys is destroyed
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise KeyFileError(f"{path}: is a link; name the key file itself: {path.resolve()}")
        if found.st_nlink > 1:
            raise KeyFileError(
                f"{path}: has {found.st_nlink} names (hard links), and the others would stay; "
                "remove them first"
            )
        handle = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            left = found.st_size
            while left:
                left -= os.write(handle, secrets.token_bytes(left))
            os.fsync(handle)
            os.ftruncate(handle, 0)
            os.fsync(handle)
        finally:
            os.close(handle)
        path.unlink()
        secret_files.flush_folder(path.parent)
    except OSError as error:
        raise KeyFileError(
            f"{path}: the key cannot be destroyed ({error.strerror}); check its permissions"
        ) from None
