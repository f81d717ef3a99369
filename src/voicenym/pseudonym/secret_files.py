"""Files of keys and shares: read without waiting for a pipe, and flushed to the disk."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

OF_THE_SHELL = "/dev/fd"
"""Folder of pipes whose other end a shell has opened for this process."""
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def content(path: Path, most: int) -> bytes:
    """Content of a regular file, or of a shell's pipe such as ``<(gpg -d project.key.gpg)``, at
    most so many bytes.

    Raises:
        OSError: it cannot be read, or is neither: another pipe may never end.
    """
    handle = os.open(path, os.O_RDONLY | _NONBLOCK | _BINARY)
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISFIFO(mode) and str(path.parent) == OF_THE_SHELL:
            os.set_blocking(handle, True)
        elif not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no regular file; write it into one")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


def write_private(path: Path, text: str) -> None:
    """Writes a new file, readable by its owner only (mode 0600), and flushes it to the disk.

    Raises:
        OSError: it exists, or cannot be written; no part of it stays.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def flush_folder(path: Path) -> None:
    """Flushes the names in a folder to the disk, so that they survive a power cut.

    Raises:
        OSError: the disk fails.
    """
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # file systems that cannot do it
            raise
    finally:
        os.close(handle)
