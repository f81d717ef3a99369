"""Number of processors available to this process, which a container may limit."""

import os


def cores() -> int:
    """Number of processors that the scheduler grants, else that of the machine; at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
