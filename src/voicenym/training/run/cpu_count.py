"""Number of processors that this process may use; in a container fewer than the machine has."""

import os


def cores() -> int:
    """Processors that the scheduler grants, where it says so; else those there are; 1 at least."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
