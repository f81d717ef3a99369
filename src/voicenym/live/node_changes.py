"""Changes among the sinks and sources of PipeWire, told by its server instead of asked for."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from voicenym.processes import watching_program

if TYPE_CHECKING:
    import subprocess

ASK_SECONDS = 30.0
"""Time after which the nodes are looked at even where no change was told."""
_CHANGE = re.compile(rb"Event '(new|remove)' on (sink|source) #")


class NodeChanges:
    """Says when nodes of PipeWire are worth a look.

    Two processes of ``pactl`` at every look, twice a second, disturb the blocks of a live session;
    one ``pactl subscribe`` waits and prints what changes.

    Args:
        start: starts the subscription, whose lines are events.
        clock: seconds, rising.
    """

    def __init__(
        self,
        start: Callable[[], subprocess.Popen[bytes]] = lambda: watching_program(
            ["pactl", "subscribe"]
        ),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._start, self._clock = start, clock
        self._process: subprocess.Popen[bytes] | None = None
        self._changed = threading.Event()
        self._asked = -ASK_SECONDS

    def happened(self) -> bool:
        """Whether something may have changed since the last call: an event came, the subscription
        did not run then or only began, or :data:`ASK_SECONDS` have passed.
        """
        now = self._clock()
        changed = self._changed.is_set() or now - self._asked >= ASK_SECONDS
        self._changed.clear()
        if self._process is None or self._process.poll() is not None:
            changed = True
            self._subscribe()
            self._changed.set()  # what happens until it listens is seen at the next call
        if changed:
            self._asked = now
        return changed

    def close(self) -> None:
        """Ends the subscription."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def _subscribe(self) -> None:
        self.close()
        try:
            self._process = self._start()
        except OSError:  # not installed: every call answers that something may have changed
            return
        lines: Iterable[bytes] = self._process.stdout or ()
        threading.Thread(target=self._read, args=(lines,), name="nodes", daemon=True).start()

    def _read(self, lines: Iterable[bytes]) -> None:
        try:
            for line in lines:
                if _CHANGE.match(line):
                    self._changed.set()
        except ValueError:  # closed while it waited
            return
