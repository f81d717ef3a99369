"""Private folder of a server for what clients send: wiped at once, at exit, and after a kill.

Each server has a folder of mode 0700 and a lock beside it, which the system releases when the
process ends in any way. The next server wipes folders whose lock nobody holds. Wiping deletes; it
does not overwrite, which neither journals nor flash memory would honour: put the base into memory
(tmpfs) where that matters.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from voicenym.errors import VoicenymError
from voicenym.private import open_private, private_folder
from voicenym.temporary import folder_for_temporary_files

_OWN = re.compile(r"run-[0-9a-f]{16}")


def usual_base() -> Path:
    """Folder of uploads of this user, in the system's folder for temporary files."""
    user = os.geteuid() if hasattr(os, "geteuid") else "user"
    return folder_for_temporary_files() / f"voicenym-web-{user}"


class UploadFolder:
    """Private folder of one running server; a context manager that wipes it at its end.

    Args:
        base: folder that holds those of all servers of this user; made with mode 0700.

    Attributes:
        path: the folder of this server.
        swept: number of folders of ended servers that were wiped at the start.

    Raises:
        VoicenymError: the base cannot be made private.
    """

    def __init__(self, base: Path | None = None) -> None:
        self.base = private_folder(base or usual_base())
        self.swept = _sweep(self.base)
        while True:
            self.path = self.base / f"run-{secrets.token_hex(8)}"
            self._lock = open_private(_lock_of(self.path), "a")
            if _locked(self._lock, _lock_of(self.path)):
                break
            self._lock.close()
        self.path.mkdir(mode=0o700)

    def new_folder(self) -> Path:
        """A fresh private folder, for one request or job; give it to :meth:`wipe`."""
        found = self.path / secrets.token_hex(16)
        found.mkdir(mode=0o700)
        return found

    @contextmanager
    def request(self) -> Iterator[Path]:
        """Context manager with a fresh folder that is wiped at its end."""
        folder = self.new_folder()
        try:
            yield folder
        finally:
            self.wipe(folder)

    def wipe(self, folder: Path) -> None:
        """Deletes a folder of :meth:`new_folder` with its files; no error if it is gone."""
        if folder.parent != self.path:
            raise ValueError("not a folder of this server")
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Deletes everything; may be called again."""
        shutil.rmtree(self.path, ignore_errors=True)
        if not self._lock.closed:
            _lock_of(self.path).unlink(missing_ok=True)
            self._lock.close()

    def __enter__(self) -> UploadFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _locked(lock: IO[Any], path: Path) -> bool:
    """Whether this process holds the lock now, and the file of its name is still the same."""
    try:
        import fcntl
    except ImportError:  # Windows: one server of a user at a time
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(lock.fileno()), path.stat())
    except OSError:
        return False


def _sweep(base: Path) -> int:
    """Wipes what ended servers left; returns the number of their folders."""
    count = 0
    for folder in sorted({path.with_suffix("") for path in base.iterdir()}):
        if not _OWN.fullmatch(folder.name):
            continue
        path = _lock_of(folder)
        with contextlib.suppress(OSError, VoicenymError), open_private(path, "a") as lock:
            if _locked(lock, path):
                if folder.is_dir() and not folder.is_symlink():
                    shutil.rmtree(folder, ignore_errors=True)
                    count += 1
                path.unlink(missing_ok=True)
    return count
