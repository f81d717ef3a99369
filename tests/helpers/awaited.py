"""Waiting for what another process makes true."""

from __future__ import annotations

import threading
from collections.abc import Callable

PATIENCE = 600.0
"""Seconds after which what did not come never will: no load of the machine takes as long."""


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition.

    Raises:
        AssertionError: it did not come in :data:`PATIENCE`.
    """
    done = threading.Event()
    for _ in range(round(10 * PATIENCE)):
        if condition():
            return
        done.wait(0.1)
    raise AssertionError("it did not come")
