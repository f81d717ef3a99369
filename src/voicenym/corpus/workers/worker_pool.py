"""Pool of worker processes; when one dies, its task is reported and the others continue.

Each process holds one task at a time. If a process dies, the pool reports its task and starts
another process; the tasks of the other processes are not affected.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from multiprocessing.connection import wait
from typing import Any, Generic, TypeVar

from voicenym.corpus.workers.worker_process import FAILED, READY, WorkerProcess, single_threaded
from voicenym.errors import VoicenymError

T = TypeVar("T")
A = TypeVar("A")

AHEAD = 8
"""Most answers per worker that wait for an earlier answer."""
LATER = object()
"""What :meth:`Pool.answers` may draw in place of a task that follows from an answer which is not
there yet."""


@dataclass(frozen=True)
class Death:
    """Result of a task whose worker process died, in place of its answer.

    Args:
        exitcode: as in ``multiprocessing``: negative numbers are signals; None if unknown.
    """

    exitcode: int | None

    @property
    def killed(self) -> bool:
        """Whether a signal from outside killed it, as when the system runs out of memory."""
        return self.exitcode == -getattr(signal, "SIGKILL", 9)

    def __str__(self) -> str:
        code = self.exitcode
        if code is None:
            return "its worker died"
        if code >= 0:
            return f"its worker process ended with status {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        if self.killed:
            return f"its worker process was killed ({name}; out of memory?)"
        return f"its worker process crashed ({name})"


class Pool(Generic[T, A]):
    """Worker processes that persist between calls; a context manager.

    Processes are started when there are tasks for them. Tasks, answers and exceptions are pickled.
    Only one iteration over answers is active at a time: a new one ends an unfinished earlier one.

    Args:
        workers: largest number of processes.
        prepare: called in each process at its start; returns the function that processes a task.
        arguments: of ``prepare``.
    """

    def __init__(
        self, workers: int, prepare: Callable[..., Callable[[T], A]], *arguments: Any
    ) -> None:
        self._count = max(1, workers)
        self._prepare, self._arguments = prepare, arguments
        self._workers: list[WorkerProcess[T]] = []
        self._losses = 0
        self._iteration = object()

    @classmethod
    def of(cls, function: Callable[[T], A], workers: int) -> Pool[T, A]:
        """Pool for computations: torch has one thread in each process.

        Args:
            function: processes a task; from a module that workers import.
            workers: largest number of processes.
        """
        return cls(workers, single_threaded, function)

    def __enter__(self) -> Pool[T, A]:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the processes, which remove their temporary files; the next tasks start new ones."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.end()

    def answers(self, tasks: Iterable[T], ahead: bool = True) -> Iterator[tuple[T, A | Death]]:
        """Tasks with their answers, in the order of completion.

        A task whose process dies is not tried again.

        Args:
            tasks: consumed when a process is free; one of them may be :data:`LATER`, and the next
                one is then drawn after the next answer.
            ahead: whether a free process has its next task before the caller has the answer, so
                that it works while the caller does.

        Raises:
            VoicenymError: processes die before they begin a task.
            Exception: what ``prepare`` or a task raised.
        """
        source = enumerate(tasks)
        waiting: deque[tuple[int, T]] = deque()

        def draw() -> None:
            while self._free() > len(waiting) and (one := next(source, None)) is not None:
                if one[1] is LATER:
                    break
                waiting.append(one)
            self._assign(waiting)

        with self._new_iteration() as iteration:
            draw()
            while waiting or self._busy():
                for _, task, answer in self._messages(iteration, waiting):
                    if ahead:
                        draw()
                    yield task, answer
                    self._check(iteration)
                draw()

    def in_order(self, tasks: Iterable[T]) -> Iterator[A | Death]:
        """Answers in the order of the tasks; some for each worker are computed ahead.

        A task whose process dies is tried once more, while no other process of the pool exists,
        because the others may have used up the memory. If that process dies too, its death is the
        answer.

        Args:
            tasks: consumed when a process is free and fewer than :data:`AHEAD` answers for each
                worker wait.

        Raises:
            VoicenymError: processes die before they begin a task.
            Exception: what ``prepare`` or a task raised.
        """
        source = enumerate(tasks)
        drawn = 0
        waiting: deque[tuple[int, T]] = deque()
        suspected: deque[tuple[int, T]] = deque()
        done: dict[int, A | Death] = {}

        def draw(place: int) -> None:
            nonlocal drawn
            room = min(self._free() - len(waiting), place + AHEAD * self._count - drawn)
            new = list(islice(source, max(0, room)))
            drawn += len(new)
            waiting.extend(new)

        with self._new_iteration() as iteration:
            for place in count():
                while place not in done:
                    if suspected and not self._busy():
                        number, task = suspected.popleft()
                        done[number] = self._alone(iteration, number, task)
                        continue
                    if not suspected:
                        draw(place)
                        self._assign(waiting)
                    if not waiting and not self._busy():
                        return
                    for number, task, answer in self._messages(iteration, waiting):
                        if isinstance(answer, Death):
                            suspected.append((number, task))
                        else:
                            done[number] = answer
                if not suspected:  # the workers go on while the caller has the answer
                    draw(place + 1)
                    self._assign(waiting)
                yield done.pop(place)
                self._check(iteration)

    @contextmanager
    def _new_iteration(self) -> Iterator[object]:
        """Context of an iteration over answers; if it ends before its tasks, the processes end
        too.
        """
        if self._busy():
            self.close()
        self._losses = 0
        iteration = self._iteration = object()
        try:
            yield iteration
        finally:
            if iteration is self._iteration and self._busy():
                self.close()

    def _busy(self) -> int:
        return sum(worker.task is not None for worker in self._workers)

    def _free(self) -> int:
        return self._count - self._busy()

    def _alone(self, iteration: object, number: int, task: T) -> A | Death:
        """Answer of a task while no other process of the pool exists; all processes must be
        idle.
        """
        self.close()
        waiting = deque([(number, task)])
        while True:
            self._assign(waiting)
            for *_, answer in self._messages(iteration, waiting):
                return answer

    def _assign(self, waiting: deque[tuple[int, T]]) -> None:
        """Assigns tasks to idle workers, and starts workers for further tasks."""
        for worker in self._workers:
            if waiting and worker.ready and worker.task is None:
                worker.assign(*waiting.popleft())
        idle = len(self._workers) - self._busy()
        for _ in range(min(len(waiting) - idle, self._count - len(self._workers))):
            self._workers.append(WorkerProcess(self._prepare, self._arguments))

    def _messages(
        self, iteration: object, waiting: deque[tuple[int, T]]
    ) -> Iterator[tuple[int, T, A | Death]]:
        """Waits for messages; returns finished tasks, their numbers and answers.

        Args:
            iteration: the active one.
            waiting: tasks; a task whose process died before its start is put back.
        """
        self._check(iteration)
        workers = {worker.connection: worker for worker in self._workers}
        for connection in wait(list(workers)):
            yield from self._receive(workers[connection], waiting)  # type: ignore[index]

    def _check(self, iteration: object) -> None:
        """Raises where a later iteration has taken the processes: tasks may be lost."""
        if iteration is not self._iteration:
            raise RuntimeError("the pool works on the tasks of a later iteration")

    def _receive(
        self, worker: WorkerProcess[T], waiting: deque[tuple[int, T]]
    ) -> Iterator[tuple[int, T, A | Death]]:
        try:
            kind, content = worker.connection.recv()
        except (EOFError, OSError):
            yield from self._remove(worker, waiting)
            return
        if kind == READY:
            worker.ready = True
        elif kind == FAILED:
            self._workers.remove(worker)
            worker.terminate()
            worker.end()
            raise content
        elif worker.task is not None:
            (number, task), worker.task = worker.task, None
            yield number, task, content

    def _remove(
        self, worker: WorkerProcess[T], waiting: deque[tuple[int, T]]
    ) -> Iterator[tuple[int, T, A | Death]]:
        """Answers the task of a dead process, or queues it again if the process died before."""
        self._workers.remove(worker)
        death = Death(worker.join())
        if worker.task is not None and worker.received:
            yield *worker.task, death
            return
        if worker.task is not None:
            waiting.appendleft(worker.task)
        self._losses += 1
        if self._losses > self._count:
            raise VoicenymError(
                f"worker processes end before they begin: {death}; run again with fewer --workers"
            )
