"""Filter of the system calls of a worker process (Linux, seccomp).

It needs no privilege and cannot be taken off. Calls that this process needs for itself, such as
``tgkill`` of ``abort``, are allowed with itself as their target and refused with any other.
Source: Linux, Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import os
import platform
import struct
import sys
from dataclasses import dataclass

_REFUSED = {
    # socket socketpair bind listen accept accept4 connect sendto sendmsg sendmmsg; execve execveat;
    # kill; ptrace process_vm_readv process_vm_writev process_madvise process_mrelease; pidfd_open
    # pidfd_send_signal pidfd_getfd; io_uring_setup bpf mount unshare setns add_key request_key
    # keyctl perf_event_open; open_by_handle_at
    "x86_64": (
        0xC000003E,
        (
            *(41, 53, 49, 50, 43, 288, 42, 44, 46, 307, 59, 322, 62, 101, 310, 311, 440, 448),
            *(434, 424, 438, 425, 321, 165, 272, 308, 248, 249, 250, 298, 304),
        ),
    ),
    "aarch64": (
        0xC00000B7,
        (
            *(198, 199, 200, 201, 202, 242, 203, 206, 211, 269, 221, 281, 129, 117, 270, 271, 440),
            *(448, 434, 424, 438, 425, 280, 40, 97, 268, 217, 218, 219, 241, 265),
        ),
    ),
}
"""Identifier of an architecture, and the numbers of calls that are refused there."""
_SIGNALS = {"x86_64": (200, 234, 129, 297), "aarch64": (130, 131, 138, 240)}
"""tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo, whose first argument is the target."""
_LIMITS = {"x86_64": 302, "aarch64": 261}
"""prlimit64, whose first argument is the target; 0 is the caller."""
_FILES = {"x86_64": (72, 16), "aarch64": (25, 29)}
"""fcntl ioctl, whose second argument is what to do."""
_FCNTL = (8, 10, 15)
"""F_SETOWN F_SETSIG F_SETOWN_EX: a file that becomes ready sends its owner any signal."""
_IOCTL = (0x8901, 0x8902, 0x5412)
"""FIOSETOWN SIOCSPGRP: the same; TIOCSTI: types into the terminal."""
_SET_SECCOMP, _MODE_FILTER = 22, 2
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | 1, 0x80000000  # EPERM
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_FOREIGN = 0x40000000
"""First number of the calls of another interface of the same processor (x32)."""


@dataclass(frozen=True)
class _Rule:
    """Rule of a call that depends on an argument, whose lower 32 bits are compared.

    Args:
        call: its number.
        argument: place of the argument, from 0.
        values: of it.
        allowed: whether these values are allowed and all others refused, or the reverse.
    """

    call: int
    argument: int
    values: tuple[int, ...]
    allowed: bool


def can_filter() -> bool:
    """Whether system calls can be filtered here."""
    return sys.platform == "linux" and platform.machine() in _REFUSED


def filter_calls() -> None:
    """Filters the system calls of this process for good; it has given up new privileges before.

    Raises:
        OSError: the system has no such filter.
    """
    import ctypes

    program = _program(platform.machine(), os.getpid())
    code = ctypes.create_string_buffer(program)

    class Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    given = Filter(len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_SECCOMP, _MODE_FILTER, ctypes.byref(given), 0, 0):
        raise OSError(ctypes.get_errno(), "the filter of system calls was refused")


def _program(machine: str, own: int) -> bytes:
    """Berkeley packet filter over ``struct seccomp_data``: number at 0, architecture at 4,
    arguments of 8 bytes from 16, of which both machines store the lower half first.
    """
    architecture, refused = _REFUSED[machine]
    fcntl, ioctl = _FILES[machine]
    rules = [_Rule(call, 0, (own,), True) for call in _SIGNALS[machine]]
    rules.append(_Rule(_LIMITS[machine], 0, (0, own), True))
    rules += [_Rule(fcntl, 1, _FCNTL, False), _Rule(ioctl, 1, _IOCTL, False)]
    lines = [
        _statement(_LOAD, 4),
        _statement(_EQUAL, architecture, 1, 0),
        _statement(_RETURN, _KILL),
        _statement(_LOAD, 0),
        _statement(_AT_LEAST, _FOREIGN, 0, 1),
        _statement(_RETURN, _REFUSE),
    ]
    for number in refused:
        lines += [_statement(_EQUAL, number, 0, 1), _statement(_RETURN, _REFUSE)]
    for rule in rules:
        lines += _lines(rule)
    return b"".join([*lines, _statement(_RETURN, _ALLOW)])


def _lines(rule: _Rule) -> list[bytes]:
    """Statements of a rule; another call than its own passes them."""
    listed, others = (_ALLOW, _REFUSE) if rule.allowed else (_REFUSE, _ALLOW)
    lines = [_statement(_LOAD, 16 + 8 * rule.argument)]
    for value in rule.values:
        lines += [_statement(_EQUAL, value, 0, 1), _statement(_RETURN, listed)]
    lines.append(_statement(_RETURN, others))
    return [_statement(_EQUAL, rule.call, 0, len(lines)), *lines]


def _statement(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)
