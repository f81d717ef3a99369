"""Threads of a live session that wait for nothing but their work."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from voicenym.memory import spare_present_objects

SWITCH_SECONDS = 0.0005
"""Time after which a thread that wants the interpreter gets it from another; Python's is ten times
as long, as long as a device's block."""


@contextmanager
def steady() -> Iterator[None]:
    """Context of a session: no full collection of garbage, and threads that change soon.

    What lives at the start lives as long as the session, so that no collection looks at it later.
    """
    spare_present_objects()
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def step_below() -> None:
    """Lowers the calling thread by one where it has real-time priority (``chrt -f``).

    A worker then never keeps the threads of devices waiting, which have the priority that it had.
    """
    if sys.platform != "linux":
        return
    policy = os.sched_getscheduler(0)
    priority = os.sched_getparam(0).sched_priority
    if policy in (os.SCHED_FIFO, os.SCHED_RR) and priority > 1:
        with suppress(OSError):
            os.sched_setscheduler(0, policy, os.sched_param(priority - 1))
