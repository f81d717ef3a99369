"""Worker processes that each hold one task at a time, so that one that dies is known by its task.

The pool survives its workers: where one is killed, its task is named, another process takes its
place, and the tasks of the others are not touched. A worker ends with its parent, however that
ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from voicenym import processes
from voicenym.errors import VoicenymError

T = TypeVar("T")
A = TypeVar("A")

GRACE = 5.0
"""Seconds that a worker has to clean up when it is told to end, before it is killed."""

_READY, _BEGUN, _DONE, _FAILED = "ready", "begun", "done", "failed"
_END = object()


@dataclass(frozen=True)
class Death:
    """A worker process ended while it held a task.

    Args:
        exitcode: as ``multiprocessing`` has it: negative numbers are signals.
    """

    exitcode: int | None

    def __str__(self) -> str:
        code = self.exitcode
        if code is None or code >= 0:
            return f"its worker process ended with status {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        if -code == getattr(signal, "SIGKILL", 9):
            return f"its worker process was killed ({name}; out of memory?)"
        return f"its worker process crashed ({name})"


@dataclass(eq=False)
class _Hand(Generic[T]):
    """A worker process, as its parent sees it."""

    process: BaseProcess
    connection: Connection
    ready: bool = False
    begun: bool = False
    tasks: list[T] = field(default_factory=list)


def work(
    tasks: Iterator[T], workers: int, prepare: Callable[..., Callable[[T], A]], *arguments: Any
) -> Iterator[tuple[T, A | Death]]:
    """Do tasks in worker processes; answers come as they are ready.

    Args:
        tasks: drawn when there is a process for them.
        workers: processes at most.
        prepare: called in each process, gives what does a task there.
        arguments: of ``prepare``.

    Raises:
        VoicenymError: ``prepare`` or a task raised one, or workers die before they have a task.
    """
    pool = _Pool[T, A](tasks, workers, prepare, arguments)
    try:
        yield from pool.answers()
        pool.dismiss()
    finally:
        pool.terminate()


class _Pool(Generic[T, A]):
    def __init__(
        self, tasks: Iterator[T], workers: int, prepare: Callable[..., Any], arguments: Any
    ) -> None:
        self._tasks, self._workers = tasks, workers
        self._start = (prepare, arguments)
        self._pending: deque[T] = deque()
        self._exhausted = False
        self._hands: list[_Hand[T]] = []
        self._losses = 0

    def answers(self) -> Iterator[tuple[T, A | Death]]:
        while True:
            self._hand_out()
            if not self._pending and not any(hand.tasks for hand in self._hands):
                return
            connections = {hand.connection: hand for hand in self._hands}
            for connection in wait(list(connections)):
                hand = connections[connection]  # type: ignore[index]
                yield from self._hear(hand)

    def _hand_out(self) -> None:
        """Draw as many tasks as there are hands for, and hand them out."""
        free = self._workers - sum(bool(hand.tasks) for hand in self._hands)
        while len(self._pending) < free and not self._exhausted:
            try:
                self._pending.append(next(self._tasks))
            except StopIteration:
                self._exhausted = True
        for hand in list(self._hands):
            if self._pending and hand.ready and not hand.tasks:
                self._give(hand, self._pending.popleft())
        idle = sum(not hand.tasks for hand in self._hands)
        for _ in range(min(len(self._pending) - idle, self._workers - len(self._hands))):
            self._hands.append(_start(*self._start))

    def _give(self, hand: _Hand[T], task: T) -> None:
        hand.tasks, hand.begun = [task], False
        with contextlib.suppress(OSError):  # it died, which is heard next
            hand.connection.send(task)

    def _hear(self, hand: _Hand[T]) -> Iterator[tuple[T, A | Death]]:
        try:
            kind, said = hand.connection.recv()
        except (EOFError, OSError):
            yield from self._bury(hand)
            return
        if kind == _READY:
            hand.ready = True
        elif kind == _BEGUN:
            hand.begun = True
        elif kind == _FAILED:
            raise VoicenymError(said)
        else:
            task = hand.tasks.pop()
            yield task, said

    def _bury(self, hand: _Hand[T]) -> Iterator[tuple[T, A | Death]]:
        """A process is gone: its task has its answer, unless it had not been begun."""
        self._hands.remove(hand)
        hand.connection.close()
        hand.process.join()
        death = Death(hand.process.exitcode)
        if hand.tasks and hand.begun:
            yield hand.tasks[0], death
            return
        self._pending.extendleft(hand.tasks)
        self._losses += 1
        if self._losses > self._workers:
            raise VoicenymError(
                f"worker processes end before they begin: {death}; use fewer --workers"
            )

    def dismiss(self) -> None:
        """Let idle workers go; they end by themselves."""
        for hand in self._hands:
            hand.connection.close()
        for hand in self._hands:
            hand.process.join(GRACE)
        self._hands = [hand for hand in self._hands if hand.process.is_alive()]

    def terminate(self) -> None:
        """End all workers, which remove their temporary files on the way out."""
        for hand in self._hands:
            hand.process.terminate()
        for hand in self._hands:
            hand.process.join(GRACE)
            if hand.process.is_alive():
                hand.process.kill()
                hand.process.join()
            hand.connection.close()


def _start(prepare: Callable[..., Any], arguments: tuple[Any, ...]) -> _Hand[Any]:
    context = processes.context()
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, prepare, arguments), daemon=True)
    process.start()
    theirs.close()  # so that the end of the process is the end of the pipe
    return _Hand(process, ours)


def _serve(connection: Connection, prepare: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """What a worker process does: task after task, until its parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    signal.signal(signal.SIGTERM, _exit_on_signal)  # unwinds, so that temporary files are removed
    inbox: SimpleQueue[Any] = SimpleQueue()
    busy = threading.Event()
    try:
        try:
            do = prepare(*arguments)
            threading.Thread(target=_listen, args=(connection, inbox, busy), daemon=True).start()
            connection.send((_READY, None))
            while (task := inbox.get()) is not _END:
                connection.send((_BEGUN, None))
                answer = do(task)
                busy.clear()
                connection.send((_DONE, answer))
        except VoicenymError as error:
            connection.send((_FAILED, str(error)))
    except OSError:
        pass  # the parent is gone


def _listen(connection: Connection, inbox: SimpleQueue[Any], busy: threading.Event) -> None:
    """Take tasks; where the parent dies during one, end."""
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            break
        busy.set()
        inbox.put(task)
    inbox.put(_END)
    if busy.is_set():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os._exit(1)


def _exit_on_signal(number: int, frame: object) -> None:
    raise SystemExit(128 + number)
