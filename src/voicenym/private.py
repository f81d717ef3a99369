"""Private files: mode 0600, in folders of mode 0700, for data derived from speech or secrets.

Caches of voiceprints and decoded speech, training logs and reports are written through this module.
The modes do not depend on the umask. An existing folder is made private if it is empty or a cache
of voicenym; any other folder that others can enter is rejected, because a change of its mode could
lock out its users. So is one that all users share (``/tmp``, ``/dev/shm``), also if it is empty.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
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
_ACL = "system.posix_acl_access"
_ACL_VERSION, _ACL_ENTRY = 2, struct.Struct("<HHI")
_ACL_USER, _ACL_GROUPS, _ACL_MASK = 0x02, (0x04, 0x08), 0x10
"""Tags of entries: a named user; the file's group and named groups; the most they may do."""


def private_folder(path: Path, cache: str = "") -> Path:
    """Creates a private folder, or makes an existing one private.

    Args:
        path: the folder; missing parents are created with mode 0700 too.
        cache: kind of cache to mark the folder as; empty for other folders.

    Returns:
        ``path``.

    Raises:
        VoicenymError: it cannot be created; is no folder; belongs to another user, or is reached by
            another user's link; all users share it; or others can enter it and it holds other files
            than voicenym's.
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


def others_can_open(path: Path) -> bool:
    """Whether others than a file's owner and this process's user may read, write or execute it.

    An access control list (Linux, acl(5)) counts by its entries: where there is one, the group's
    bits of the mode are only the most that it grants. systemd gives a service its credentials so,
    with mode 0440 and an entry for the service's user alone.

    Raises:
        OSError: there is no such file, or it cannot be looked at.
    """
    mode = stat.S_IMODE(path.stat().st_mode)
    if not POSIX or not mode & OTHERS:
        return False
    if mode & stat.S_IRWXO:
        return True
    try:
        data = os.getxattr(path, _ACL)
    except (OSError, AttributeError):  # none, or a system without these
        return True
    version, size = int.from_bytes(data[:4], "little"), len(data) - 4
    if version != _ACL_VERSION or size < 0 or size % _ACL_ENTRY.size:
        return True
    entries = list(_ACL_ENTRY.iter_unpack(data[4:]))
    most = next((rights for tag, rights, _ in entries if tag == _ACL_MASK), 7)
    return any(
        rights & most and (tag in _ACL_GROUPS or (tag == _ACL_USER and who != os.geteuid()))
        for tag, rights, who in entries
    )


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
        if status.st_mode & stat.S_ISVTX and status.st_mode & stat.S_IWOTH:
            raise VoicenymError(
                f"{path}: all users share it, and need it open; choose a folder in it, such as "
                f"{path / 'voicenym'}"
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
