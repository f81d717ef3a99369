"""End of a worker with its server, also where the server is killed and cannot end it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from multiprocessing.connection import wait


def end_with_server() -> None:
    """Ends this process as soon as the server is gone: nobody would fetch its result, while it
    holds a recording whose file the next server wipes.

    Call it when the process is confined: filters of Linux hold for threads that start later. It
    does nothing in a process that multiprocessing did not start.
    """
    server = multiprocessing.parent_process()
    if server is not None:
        threading.Thread(target=_watch, args=(server.sentinel,), daemon=True).start()


def _watch(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
