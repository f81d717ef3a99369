"""Confinement of a worker process: memory, time, size of files, system calls, other processes.

What a recording makes of a decoder, it opens no connection, starts no program, and neither reads
nor ends other processes. No privilege is needed, and nothing of it can be taken off.
"""

from __future__ import annotations

import os
from pathlib import Path

from voicenym.apps.serve.worker_isolation.call_filter import can_filter, filter_calls
from voicenym.apps.serve.worker_isolation.process_access import (
    close_memory,
    give_up_privileges,
    leave_others_alone,
)


def confine(memory: int, seconds: int, file_bytes: int) -> None:
    """Confines this process for good.

    Args:
        memory: bytes beyond those of now.
        seconds: of processor time.
        file_bytes: of a file that it writes.

    Raises:
        OSError: Linux refused a part of it.
    """
    import resource

    _lower(resource.RLIMIT_AS, _size() + memory)
    _lower(resource.RLIMIT_CPU, seconds)
    _lower(resource.RLIMIT_FSIZE, file_bytes)
    _lower(resource.RLIMIT_CORE, 0)  # a core dump holds the recording
    close_memory()
    give_up_privileges()
    leave_others_alone()
    if can_filter():
        filter_calls()


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
