"""Pool of Ray actors, in the place of the pool of worker processes.

Ray's own data sets are not used: they try a task whose worker crashes again until the whole run
fails, so that one hostile recording would stop a corpus. Here the run goes on, as with local
processes: a task whose actor dies is tried once more, alone, since a node may also fail for reasons
of its own. Actors keep their models; each has at most two tasks at a time, the one that it works on
and the next, so that nothing piles up in a driver or an object store however long the corpus is.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import voicenym
from voicenym.corpus.ray_session import RaySession, imported
from voicenym.corpus.worker_pool import Death
from voicenym.corpus.worker_process import DONE, FAILED, portable
from voicenym.errors import CorpusError

T = TypeVar("T")
A = TypeVar("A")

AT_ONCE = 2
"""Most tasks of an actor: the one that it works on, and the next."""
STARTS = 3
"""Times per worker that an actor may die before it begins a task."""


@dataclass(eq=False)
class _Actor(Generic[T]):
    """Handle of an actor; its tasks are answered in their order.

    Attributes:
        ready: reference of its first answer, to :meth:`RayWorker.ready`.
        is_ready: whether that came.
        tasks: number and task by the reference of the answer, oldest first.
    """

    handle: Any
    ready: Any
    is_ready: bool = False
    tasks: dict[Any, tuple[int, T]] = field(default_factory=dict)


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

    def __enter__(self) -> RayPool[T, A]:
        self._session.__enter__()
        if self._count < 1:
            self._count = max(1, int(imported().cluster_resources().get("CPU", 1)))
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
        self._session.__exit__(*error)

    def close(self) -> None:
        """Ends the actors."""
        actors, self._actors = self._actors, []
        for actor in actors:
            imported().kill(actor.handle)

    def answers(self, tasks: Iterable[T], ahead: bool = True) -> Iterator[tuple[T, A | Death]]:
        """Tasks with their answers, in the order of completion.

        Args:
            tasks: consumed as actors are free.
            ahead: whether an actor has its next task before the caller has the answer.

        Raises:
            CorpusError: a node cannot run this release, or actors die before they begin a task.
            Exception: what ``prepare`` or a task raised.
        """
        source = enumerate(tasks)
        waiting: deque[tuple[int, T]] = deque()
        suspects: set[int] = set()
        at_once = AT_ONCE if ahead else 1
        try:
            while True:
                room = at_once * self._count - sum(len(actor.tasks) for actor in self._actors)
                while len(waiting) < room and (one := next(source, None)) is not None:
                    waiting.append(one)
                self._assign(waiting, at_once, suspects)
                if not waiting and not any(actor.tasks for actor in self._actors):
                    return
                for number, task, answer in self._settled():
                    if isinstance(answer, Death) and number not in suspects:
                        suspects.add(number)
                        waiting.appendleft((number, self._again(task)))
                    else:
                        yield task, answer
        finally:
            self.close()

    def _assign(self, waiting: deque[tuple[int, T]], at_once: int, suspects: set[int]) -> None:
        """Gives tasks to the actors that have fewest; starts actors for further tasks.

        A task whose actor died is alone with an actor, so that only its own death is counted.
        """
        starting = sum(not actor.is_ready for actor in self._actors)
        idle = sum(actor.is_ready and not actor.tasks for actor in self._actors)
        for _ in range(min(len(waiting) - idle - starting, self._count - len(self._actors))):
            self._actors.append(self._start())
        ready = [actor for actor in self._actors if actor.is_ready]
        while waiting and ready:
            free = min(ready, key=lambda actor: len(actor.tasks))
            numbers = {waiting[0][0], *(number for number, _ in free.tasks.values())}
            if len(free.tasks) >= at_once or (free.tasks and numbers & suspects):
                return
            number, task = waiting.popleft()
            free.tasks[free.handle.answer.remote(task)] = (number, task)

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
        found, _ = ray.wait(list(owners), num_returns=1)
        for ref in found:
            actor = owners[ref]
            if actor not in self._actors:
                continue
            try:
                kind, content = ray.get(ref)
            except ray.exceptions.RayTaskError as error:
                raise CorpusError(f"a worker of the cluster failed: {_last_line(error)}") from None
            except ray.exceptions.RayError as error:
                yield from self._lost(actor, error)
                continue
            if kind == FAILED:
                raise content
            if ref == actor.ready:
                actor.is_ready = _same_release(content)
            else:
                yield *actor.tasks.pop(ref), content

    def _lost(self, actor: _Actor[T], error: Exception) -> Iterator[tuple[int, T, Any]]:
        """Tasks of an actor that died: any without an answer may have killed it, since the last
        answers of an actor can be lost with it.
        """
        self._actors.remove(actor)
        if not actor.is_ready:
            if "ModuleNotFoundError" in str(error):
                raise CorpusError(
                    f"a node of the cluster lacks a package ({_last_line(error)}); install "
                    f"voicenym {voicenym.__version__} with the same extras on each node"
                )
            self._losses += 1
            if self._losses > STARTS * self._count:
                raise CorpusError(
                    f"workers of the cluster end before they begin: {_last_line(error)}"
                )
        for ref, (number, task) in actor.tasks.items():
            try:
                kind, content = imported().get(ref)
            except imported().exceptions.RayError:
                yield number, task, Death(None)
            else:  # it had answered before it died
                if kind == FAILED:
                    raise content
                yield number, task, content


class RayWorker:
    """Actor: prepares once, then answers one task after the other.

    Args:
        prepare: as of :class:`RayPool`.
        arguments: as there.
        folder: current folder of the driver, to which relative paths of tasks refer.
    """

    def __init__(self, prepare: Any, arguments: tuple[Any, ...], folder: str) -> None:
        self._error: Exception | None = None
        try:
            os.chdir(folder)
            self._function = prepare(*arguments)
        except OSError as error:
            host = os.uname().nodename
            self._error = CorpusError(
                f"{folder}: {error.strerror} on the node {host}; start the run in a folder that "
                "all nodes share"
            )
        except Exception as error:
            self._error = portable(error)

    def ready(self) -> tuple[str, Any]:
        """Release of the node, or what kept the actor from its start."""
        return (DONE, voicenym.__version__) if self._error is None else (FAILED, self._error)

    def answer(self, task: Any) -> tuple[str, Any]:
        """Answer of a task, or the exception that it raised."""
        if self._error is not None:
            return FAILED, self._error
        try:
            return DONE, self._function(task)
        except Exception as error:
            return FAILED, portable(error)


def _same_release(release: str) -> bool:
    """True.

    Raises:
        CorpusError: a node has another release.
    """
    if release != voicenym.__version__:
        raise CorpusError(
            f"a node of the cluster has voicenym {release}, and this is {voicenym.__version__}: "
            "other releases may write other voices; install the same one on each node"
        )
    return True


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]
