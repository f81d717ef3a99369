"""Worker processes that are copies of a process that has imported the libraries once.

Each process that ``voicenym.processes`` starts imports torch anew, which costs seconds. Where a
test concerns what workers do, and not how they start, they are copies of one process with torch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver, util
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

LIBRARIES = ["torch", "scipy.signal", "soundfile", "voicenym.corpus.embedder"]


class Process(ForkServerProcess):
    """A copy of the server, with the environment that this process has when it starts it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._environment = dict(os.environ)

    def run(self) -> None:
        os.environ.clear()
        os.environ.update(self._environment)
        super().run()


class Context(ForkServerContext):
    """Start method ``forkserver`` with the environment of the moment."""

    Process = Process


@contextmanager
def server() -> Iterator[Context]:
    """Context for processes; the server that they are copied from starts with the first."""
    util.get_temp_dir()  # of the sockets; a test's own folder has too long a name
    context = Context()
    context.set_forkserver_preload(LIBRARIES)
    try:
        yield context
    finally:
        forkserver._forkserver._stop()
