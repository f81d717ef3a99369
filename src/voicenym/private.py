"""Private files: mode 0600, in folders of mode 0700, for data derived from speech or secrets.

Caches of voiceprints and decoded speech, training logs and reports are written through this module.
The modes do not depend on the umask. An existing folder is made private if it is empty or a cache
of voicenym; any other folder that others can enter is rejected, because a change of its mode could
lock out its users.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from voicenym.errors import VoicenymError

TAG = "CACHEDIR.TAG"
"""Name of the file that marks a cache for ``voicenym cache clear`` and for backup programs."""
SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55"
"""First line of a tag, the same for all programs (https://bford.info/cachedir/)."""
OWN = "# This folder is private to its owner and was made by voicenym"
"""Second line of a tag of ours; the kind of the folder follows."""
OTHERS = stat.S_IRWXG | stat.S_IRWXO
POSIX = os.name == "posix"


def private_folder(path: Path, cache: str = "") -> Path:
    """Creates a private folder, or makes an existing one private.

    Args:
        path: the folder; missing parents are created with mode 0700 too.
        cache: kind of cache to mark the folder as; empty for other folders.

    Returns:
        ``path``.

    Raises:
        VoicenymError: it cannot be created; is no folder; belongs to another user, or is reached by
            another user's link; or others can enter it and it holds other files than voicenym's.
    """
    try:
        _make(path)
        if POSIX:
            _close(path)
        if cache and not os.path.lexists(path / TAG):
            write_private(path / TAG, f"{SIGNATURE}\n{OWN}: {cache}\n")
    except OSError as error:
        what = "is no folder" if error.errno in (errno.ENOTDIR, errno.EEXIST) else error.strerror
        raise VoicenymError(f"{path}: {what}; choose another folder") from error
    return path


def open_private(path: Path, mode: str = "w") -> IO[Any]:
    """Opens a private file: mode 0600, also if it was wider before.

    Args:
        path: symbolic links are not followed.
        mode: ``w`` replaces, ``a`` appends, ``x`` asks for a new file, ``r+`` also reads what is
            there, and makes the file where there is none; with ``b`` for bytes, else UTF-8 text.

    Raises:
        VoicenymError: the file belongs to another user, or is a symbolic link.
        OSError: it cannot be opened.
    """
    flags = os.O_CREAT | (os.O_RDWR if mode[0] == "r" else os.O_WRONLY)
    for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):  # as far as the system has them
        flags |= getattr(os, name, 0)
    flags |= {"w": 0, "r": 0, "a": os.O_APPEND, "x": os.O_EXCL}[mode[0]]
    try:
        handle = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise VoicenymError(
                f"{path}: is a symbolic link, which is not written through; remove it"
            ) from error
        raise
    try:
        status = os.fstat(handle)
        if POSIX and status.st_uid != os.geteuid():
            raise VoicenymError(f"{path}: belongs to another user; remove it")
        if POSIX and stat.S_IMODE(status.st_mode) != 0o600:
            os.fchmod(handle, 0o600)
        if mode[0] == "w":
            os.ftruncate(handle, 0)
        return os.fdopen(handle, mode, encoding=None if "b" in mode else "utf-8")
    except BaseException:
        os.close(handle)
        raise


def write_private(path: Path, content: bytes | str) -> None:
    """Writes a private file atomically.

    Args:
        path: a symbolic link of this name is replaced, not followed.
        content: text is written as UTF-8.

    Raises:
        OSError: it cannot be written.
    """
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    with replacing(path) as partial, open_private(partial, "xb") as file:
        file.write(data)


def write_inside(path: Path, content: bytes | str) -> None:
    """As :func:`write_private` in a private folder; elsewhere with the umask's mode.

    Raises:
        OSError: it cannot be written.
    """
    if is_closed(path.parent):
        write_private(path, content)
        return
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    with replacing(path) as partial:
        partial.write_bytes(data)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Context manager with a temporary name that replaces ``path`` on success.

    Raises:
        OSError: it cannot be renamed.
    """
    import secrets  # loads OpenSSL, which help and lists do not need

    partial = path.with_name(f".{path.stem}.{secrets.token_hex(6)}{path.suffix}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def closed() -> Iterator[None]:
    """Context manager in which all new files and folders are private, whichever library or process
    creates them.

    It sets the umask, which all threads of the process share.
    """
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def is_closed(folder: Path) -> bool:
    """Whether a folder is private; False if it does not exist."""
    try:
        return POSIX and not folder.stat().st_mode & OTHERS
    except OSError:
        return False


def cache_kind(folder: Path) -> str | None:
    """Kind of a voicenym cache; None for other folders."""
    tag = folder / TAG
    with suppress(OSError, ValueError):
        if stat.S_ISREG(tag.lstat().st_mode):
            first, second, *_ = tag.read_text("utf-8").split("\n")
            if first == SIGNATURE and second.startswith(f"{OWN}: "):
                return second.removeprefix(f"{OWN}: ")
    return None


def _make(path: Path) -> None:
    """Creates a folder and its parents, private from the start."""
    if path.exists():
        return
    _make(path.parent)
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)


def _close(path: Path) -> None:
    """Removes others' rights to a folder, or raises an error with the reason."""
    if path.is_symlink() and path.lstat().st_uid not in (0, os.geteuid()):
        raise VoicenymError(f"{path}: is a symbolic link of another user; name the folder itself")
    handle = os.open(os.path.realpath(path), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid():
            raise VoicenymError(
                f"{path}: belongs to another user, who could read it; choose another folder"
            )
        if status.st_mode & OTHERS:
            if os.listdir(handle) and cache_kind(path) is None:
                raise VoicenymError(
                    f"{path}: others can enter it, and something is in it already; choose another "
                    f"folder, or close it with: chmod 700 {path}"
                )
            os.fchmod(handle, 0o700)
    finally:
        os.close(handle)
