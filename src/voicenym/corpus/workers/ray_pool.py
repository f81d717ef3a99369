"""Pool of Ray actors, in the place of the pool of worker processes.

Ray's own data sets are not used: they try a task whose worker crashes again until the whole run
fails, so that one hostile recording would stop a corpus. Here the run goes on, as with local
processes: a task whose actor dies is tried again, alone, since a node may also fail for reasons of
its own; when two actors have died that had this task and no other, its death is reported.

Actors keep their models; each has at most two batches of tasks at a time, the one that it works on
and the next, so that nothing piles up in a driver or an object store however long the corpus is. A
batch is a fraction of a second of work: a message for each short recording would cost more than
some systems.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from voicenym.corpus.workers.ray_nodes import (
    check_nodes,
    gpu_places,
    lacks_package,
    last_line,
    same_release,
)
from voicenym.corpus.workers.ray_session import RaySession, imported
from voicenym.corpus.workers.ray_worker import RayWorker
from voicenym.corpus.workers.worker_pool import LATER, Death
from voicenym.corpus.workers.worker_process import FAILED
from voicenym.errors import CorpusError

T = TypeVar("T")
A = TypeVar("A")

AT_ONCE = 2
"""Most batches of an actor: the one that it works on, and the next."""
BATCH_SECONDS = 0.25
"""Work of a batch, by what the last tasks took."""
MOST_BATCH = 16
"""Most tasks of a batch."""
KEPT = 0.7
"""Weight of earlier batches in the mean time of a task."""
DEATHS = 2
"""Actors that die with a task, and with no other, before that counts as the task's doing."""
LOST_AFTER = 30.0
"""Seconds without an answer after which the nodes of the cluster are counted."""
STARTS = 3
"""Times per worker that actors may die before they begin a task, with none that begins between."""


class _InCompany(Death):
    """Death of an actor with several tasks, any of which may have killed it."""


@dataclass(eq=False)
class _Actor(Generic[T]):
    """Handle of an actor; its tasks are answered in their order.

    Attributes:
        ready: reference of its first answer, to :meth:`RayWorker.ready`.
        is_ready: whether that came.
        tasks: numbers and tasks of a batch by the reference of its answer, oldest first.
    """

    handle: Any
    ready: Any
    is_ready: bool = False
    tasks: dict[Any, list[tuple[int, T]]] = field(default_factory=dict)

    @property
    def numbers(self) -> list[int]:
        """Numbers of its tasks."""
        return [number for batch in self.tasks.values() for number, _ in batch]


class RayPool(Generic[T, A]):
    """Ray actors that answer tasks; a context manager, whose Ray ends with it.

    Args:
        workers: largest number of actors; 0 for as many as the cluster has processors.
        prepare: called in each actor at its start; returns the function that processes a task.
        arguments: of ``prepare``.
        address: as of :class:`RaySession`.
        gpus: share of a GPU for each actor.
        again: changes a task that is tried again because its actor died.
    """

    def __init__(
        self,
        workers: int,
        prepare: Callable[..., Callable[[T], A]],
        *arguments: Any,
        address: str | None = None,
        gpus: float = 0.0,
        again: Callable[[T], T] = lambda task: task,
    ) -> None:
        self._count = workers
        self._prepare, self._arguments = prepare, arguments
        self._session = RaySession(address, max(1, workers))
        self._gpus, self._again = gpus, again
        self._actors: list[_Actor[T]] = []
        self._losses = 0
        self._seconds: float | None = None

    def __enter__(self) -> RayPool[T, A]:
        self._session.__enter__()
        try:
            if self._count < 1:
                self._count = max(1, int(imported().cluster_resources().get("CPU", 1)))
            if self._gpus:
                self._count = min(self._count, gpu_places(self._gpus))
        except BaseException:
            self._session.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
        self._session.__exit__(*error)

    def close(self) -> None:
        """Ends the actors."""
        actors, self._actors = self._actors, []
        for actor in actors:
            with suppress(imported().exceptions.RayError):  # its node is gone
                imported().kill(actor.handle)

    def answers(self, tasks: Iterable[T], ahead: bool = True) -> Iterator[tuple[T, A | Death]]:
        """Tasks with their answers, in the order of completion.

        Args:
            tasks: consumed as actors are free; :data:`LATER` as of the local pool.
            ahead: whether an actor has its next task before the caller has the answer.

        Raises:
            CorpusError: a node cannot run this release, or actors die before they begin a task.
            Exception: what ``prepare`` or a task raised.
        """
        for (_, task), answer in self._numbered(tasks, ahead):
            yield task, answer

    def _numbered(
        self, tasks: Iterable[T], ahead: bool = True
    ) -> Iterator[tuple[tuple[int, T], A | Death]]:
        """Numbers and tasks with their answers, in the order of completion."""
        source = enumerate(tasks)
        waiting: deque[tuple[int, T]] = deque()
        suspects: set[int] = set()
        deaths: Counter[int] = Counter()
        at_once = AT_ONCE if ahead else 1
        try:
            while True:
                size = self._batch_size() if ahead else 1
                given = sum(len(actor.numbers) for actor in self._actors)
                room = at_once * size * self._count - given
                while len(waiting) < room and (one := next(source, None)) is not None:
                    if one[1] is LATER:
                        break
                    waiting.append(one)
                self._assign(waiting, at_once, size, suspects)
                if not waiting and not any(actor.tasks for actor in self._actors):
                    return
                for number, task, answer in self._settled():
                    if isinstance(answer, Death):
                        deaths[number] += not isinstance(answer, _InCompany)
                    if isinstance(answer, Death) and deaths[number] < DEATHS:
                        suspects.add(number)
                        waiting.appendleft((number, self._again(task)))
                    else:
                        yield (number, task), answer
        except imported().exceptions.RayError as error:  # of a node that dies while it is asked
            raise CorpusError(
                f"the cluster fails ({last_line(error)}); what is written is whole: run the same "
                "command again, with --engine local if it happens again"
            ) from None
        finally:
            if any(actor.tasks for actor in self._actors):
                self.close()  # their answers are of no use to the next tasks

    def in_order(self, tasks: Iterable[T]) -> Iterator[A | Death]:
        """Answers in the order of the tasks; later ones wait in memory for earlier ones.

        Args:
            tasks: consumed as actors are free.

        Raises:
            CorpusError, Exception: as of :meth:`answers`.
        """
        waiting: dict[int, A | Death] = {}
        place = 0
        for (number, _), answer in self._numbered(tasks):
            waiting[number] = answer
            while place in waiting:
                yield waiting.pop(place)
                place += 1

    def _batch_size(self) -> int:
        """Number of tasks that take about :data:`BATCH_SECONDS`; 1 until that is known."""
        if self._seconds is None:
            return 1
        return max(1, min(MOST_BATCH, int(BATCH_SECONDS / max(self._seconds, 1e-6))))

    def _assign(
        self, waiting: deque[tuple[int, T]], at_once: int, size: int, suspects: set[int]
    ) -> None:
        """Gives batches to the actors that have fewest; starts actors for further tasks.

        A task whose actor died is alone with an actor, so that only its own death is counted.
        """
        starting = sum(not actor.is_ready for actor in self._actors)
        idle = sum(actor.is_ready and not actor.tasks for actor in self._actors)
        for _ in range(min(len(waiting) - idle - starting, self._count - len(self._actors))):
            self._actors.append(self._start())
        ready = [actor for actor in self._actors if actor.is_ready]
        while waiting and ready:
            free = min(ready, key=lambda actor: len(actor.tasks))
            numbers = {waiting[0][0], *free.numbers}
            if len(free.tasks) >= at_once or (free.tasks and numbers & suspects):
                return
            batch = [waiting.popleft()]
            most = min(size, 1 + len(waiting) // len(ready))  # at the end, each has its part
            while len(batch) < most and waiting and not suspects & {batch[0][0], waiting[0][0]}:
                batch.append(waiting.popleft())
            free.tasks[free.handle.answer.remote([task for _, task in batch])] = batch

    def _start(self) -> _Actor[T]:
        ray = imported()
        actor = ray.remote(num_cpus=1, num_gpus=self._gpus, max_restarts=0)(RayWorker)
        handle = actor.remote(self._prepare, self._arguments, os.getcwd())
        return _Actor(handle, handle.ready.remote())

    def _settled(self) -> Iterator[tuple[int, T, A | Death]]:
        """Waits; finished tasks with their answers, and those of actors that died."""
        ray = imported()
        owners = {ref: actor for actor in self._actors for ref in actor.tasks}
        owners |= {actor.ready: actor for actor in self._actors if not actor.is_ready}
        found, _ = ray.wait(list(owners), num_returns=1, timeout=LOST_AFTER)
        if not found:
            check_nodes()
        for ref in found:
            actor = owners[ref]
            if actor not in self._actors:
                continue
            try:
                kind, content = ray.get(ref)
            except ray.exceptions.RayTaskError as error:
                raise CorpusError(f"a worker of the cluster failed: {last_line(error)}") from None
            except ray.exceptions.RayError as error:
                yield from self._lost(actor, error)
                continue
            if kind == FAILED:
                raise content
            if ref == actor.ready:
                actor.is_ready = same_release(content)
                self._losses = 0  # nodes that go for good reasons end no long run
            else:
                yield from self._answered(actor.tasks.pop(ref), content)

    def _answered(
        self, batch: list[tuple[int, T]], content: tuple[list[A], float]
    ) -> Iterator[tuple[int, T, A]]:
        """Tasks of a batch with their answers; keeps the time that a task takes, but of one whose
        ``is_long`` is true: such tasks are always alone.
        """
        answers, seconds = content
        each = seconds / len(batch)
        if not getattr(batch[0][1], "is_long", False):
            mean = each if self._seconds is None else self._seconds
            self._seconds = KEPT * mean + (1 - KEPT) * each
        for (number, task), answer in zip(batch, answers, strict=True):
            yield number, task, answer

    def _lost(self, actor: _Actor[T], error: Exception) -> Iterator[tuple[int, T, Any]]:
        """Tasks of an actor that died: any without an answer may have killed it, since the last
        answers of an actor can be lost with it.
        """
        self._actors.remove(actor)
        if not actor.is_ready:
            if "ModuleNotFoundError" in str(error):
                raise lacks_package(error)
            self._losses += 1
            if self._losses > STARTS * self._count:
                raise CorpusError(
                    f"workers of the cluster end before they begin: {last_line(error)}"
                )
        death = Death(None) if len(actor.numbers) == 1 else _InCompany(None)
        for ref, batch in actor.tasks.items():
            try:
                kind, content = imported().get(ref)
            except imported().exceptions.RayError:
                yield from ((number, task, death) for number, task in batch)
            else:  # it had answered before it died
                if kind == FAILED:
                    raise content
                yield from self._answered(batch, content)
