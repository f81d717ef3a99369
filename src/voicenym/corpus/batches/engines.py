"""Engines of a batch: processes of this machine, or actors of Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol, TypeVar

from voicenym.corpus.plans.worker_count import workers_to_evaluate
from voicenym.corpus.workers.cpu_count import cores
from voicenym.corpus.workers.worker_pool import Pool
from voicenym.errors import CorpusError

T = TypeVar("T")
ENGINES = ("local", "ray")


class Answering(Protocol):
    """Pool of workers that answer tasks."""

    def answers(self, tasks: Iterable[Any], ahead: bool = True) -> Iterator[tuple[Any, Any]]:
        """Tasks with their answers, or deaths of workers, in the order of completion."""

    def in_order(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Answers, or deaths of workers that died twice of a task, in the order of the tasks."""


class Engine(Protocol):
    """Starts pools of workers."""

    def pool(
        self,
        workers: int,
        again: Callable[[Any], Any],
        prepare: Callable[..., Callable[[Any], Any]],
        *arguments: Any,
    ) -> AbstractContextManager[Answering]:
        """Pool of workers.

        Args:
            workers: largest number of workers.
            again: changes a task that is tried again.
            prepare: called in each worker; returns the function that answers a task.
            arguments: of ``prepare``.
        """


class LocalEngine:
    """Processes of this machine; a task whose process dies is not tried again."""

    def pool(
        self,
        workers: int,
        again: Callable[[Any], Any],
        prepare: Callable[..., Callable[[Any], Any]],
        *arguments: Any,
    ) -> Pool[Any, Any]:
        return Pool(workers, prepare, *arguments)


@dataclass(frozen=True)
class RayEngine:
    """Actors of Ray; a task whose actor dies is tried once more.

    Args:
        address: of a cluster; None starts an instance on this machine.
        gpus: share of a GPU for each actor.
    """

    address: str | None = None
    gpus: float = 0.0

    def pool(
        self,
        workers: int,
        again: Callable[[Any], Any],
        prepare: Callable[..., Callable[[Any], Any]],
        *arguments: Any,
    ) -> AbstractContextManager[Answering]:
        from voicenym.corpus.workers.ray_pool import RayPool

        return RayPool(
            workers, prepare, *arguments, address=self.address, gpus=self.gpus, again=again
        )


LOCAL = LocalEngine()


def with_first(tasks: Iterator[T]) -> Iterator[T] | None:
    """The same tasks, of which the first is drawn; None without any, so that a run with nothing to
    do starts no engine: Ray takes many seconds.
    """
    for first in tasks:
        return chain((first,), tasks)
    return None


def workers_of(engine: Engine, workers: int | None, recordings: int, device: str = "cpu") -> int:
    """Number of workers to ask an engine for, where the user need not name one.

    Args:
        engine: of the workers.
        workers: what the user says; None for the default: as many processes as pay, one with a
            GPU; with Ray each processor of this machine, and 0, which means all, for a cluster.
        recordings: number of those that are evaluated or embedded.
        device: that the workers compute on.
    """
    if workers is not None:
        return workers
    if isinstance(engine, RayEngine):
        return 0 if engine.address else cores()
    return local_workers(None, recordings, device)


def local_workers(workers: int | None, recordings: int, device: str = "cpu") -> int:
    """Number of processes of this machine, whatever the engine; arguments as of
    :func:`workers_of`.
    """
    if workers is not None:
        return workers
    return workers_to_evaluate(recordings, cores()) if device == "cpu" else 1


def engine_of(
    name: str, address: str | None = None, gpus: float | None = None, device: str = "cpu"
) -> Engine:
    """Engine by its name.

    Args:
        name: ``local`` or ``ray``.
        address: of a cluster, for ``ray``.
        gpus: share of a GPU for each worker, for ``ray``.
        device: that the workers compute on.

    Raises:
        CorpusError: no such engine, options that it does not have, or GPUs that nothing uses.
    """
    if gpus and device == "cpu":
        raise CorpusError(f"--gpus {gpus:g}: the workers compute on cpu; add --device cuda")
    if name == "ray":
        if gpus is not None and not 0 <= gpus <= 16:
            raise CorpusError(f"--gpus {gpus}: give the GPUs of a worker, such as 1 or 0.25")
        return RayEngine(address, gpus or 0.0)
    if name != "local":
        raise CorpusError(f"--engine is {' or '.join(ENGINES)}, not {name!r}")
    if address is not None or gpus is not None:
        raise CorpusError("--address and --gpus are for --engine ray; add it")
    return LOCAL
