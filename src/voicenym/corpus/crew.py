"""Work spread over processes of which any may die: what it worked on is told, the rest goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar

from voicenym import processes
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

W = TypeVar("W")
R = TypeVar("R")
AHEAD = 8
"""Results for each worker that wait for an earlier one at most."""


@dataclass(frozen=True)
class Died:
    """In place of a result: the process that worked on it was killed, also when it was alone."""


class Crew(Generic[W, R]):
    """Worker processes, replaced when one of them is killed; a context manager.

    When a process dies, ``concurrent.futures`` fails all that its pool was asked for and does not
    tell which item was at fault. What was under way is then tried again, one item at a time, in a
    process of its own: the one at which that process dies too is reported, once, and not tried
    a third time.

    Args:
        function: of a module, which workers import.
        workers: processes.
        initializer: called in each process at its start.
    """

    def __init__(
        self, function: Callable[[W], R], workers: int, initializer: Callable[[], None]
    ) -> None:
        self._function, self._workers, self._initializer = function, workers, initializer
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Crew[W, R]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(wait=kind is None)

    def close(self, wait: bool = True) -> None:
        """End the processes; the next work starts others."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=wait, cancel_futures=True)

    def results(self, work: Sequence[W]) -> Iterator[R | Died]:
        """Results in the order of the work; a few for each worker are computed ahead.

        Args:
            work: pickled to the processes.

        Raises:
            VoicenymError: processes die before they work on anything.
            Exception: what the function raised.
        """
        done: dict[int, R | Died] = {}
        running: dict[Future[R], int] = {}
        waiting = deque(range(len(work)))
        try:
            for place in range(len(work)):
                while place not in done:
                    self._fill(work, waiting, running, place)
                    suspects = self._gather(running, done)
                    for suspect in suspects:
                        done[suspect] = self._alone(work[suspect])
                yield done.pop(place)
        finally:
            for future in running:
                future.cancel()

    def _fill(
        self, work: Sequence[W], waiting: deque[int], running: dict[Future[R], int], place: int
    ) -> None:
        """Keep every process busy, and no more under way than is soon asked for."""
        while waiting and len(running) < 2 * self._workers:
            if waiting[0] >= place + AHEAD * self._workers:
                return
            if self._pool is None:
                self._pool = self._started(self._workers)
            try:
                future = self._pool.submit(self._function, work[waiting[0]])
            except BrokenProcessPool:  # what is running will say so
                if running:
                    return
                self.close()
                continue
            running[future] = waiting.popleft()

    def _gather(self, running: dict[Future[R], int], done: dict[int, R | Died]) -> list[int]:
        """Take what is finished; the items that were under way when a process died."""
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        if any(isinstance(future.exception(), BrokenProcessPool) for future in finished):
            self.close()  # all futures of a broken pool end at once
            finished, _ = wait(running)
        suspects = []
        for future in finished:
            place = running.pop(future)
            if future.cancelled() or isinstance(future.exception(), BrokenProcessPool):
                suspects.append(place)
            else:
                done[place] = future.result()
        return sorted(suspects)

    def _alone(self, item: W) -> R | Died:
        with self._started(1) as pool:
            try:
                pool.submit(_here).result()
            except BrokenProcessPool:
                raise VoicenymError(
                    "worker processes die at their start (out of memory?); run again with fewer "
                    "--workers: what was done is kept"
                ) from None
            try:
                return pool.submit(self._function, item).result()
            except BrokenProcessPool:
                return Died()

    def _started(self, workers: int) -> ProcessPoolExecutor:
        return processes.pool(workers, self._initializer)


def _here() -> None:
    """Done by a process that has started."""
