"""Bounded parallel work: some at once, some waiting, and a clear refusal of what exceeds both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from voicenym.apps.web.problem_details import busy


class WorkSlots:
    """Slots for work in one event loop, in the order of arrival.

    Args:
        parallel: pieces of work at once.
        waiting: pieces that wait for a slot at most.
        seconds: what a piece takes usually, for ``Retry-After`` until one was measured.
    """

    def __init__(self, parallel: int, waiting: int, seconds: float = 1.0) -> None:
        self.parallel, self.waiting = parallel, waiting
        self._semaphore = asyncio.Semaphore(parallel)
        self._queued = self._running = 0
        self._usual = seconds

    @property
    def queued(self) -> int:
        """Pieces of work that wait."""
        return self._queued

    @property
    def running(self) -> int:
        """Pieces of work that hold a slot."""
        return self._running

    def check(self) -> None:
        """Refuses work that would have to wait too long; call it before an upload is read.

        Raises:
            Problem: 503 with ``Retry-After``.
        """
        if self._running + self._queued >= self.parallel + self.waiting:
            turns = 1 + self._queued / self.parallel
            raise busy("The server works on as many requests as it may.", turns * self._usual)

    @asynccontextmanager
    async def slot_at_once(self) -> AsyncIterator[None]:
        """Context manager that holds a slot without a wait, for as long as a client likes: its time
        says nothing of that of other work.

        Raises:
            Problem: 503 with ``Retry-After``.
        """
        if self._semaphore.locked():
            raise busy("The server works on as many requests as it may.", self._usual)
        await self._semaphore.acquire()
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._semaphore.release()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Context manager that holds a slot, after a wait for one.

        Raises:
            Problem: as :meth:`check`.
        """
        self.check()
        self._queued += 1
        try:
            await self._semaphore.acquire()
        finally:
            self._queued -= 1
        loop = asyncio.get_running_loop()
        started = loop.time()
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._usual = 0.8 * self._usual + 0.2 * (loop.time() - started)
            self._semaphore.release()
