"""Fault history: how often a live session failed lately, and what follows."""

from __future__ import annotations

from collections import deque

from voicenym.live.live_state import State

OVERLOAD_PAUSE = 0.5
"""Seconds of silence after an overload."""
FAILURE_PAUSES = (0.2, 1.0, 3.0)
"""Seconds of silence after the first, second and third failure; the fourth ends the session."""
CALM_SECONDS = 30.0
"""Age in seconds at which a fault is forgotten."""
OVERLOADS = 3
"""Overloads within :data:`CALM_SECONDS` after which blocks are doubled."""
LONGEST_BLOCK = 0.32
"""Longest block in seconds; as many overloads with it end the session."""


class FaultHistory:
    """Faults with their times.

    Attributes:
        overloads, failures: how often each happened in all.
    """

    def __init__(self) -> None:
        self.overloads = self.failures = 0
        self._recent: deque[tuple[float, State]] = deque()

    def failed(self, now: float) -> float | None:
        """Note a failure; seconds of silence before the next start, None where none follows."""
        self.failures += 1
        times = self._count(State.FAILED, now)
        return FAILURE_PAUSES[times - 1] if times <= len(FAILURE_PAUSES) else None

    def overloaded(self, now: float, block: int, rate: int) -> int | None:
        """Note an overload; samples of the blocks from now on, None where no length is left."""
        self.overloads += 1
        if self._count(State.OVERLOADED, now) < OVERLOADS:
            return block
        self._recent.clear()
        return 2 * block if 2 * block <= LONGEST_BLOCK * rate else None

    def _count(self, state: State, now: float) -> int:
        self._recent.append((now, state))
        while now - self._recent[0][0] > CALM_SECONDS:
            self._recent.popleft()
        return sum(kind is state for _, kind in self._recent)
