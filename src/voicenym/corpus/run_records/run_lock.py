"""Lock of an output folder: one run at a time; the lock of a dead process is ignored.

The lock is the system's (``flock``) on the file ``.voicenym.lock``: it ends with the processes that
hold it, however they end, and the next run reuses the file that a killed run leaves. Worker
processes share the lock of their run: a worker that outlives its killed run for a moment keeps the
folder locked until it ends.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import time
from pathlib import Path

from voicenym.errors import CorpusError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK_NAME = ".voicenym.lock"
PATIENCE = 60.0
"""Seconds that a run waits for the workers of a dead run."""
_PAUSE = 0.05
_OWN = getattr(os, "O_NOFOLLOW", 0)
"""A link of this name would have another file overwritten."""


class RunLock:
    """The lock of a folder, held from :meth:`acquire` to :meth:`release`.

    Args:
        folder: an existing folder.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOCK_NAME
        self._file: int | None = None
        self._started = time.time()

    def acquire(self) -> None:
        """Locks the folder for this process and the workers that will :meth:`share` the lock.

        Raises:
            CorpusError: another run holds the lock, or the lock cannot be created.
        """
        if fcntl is None:
            return
        until = time.monotonic() + PATIENCE
        while not self._try():
            holder = self._holder()
            if lives(holder) or time.monotonic() > until:
                who = f" (process {holder['pid']} on {holder['host']})" if holder else ""
                raise CorpusError(
                    f"{self.path.parent}: another run works in this folder{who}; wait until it "
                    "ends, or choose another folder with -o"
                )
            time.sleep(_PAUSE)
        self.describe()

    def share(self) -> None:
        """Holds the lock as a worker of the run that acquired it, until this process ends."""
        if fcntl is None:
            return
        with contextlib.suppress(OSError):
            self._file = os.open(self.path, os.O_RDWR | _OWN)
            fcntl.flock(self._file, fcntl.LOCK_SH)

    def release(self) -> None:
        """Unlocks the folder, and removes the lock's file, but not one of a run in a new folder of
        this name.
        """
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(self._file), os.stat(self.path)):
                self.path.unlink()
        os.close(self._file)
        self._file = None

    def _try(self) -> bool:
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | _OWN, 0o600)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise CorpusError(
                    f"{self.path}: is a link, and what it names would be overwritten; remove it, "
                    "or choose another folder with -o"
                ) from None
            raise CorpusError(
                f"{self.path.parent}: cannot be written to ({error.strerror}); choose another "
                "folder with -o"
            ) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Workers share it from here on. Where another run comes between, this one has lost.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            taken = os.path.samestat(os.fstat(file), os.stat(self.path))
        except BlockingIOError:
            taken = False
        except FileNotFoundError:  # released and removed by its holder meanwhile
            taken = False
        except OSError:
            taken = True  # a file system without locks: as without this file
        if taken:
            self._file = file
        else:
            os.close(file)
        return taken

    def describe(self, **facts: int) -> None:
        """Writes the process and its machine into the lock's file, for other processes to read.

        Args:
            facts: of the run, by name.
        """
        if self._file is None:
            return
        owner = {"pid": os.getpid(), "host": socket.gethostname(), "started": self._started}
        text = json.dumps({**owner, **facts})
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, text.encode(), 0)

    def holder(self) -> dict[str, object] | None:
        """What the running run that holds the lock wrote into it; None without one."""
        owner = self._holder()
        return owner if lives(owner) else None

    def _holder(self) -> dict[str, object]:
        try:
            owner = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        known = isinstance(owner, dict) and isinstance(owner.get("pid"), int) and "host" in owner
        return owner if known else {}


def lives(holder: dict[str, object]) -> bool:
    """Whether the process that acquired the lock still runs, as far as is known."""
    if not holder:
        return False
    if holder["host"] != socket.gethostname():
        return True
    try:
        os.kill(int(str(holder["pid"])), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
