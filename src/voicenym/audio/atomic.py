"""A file that gets its name only when it is whole."""

from __future__ import annotations

import errno
import os
import secrets
from functools import cache
from pathlib import Path

from voicenym.errors import AudioError


@cache
def _umask() -> int:
    mask = os.umask(0)  # there is no other portable way to ask
    os.umask(mask)
    return mask


def write_failed(name: str, error: BaseException) -> AudioError:
    """Say in a user's words why writing failed."""
    code = getattr(error, "errno", None)
    if code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return AudioError(f"{name}: the disk is full; free some space and run again")
    if code in (errno.EACCES, errno.EPERM, errno.EROFS):
        return AudioError(f"{name}: no permission to write there; choose another folder")
    if code == errno.ENOENT:
        return AudioError(f"{name}: its folder does not exist; create the folder first")
    return AudioError(f"{name}: cannot be written ({error}); check the disk and the folder")


class AtomicFile:
    """A temporary file beside ``path`` that :meth:`commit` renames and :meth:`discard` removes.

    The temporary file is readable by its owner alone; the final one has the umask's mode.
    """

    def __init__(self, path: Path, overwrite: bool) -> None:
        self.path = path
        self.overwrite = overwrite
        self.check()
        name = f".voicenym-{secrets.token_hex(8)}.tmp{path.suffix}"
        self.temporary = path.parent / name
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            os.close(os.open(self.temporary, flags, 0o600))
        except OSError as error:
            raise write_failed(str(path), error) from None

    def check(self) -> None:
        """Refuse a name that is taken."""
        if self.path.is_dir():
            raise AudioError(f"{self.path}: is a folder; name a file to write")
        if not self.overwrite and os.path.lexists(self.path):
            raise AudioError(
                f"{self.path}: exists already; choose another name or allow overwriting"
            )

    def commit(self) -> None:
        """Bring the data to the disk, then give the file its name."""
        self.check()
        try:
            with open(self.temporary, "rb+") as file:
                os.fsync(file.fileno())
            os.chmod(self.temporary, 0o666 & ~_umask())
            os.replace(self.temporary, self.path)
        except OSError as error:
            raise write_failed(str(self.path), error) from None
        if os.name == "posix":
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)  # the rename itself must survive a power cut
            except OSError:
                pass  # some network file systems know no fsync of folders
            finally:
                os.close(folder)

    def discard(self) -> None:
        self.temporary.unlink(missing_ok=True)
