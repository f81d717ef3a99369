"""Confinement of a worker process: memory, time, size of files, and system calls.

A filter of system calls (Linux, seccomp) refuses connections, new programs, and access to other
processes. It needs no privilege and cannot be taken off, also not by what a recording makes a
decoder do. Source: Linux, Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import os
import platform
import struct
import sys
from pathlib import Path

_REFUSED = {
    # socket socketpair bind listen accept accept4 connect sendto sendmsg; execve execveat; kill;
    # ptrace process_vm_readv process_vm_writev pidfd_open pidfd_send_signal pidfd_getfd;
    # io_uring_setup bpf mount unshare setns add_key request_key keyctl perf_event_open
    "x86_64": (
        0xC000003E,
        (
            *(41, 53, 49, 50, 43, 288, 42, 44, 46, 59, 322, 62, 101, 310, 311, 434, 424, 438),
            *(425, 321, 165, 272, 308, 248, 249, 250, 298),
        ),
    ),
    "aarch64": (
        0xC00000B7,
        (
            *(198, 199, 200, 201, 202, 242, 203, 206, 211, 221, 281, 129, 117, 270, 271, 434),
            *(424, 438, 425, 280, 40, 97, 268, 217, 218, 219, 241),
        ),
    ),
}
"""Identifier of an architecture, and the numbers of refused calls there."""
_SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | 1, 0x80000000  # EPERM
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_FOREIGN = 0x40000000
"""First number of the calls of another interface of the same processor (x32)."""


def can_confine() -> bool:
    """Whether system calls can be filtered here."""
    return sys.platform == "linux" and platform.machine() in _REFUSED


def confine(memory: int, seconds: int, file_bytes: int) -> None:
    """Confines this process for good.

    Args:
        memory: bytes beyond those of now.
        seconds: of processor time.
        file_bytes: of a file that it writes.
    """
    import resource

    _lower(resource.RLIMIT_AS, _size() + memory)
    _lower(resource.RLIMIT_CPU, seconds)
    _lower(resource.RLIMIT_FSIZE, file_bytes)
    _lower(resource.RLIMIT_CORE, 0)  # a core dump holds the recording
    if can_confine():
        _filter_calls()


def _lower(what: int, limit: int) -> None:
    import resource

    hard = resource.getrlimit(what)[1]
    most = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(what, (most, most))


def _size() -> int:
    """Bytes of address space of this process; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return 1 << 40
    return pages * os.sysconf("SC_PAGE_SIZE")


def _filter_calls() -> None:
    import ctypes

    program = _program(*_REFUSED[platform.machine()])
    code = ctypes.create_string_buffer(program)

    class Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    given = Filter(len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(
        _SET_SECCOMP, _MODE_FILTER, ctypes.byref(given), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "the filter of system calls was refused")


def _program(architecture: int, refused: tuple[int, ...]) -> bytes:
    """Berkeley packet filter over ``struct seccomp_data``: number at 0, architecture at 4."""

    def statement(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    lines = [
        statement(_LOAD, 4),
        statement(_EQUAL, architecture, 1, 0),
        statement(_RETURN, _KILL),
        statement(_LOAD, 0),
        statement(_AT_LEAST, _FOREIGN, len(refused), 0),
    ]
    for place, number in enumerate(refused):
        lines.append(statement(_EQUAL, number, len(refused) - 1 - place + 1, 0))
    return b"".join([*lines, statement(_RETURN, _ALLOW), statement(_RETURN, _REFUSE)])
