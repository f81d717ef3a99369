"""A library in a separate process: line-based requests, a time limit, and restarts."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from voicenym import processes
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    import subprocess

START = 60.0
"""Time limit of a start, in seconds."""


class Worker:
    """A module that reads requests from standard input and answers on standard output.

    The first request is a line of JSON, to which the module answers ``ready``.

    Args:
        module: to run.
        options: the first line.
        failure: error message where it does not start.

    Attributes:
        process: None until the first request starts it.
    """

    def __init__(self, module: str, options: dict[str, Any], failure: str) -> None:
        self._module, self._options, self._failure = module, options, failure
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, message: bytes, limit: float) -> bytes | None:
        """The answer, a complete line; None where the process died or exceeded ``limit`` seconds.

        Raises:
            VoicenymError: the process does not start.
        """
        process = self.process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(limit, process.kill)
        timer.start()
        try:
            process.stdin.write(message)
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            return None
        finally:
            timer.cancel()
        return answer if answer.endswith(b"\n") else None

    def close(self) -> None:
        """End the process, if there is one; the next request starts another."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.communicate()

    def __del__(self) -> None:
        if getattr(self, "process", None) is not None:
            self.close()

    def _start(self) -> subprocess.Popen[bytes]:
        # Errors of the library go to our own standard error: a pipe that nobody reads fills up.
        self.process = processes.module(self._module)
        if self.ask(json.dumps(self._options).encode() + b"\n", START) != b"ready\n":
            self.close()
            raise VoicenymError(self._failure)
        return self.process
