"""Actor of a Ray cluster that answers tasks."""

from __future__ import annotations

import os
import time
from typing import Any

import voicenym
from voicenym.corpus.workers.worker_process import DONE, FAILED, portable
from voicenym.errors import CorpusError


class RayWorker:
    """Actor: prepares once, then answers one task after the other.

    Args:
        prepare: as of :class:`voicenym.corpus.workers.ray_pool.RayPool`.
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

    def answer(self, tasks: list[Any]) -> tuple[str, Any]:
        """Answers of tasks and the seconds that all took, or the first exception of one."""
        if self._error is not None:
            return FAILED, self._error
        started = time.perf_counter()
        try:
            answers = [self._function(task) for task in tasks]
            return DONE, (answers, time.perf_counter() - started)
        except Exception as error:
            return FAILED, portable(error)
