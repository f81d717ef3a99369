"""What processes may do to each other's memory: this one to others, and others to this one.

A process of one user may open ``/proc/PID/mem`` of the user's other processes and overwrite them.
No filter of system calls sees the path of a file, so that three other means close it:

- A process that cannot be dumped is closed to processes of its own user.
- Root opens any process by its capabilities, which a worker gives up.
- Landlock (Linux 5.13) closes all processes to one that has restricted itself, of whatever user.

Sources: Linux, ptrace(2), capabilities(7), Documentation/userspace-api/landlock.rst.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_SET_DUMPABLE, _SET_NO_NEW_PRIVILEGES = 4, 38
_CAPABILITIES_VERSION = 0x20080522
_READ_FILES = 1 << 2
"""CAP_DAC_READ_SEARCH."""
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
"""Numbers of Landlock's calls, the same on all architectures."""
_ASK_VERSION = 1
_EXECUTE = 1 << 0
_SOCKETS_AND_SIGNALS = 0b11
"""Abstract Unix sockets of, and signals to, processes outside of the domain."""
_SCOPE_VERSION = 6
"""Version of Landlock that has them (Linux 6.12)."""


def close_memory() -> None:
    """Closes this process's memory to other processes of its user, and so that of its copies.

    Debuggers of the same user are shut out too. It does nothing on other systems than Linux.
    """
    if sys.platform == "linux":
        _libc().prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def give_up_privileges() -> None:
    """Gives up root's capabilities, and those of programs that it starts, for good.

    To read files is kept: the package and its weights may lie in a folder that is closed to others.
    Without capabilities, or on other systems than Linux, it changes nothing.

    Raises:
        OSError: the system refused it.
    """
    if sys.platform != "linux":
        return
    libc = _libc()
    if libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "privileges could not be given up")
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    found = ctypes.create_string_buffer(24)  # effective, permitted, inheritable: twice 32 bits
    if libc.capget(header, found):
        raise OSError(ctypes.get_errno(), "capabilities could not be read")
    held = struct.unpack("=6I", found.raw)
    if not any(held):
        return  # filters of services, such as systemd's, refuse the next call whatever it gives up
    kept = held[1] & _READ_FILES
    if libc.capset(header, struct.pack("=6I", kept, kept, 0, 0, 0, 0)):
        raise OSError(ctypes.get_errno(), "capabilities could not be given up")


def leave_others_alone() -> bool:
    """Closes other processes' memory to this one for good, and signals to them from Linux 6.12 on.

    It starts no programs either, and moves no file from one folder to another. Call it after
    :func:`give_up_privileges`.

    Returns:
        Whether it is so: not without Landlock.
    """
    if sys.platform != "linux":
        return False
    libc = _libc()
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    if version < 1:
        return False
    rules = struct.pack("=Q", _EXECUTE)
    if version >= _SCOPE_VERSION:
        rules = struct.pack("=QQQ", _EXECUTE, 0, _SOCKETS_AND_SIGNALS)
    handle = libc.syscall(_CREATE_RULESET, rules, ctypes.c_size_t(len(rules)), 0)
    if handle < 0:
        return False
    try:
        return not libc.syscall(_RESTRICT_SELF, handle, 0)
    finally:
        os.close(handle)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
