"""Input queue: samples of a device until the system gets them, in blocks of one length."""

from __future__ import annotations

from collections import deque

import numpy


class InputQueue:
    """Samples ``[time, channel]`` with the time of their capture; not safe for threads.

    Attributes:
        waiting: number of samples.
    """

    def __init__(self) -> None:
        self.waiting = 0
        self._parts: deque[tuple[float, numpy.ndarray]] = deque()

    def add(self, samples: numpy.ndarray, at: float) -> None:
        """Add samples that were captured at this time, in seconds."""
        self._parts.append((at, samples))
        self.waiting += len(samples)

    def next(self, count: int) -> tuple[float, numpy.ndarray] | None:
        """Time of the oldest sample and ``[count, channel]``; None before so many are there."""
        if self.waiting < count:
            return None
        first, parts, found = self._parts[0][0], [], 0
        while found < count:
            at, part = self._parts.popleft()
            surplus = found + len(part) - count
            if surplus > 0:
                self._parts.appendleft((at, part[-surplus:]))
                part = part[:-surplus]
            parts.append(part)
            found += len(part)
        self.waiting -= count
        return first, numpy.concatenate(parts)

    def silence(self) -> None:
        """Replace what waits by as many zeros."""
        self._parts = deque((at, numpy.zeros_like(part)) for at, part in self._parts)

    def clear(self) -> None:
        self._parts.clear()
        self.waiting = 0
