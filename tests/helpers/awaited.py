"""Waiting for what another process makes true."""

from __future__ import annotations

import threading
from collections.abc import Callable


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition.

    Raises:
        AssertionError: it did not come within a minute.
    """
    done = threading.Event()
    for _ in range(600):
        if condition():
            return
        done.wait(0.1)
    raise AssertionError("it did not come")
