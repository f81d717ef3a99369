"""Processor time of functions."""

from __future__ import annotations

import time
from collections.abc import Callable


def fastest(repeats: int, function: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs, after one that is not counted: others on the machine
    matter less than to the mean.
    """
    function()
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        spent.append(time.process_time() - start)
    return min(spent)
