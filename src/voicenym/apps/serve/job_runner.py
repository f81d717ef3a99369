"""Runs a task in a worker process of its own, and ends it with its time, or its client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from voicenym import processes
from voicenym.apps.serve.job_task import (
    DEFECT,
    DONE,
    FAILED,
    MODULES,
    PROGRESS,
    Task,
    confine_and_end,
    work,
)
from voicenym.apps.serve.speakers_task import SpeakersTask
from voicenym.apps.serve.task_outcome import Outcome, outcome_of
from voicenym.apps.serve.worker_messages import WorkerMessages
from voicenym.apps.web.problem_details import Problem, busy, defect
from voicenym.apps.web.quiet_log import LOGGER
from voicenym.errors import VoicenymError

LOOK_SECONDS = 0.1
"""Between looks at whether a task was given up."""
STATUSES = (413, 422, 501, 507)
"""Statuses that a worker may refuse with."""
MOST_REASON = 4000
"""Characters of its reason, which jobs keep, and of its cure."""
Progress = Callable[[float, float | None], None]


class JobRunner:
    """Starts worker processes: copies of one process that has imported the systems.

    That process is started by :meth:`start` and never sees a recording; a worker ends with its
    only task. What one recording did to a worker, no other recording meets.

    Args:
        seconds: longest time of a worker.
        workers: most of them at once; further ones wait.

    Attributes:
        killed: number of workers that ended without an answer.
    """

    def __init__(self, seconds: float = 3600.0, workers: int = 2) -> None:
        self._seconds = seconds
        # The event loop's own threads receive uploads and send answers: workers must not take them.
        self._threads = ThreadPoolExecutor(workers, "worker")
        self._context: processes.ForkedContext | None = None
        self.killed = 0

    def start(self) -> None:
        """Starts the copied process."""
        processes.allow_copying()
        self._context = processes.copying(MODULES)

    def end_copying(self) -> None:
        """Starts no further worker, for recordings and for live sessions: no thread waits for the
        copied process, which may still import the systems.
        """
        if self._context is not None:
            processes.end_copying()

    def close(self) -> None:
        """Starts no further worker; those that run end with their tasks."""
        self.end_copying()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def can_work(self, memory: int) -> bool:
        """Whether a worker starts and confines itself; waits until the copied process has imported
        the systems.

        Args:
            memory: bytes of a worker beyond its start.
        """
        loop = asyncio.get_running_loop()
        found: asyncio.Future[bool] = loop.create_future()

        def tell(works: bool) -> None:
            if not found.done():
                found.set_result(works)

        def look() -> None:
            works = self._works(memory)
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(tell, works)

        # A daemon: a server that is asked to end does not wait for the imports.
        threading.Thread(target=look, name="readiness", daemon=True).start()
        return await found

    def _works(self, memory: int) -> bool:
        try:
            process = self._copying().Process(target=confine_and_end, args=(memory,), daemon=True)
            process.start()
            process.join()
            code = process.exitcode
            process.close()
        except (OSError, EOFError, VoicenymError):
            return False
        return code == 0

    async def run(
        self,
        task: Task,
        progress: Progress = lambda done, of: None,
        started: Callable[[int], None] = lambda pid: None,
    ) -> Outcome:
        """Runs a task; if it is cancelled, its process is killed.

        Args and errors as of :meth:`find_speakers`.
        """
        value = await self._value(task, progress, started)
        try:
            return outcome_of(value, task.folder, (task.system, task.fallback))
        except ValueError:
            raise self._strange() from None

    async def find_speakers(self, task: SpeakersTask) -> dict[str, Any]:
        """Turns of a recording, as :func:`~voicenym.apps.serve.speakers_task.find_speakers`."""
        return await self._value(task, lambda done, of: None, lambda pid: None)

    async def _value(
        self,
        task: Task | SpeakersTask,
        progress: Progress,
        started: Callable[[int], None],
    ) -> dict[str, Any]:
        """What the worker of a task says at its end.

        Args:
            task: what to do.
            progress: called in the event loop with seconds done and in all.
            started: called with the process id of the worker.

        Raises:
            Problem: what a client is told.
        """
        loop = asyncio.get_running_loop()
        given_up: list[bool] = []

        def report(done: float, of: float | None) -> None:
            loop.call_soon_threadsafe(progress, done, of)

        waiting = loop.run_in_executor(
            self._threads, self._run, task, report, lambda: bool(given_up), started
        )
        try:
            await asyncio.wait([waiting])  # shield would log how given up work ends as a defect
        except asyncio.CancelledError:
            given_up.append(True)
            await asyncio.gather(waiting, return_exceptions=True)  # it removes its process
            raise
        return await waiting

    def _copying(self) -> processes.ForkedContext:
        """Context whose processes are copies of the copied process."""
        if self._context is None:
            self.start()
        assert self._context is not None
        return self._context

    def _run(
        self,
        task: Task | SpeakersTask,
        progress: Progress,
        is_given_up: Callable[[], bool],
        started: Callable[[int], None],
    ) -> dict[str, Any]:
        """Runs a task in a thread of its own."""
        context = self._copying()
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(theirs, task), daemon=True)
        with ours:
            try:
                process.start()
            except (OSError, EOFError) as error:  # the copied process is gone; the next starts one
                raise busy("No worker process could be started.") from error
            finally:
                theirs.close()
            started(process.pid or 0)
            try:
                return self._outcome(ours, progress, is_given_up)
            finally:
                process.kill()
                process.join()
                process.close()

    def _outcome(
        self, connection: Connection, progress: Progress, is_given_up: Callable[[], bool]
    ) -> dict[str, Any]:
        end = time.monotonic() + self._seconds
        messages = WorkerMessages(connection)
        while True:
            if is_given_up():
                raise Problem(503, "The request was given up.", "Send it again.")
            if time.monotonic() > end:
                raise Problem(
                    413,
                    f"The recording takes longer than {self._seconds:g} s, the limit of this "
                    "server.",
                    "Send a shorter one, or choose a faster system.",
                )
            try:
                message = messages.next(LOOK_SECONDS)
                if message is None:
                    continue
                kind, value = json.loads(message)
            except (EOFError, OSError):
                self.killed += 1
                raise busy("The worker process of this request was killed.", 2.0) from None
            except (ValueError, TypeError, RecursionError):
                raise self._strange() from None
            if kind == PROGRESS:
                progress(*_progress(value))
            elif kind == DONE and isinstance(value, dict):
                return value
            elif kind == FAILED:
                raise _refusal(value)
            elif kind == DEFECT:
                place = str(value)[:4000].replace("\\n", "\n")
                logging.getLogger(LOGGER).error("defect in a worker: %s", place)
                raise defect()
            else:
                raise self._strange()

    def _strange(self) -> Problem:
        """Problem of a worker that says what no worker of ours says."""
        self.killed += 1
        logging.getLogger(LOGGER).error("a worker said what no worker says; it was killed")
        return defect()


def _progress(value: Any) -> tuple[float, float | None]:
    """Seconds done and in all."""
    try:
        done, of = float(value[0]), None if value[1] is None else float(value[1])
    except (TypeError, ValueError, LookupError, OverflowError):
        return 0.0, None
    # JSON has no other numbers, and the page divides by the second one
    return (done, of) if math.isfinite(done) and math.isfinite(of or 0.0) else (0.0, None)


def _refusal(value: Any) -> Problem:
    """Problem of an error in a worker."""
    try:
        status = value["status"]
        detail, cure = (str(value[name])[:MOST_REASON] for name in ("detail", "cure"))
        return Problem(status if status in STATUSES else 422, detail, cure)
    except (TypeError, KeyError):
        return defect()
