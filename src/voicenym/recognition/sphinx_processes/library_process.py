"""A library in a separate process: line-based requests, a time limit, and restarts."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from voicenym import processes
from voicenym.errors import VoicenymError
from voicenym.temporary import temporary_directory

if TYPE_CHECKING:
    import subprocess
    import tempfile

START = 60.0
"""Time limit of a start, in seconds."""


class Worker:
    """A module that reads requests from standard input and answers on standard output.

    The first request is a line of JSON, to which the module answers ``ready``. Its ``folder`` is
    for the module's temporary files, such as a dictionary of what is said. It is removed here,
    because a module that crashes, hangs or is killed cannot remove it.

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
        self._folder: tempfile.TemporaryDirectory[str] | None = None

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
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.cleanup()

    def __del__(self) -> None:
        if getattr(self, "process", None) is not None:
            self.close()

    def _start(self) -> subprocess.Popen[bytes]:
        # Errors of the library go to our own standard error: a pipe that nobody reads fills up.
        self._folder = temporary_directory()
        self.process = processes.module(self._module)
        options = {**self._options, "folder": self._folder.name}
        if self.ask(json.dumps(options).encode() + b"\n", START) != b"ready\n":
            self.close()
            raise VoicenymError(self._failure)
        return self.process
