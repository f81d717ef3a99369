"""Number of processors available to this process, which a container may limit."""

from __future__ import annotations

import math
import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Of a container: microseconds of processor time in so many microseconds, or ``max``."""


def cores(quota: Path = QUOTA) -> int:
    """Number of processors that the scheduler grants, else that of the machine; at least 1.

    Args:
        quota: file of the container's limit (control groups, version 2).
    """
    granted = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        granted = len(os.sched_getaffinity(0))
    try:
        time, period = quota.read_text(encoding="ascii").split()
        granted = min(granted, math.ceil(int(time) / int(period)))
    except (OSError, ValueError):  # no control groups, or no limit
        pass
    return max(1, granted)
