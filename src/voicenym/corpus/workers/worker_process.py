"""Worker process: its handle in the parent, and its main loop.

The parent sends one task at a time over a pipe. A process that dies closes its end of the pipe, so
that the parent knows which task it held. A worker ends with its parent, however the parent ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from voicenym import processes
from voicenym.ending_signals import ending_signals, ignore_hangups
from voicenym.errors import VoicenymError
from voicenym.memory import spared_from_collection

T = TypeVar("T")
A = TypeVar("A")

GRACE = 5.0
"""Seconds for a worker to clean up after a request to end, before it is killed."""
READY, DONE, FAILED = "ready", "done", "failed"
"""Messages of a worker: ready for tasks; answer; exception instead of an answer."""


class WorkerProcess(Generic[T]):
    """Handle of a worker process in its parent.

    Args:
        prepare: called in the process; returns the function that processes a task.
        arguments: of ``prepare``.

    Attributes:
        connection: the parent's end of the pipe.
        ready: whether the process accepts tasks.
        received: whether its task was sent while it was alive.
        task: its current task with its number; None while it is idle.
    """

    def __init__(self, prepare: Callable[..., Callable[[T], Any]], arguments: Any) -> None:
        context = processes.context()
        self.connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, prepare, arguments), daemon=True
        )
        self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self.ready = self.received = False
        self.task: tuple[int, T] | None = None

    def assign(self, number: int, task: T) -> None:
        """Sends a task; if the process is dead, the next message is the end of the pipe."""
        self.task, self.received = (number, task), False
        with contextlib.suppress(OSError):
            self.connection.send(task)
            self.received = True

    def join(self) -> int | None:
        """Waits for a process that is ending; returns its exit status, negative for a signal."""
        self.connection.close()
        self._process.join()
        return self._process.exitcode

    def terminate(self) -> None:
        """Asks the process to end; it removes its temporary files."""
        self._process.terminate()

    def end(self) -> None:
        """Waits for a process that was asked to end; kills it after a timeout."""
        self._process.join(GRACE)
        if self._process.is_alive():
            self._process.kill()
        self.join()


def single_threaded(function: Callable[[T], A]) -> Callable[[T], A]:
    """Prepares a worker for computations: torch has one thread, because there are several workers.

    Args:
        function: processes a task.
    """
    import torch

    torch.set_num_threads(1)
    return function


def _serve(connection: Connection, prepare: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Main loop of a worker process: processes tasks until its parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    for number in ending_signals():
        signal.signal(number, _exit_on_signal)  # unwinds, so that temporary files are removed
    inbox: SimpleQueue[bytes | None] = SimpleQueue()
    busy = threading.Event()
    with contextlib.suppress(OSError):  # the parent is gone: no error of a task gets here
        try:
            with spared_from_collection():
                function = prepare(*arguments)
        except Exception as error:
            connection.send((FAILED, portable(error)))
            return
        threading.Thread(target=_receive, args=(connection, inbox, busy), daemon=True).start()
        connection.send((READY, None))
        while (task := inbox.get()) is not None:
            answer = _answer(function, task)
            busy.clear()
            connection.send_bytes(answer)


def _receive(
    connection: Connection, inbox: SimpleQueue[bytes | None], busy: threading.Event
) -> None:
    """Receives pickled tasks; ends the process if the parent dies during a task."""
    while True:
        try:
            task = connection.recv_bytes()
        except (EOFError, OSError):
            break
        busy.set()
        inbox.put(task)
    inbox.put(None)
    if busy.is_set():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os._exit(1)


def _answer(function: Callable[[Any], Any], task: bytes) -> memoryview:
    """Pickled message about a task: its answer, or an exception."""
    try:
        return ForkingPickler.dumps((DONE, function(ForkingPickler.loads(task))))
    except Exception as error:
        return ForkingPickler.dumps((FAILED, portable(error)))


def portable(error: Exception) -> Exception:
    """The exception, or one with its message if it cannot be pickled; a defect has a traceback."""
    trace = "".join(traceback.format_exception(error)).rstrip()
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:
        if isinstance(error, VoicenymError):
            error = VoicenymError(str(error))
        else:
            error = RuntimeError(f"{type(error).__name__}: {error}")
    if not isinstance(error, VoicenymError):
        error.add_note(f"In a worker process:\n{trace}")
    return error


def _exit_on_signal(number: int, frame: object) -> None:
    ignore_hangups()
    raise SystemExit(128 + number)
