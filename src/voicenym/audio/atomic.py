"""Files that get their name when they are complete, and removal of partial files.

A process that writes a temporary file holds a lock on it, which the system drops when the process
ends, however it ends. By this lock :func:`sweep` distinguishes files of dead processes from files
that are being written.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from voicenym.errors import FULL, AudioError, DiskFullError

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be removed
    fcntl = None  # type: ignore[assignment]

_OURS = re.compile(r"\.voicenym-[0-9a-f]{16}\.tmp")
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES)

PRIVATE = 0o600
"""Permissions of a file that only its owner can read."""


@cache
def _umask() -> int:
    mask = os.umask(0)  # there is no other portable way to ask
    os.umask(mask)
    return mask


def write_failed(name: str, error: BaseException) -> AudioError:
    """Error for a failed write, with a message for the user."""
    code = getattr(error, "errno", None)
    if code in (*FULL, errno.EFBIG):
        return DiskFullError(f"{name}: the disk is full; free some space and run again")
    if code in (errno.EACCES, errno.EPERM, errno.EROFS):
        return AudioError(f"{name}: no permission to write there; choose another folder")
    if code == errno.ENOENT:
        return AudioError(f"{name}: its folder does not exist; create the folder first")
    return AudioError(f"{name}: cannot be written ({error}); check the disk and the folder")


class AtomicFile:
    """A temporary file beside ``path`` that :meth:`commit` renames and :meth:`discard` removes.

    The temporary file is readable by its owner alone and locked while it is written.

    Args:
        path: the final name.
        overwrite: whether a file of that name may be replaced.
        mode: permissions of the final file; default: what the umask leaves of 0666.
    """

    def __init__(self, path: Path, overwrite: bool, mode: int | None = None) -> None:
        self.path = path
        self.overwrite = overwrite
        self.mode = mode
        self._held: int | None = None
        self.check()
        try:
            self.temporary = self._create()
        except OSError as error:
            raise write_failed(str(path), error) from None

    def _create(self) -> Path:
        while True:
            temporary = self.path.parent / f"{_temporary_name()}{self.path.suffix}"
            held = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            if fcntl is None:
                os.close(held)
                return temporary
            with suppress(OSError):  # a file system without locks: nothing is swept there either
                fcntl.flock(held, fcntl.LOCK_EX)
            if os.fstat(held).st_nlink:
                self._held = held
                return temporary
            os.close(held)  # swept before it was locked

    def check(self) -> None:
        """Refuses an existing name."""
        if self.path.is_dir():
            raise AudioError(f"{self.path}: is a folder; name a file to write")
        if not self.overwrite and os.path.lexists(self.path):
            raise self._taken()

    def _taken(self) -> AudioError:
        return AudioError(f"{self.path}: exists already; choose another name or allow overwriting")

    def commit(self) -> None:
        """Flushes the data to the disk, then renames the file."""
        self.check()
        try:
            with open(self.temporary, "rb+") as file:
                os.fsync(file.fileno())
            os.chmod(self.temporary, 0o666 & ~_umask() if self.mode is None else self.mode)
            self._name()
        except OSError as error:
            raise write_failed(str(self.path), error) from None
        self._release()
        if os.name == "posix":
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)  # the rename itself must survive a power cut
            except OSError:
                pass  # some network file systems know no fsync of folders
            finally:
                os.close(folder)

    def _name(self) -> None:
        """Renames the file; without permission to replace, not even a file that appeared in the
        meantime.
        """
        if self.overwrite:
            os.replace(self.temporary, self.path)
            return
        try:
            os.link(self.temporary, self.path)
        except FileExistsError:
            raise self._taken() from None
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.replace(self.temporary, self.path)  # a file system without links
            return
        self.temporary.unlink()

    def _release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def discard(self) -> None:
        self.temporary.unlink(missing_ok=True)
        self._release()


@contextmanager
def text_beside(path: Path, text: str, overwrite: bool, mode: int | None = None) -> Iterator[None]:
    """Context manager in which another file is written: both are there afterwards, or neither.

    Args:
        path, text, overwrite, mode: as of :func:`unnamed_text`.

    Raises:
        AudioError: as there.
    """
    file = unnamed_text(path, text, overwrite, mode)
    try:
        yield
        file.commit()
    finally:
        file.discard()


def unnamed_text(path: Path, text: str, overwrite: bool, mode: int | None = None) -> AtomicFile:
    """A text file in UTF-8, complete but for its name, which :meth:`AtomicFile.commit` gives it.

    Args:
        path: the final name.
        text: of the file.
        overwrite: whether a file of that name may be replaced.
        mode: as of :class:`AtomicFile`.

    Raises:
        AudioError: exists already and may not be replaced, or cannot be written; nothing is left.
    """
    file = AtomicFile(path, overwrite, mode)
    try:
        file.temporary.write_text(text, "utf-8")
    except BaseException as error:
        file.discard()
        if isinstance(error, OSError):
            raise write_failed(str(path), error) from None
        raise
    return file


@contextmanager
def temporary_folder(beside: Path) -> Iterator[Path]:
    """A temporary folder in ``beside``, removed with its content; :func:`sweep` recognises it.

    Raises:
        OSError: it cannot be created.
    """
    folder, held = _locked_folder(beside)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            os.close(held)


def _locked_folder(beside: Path) -> tuple[Path, int | None]:
    """A new folder, and the file descriptor that locks it."""
    while True:
        folder = beside / _temporary_name()
        folder.mkdir(mode=0o700)
        if fcntl is None:
            return folder, None
        try:
            held = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue  # swept by another run before it was locked
        with suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_EX)
        if folder.is_dir():
            return folder, held
        os.close(held)


def sweep(folder: Path) -> None:
    """Removes the temporary files and folders of dead processes in ``folder``.

    Files of living processes stay, and so do files whose process is unknown.
    """
    if fcntl is None:
        return
    try:
        with os.scandir(folder) as entries:
            left = [entry.path for entry in entries if _OURS.match(entry.name)]
    except OSError:
        return  # no such folder yet
    for path in left:
        with suppress(OSError):
            _remove_if_dead(path)


def _remove_if_dead(path: str) -> None:
    is_folder = os.path.isdir(path) and not os.path.islink(path)
    held = os.open(path, os.O_NOFOLLOW | (os.O_RDONLY if is_folder else os.O_RDWR))
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_folder:
            shutil.rmtree(path)
        else:
            os.unlink(path)
    finally:
        os.close(held)


def _temporary_name() -> str:
    return f".voicenym-{secrets.token_hex(8)}.tmp"
