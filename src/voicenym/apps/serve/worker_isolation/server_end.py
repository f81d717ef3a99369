"""End of a worker with its server, also where the server is killed and cannot end it."""

from __future__ import annotations

import os
import threading

from voicenym.processes import wait_for_parent_end


def end_with_server() -> None:
    """Ends this process as soon as the server is gone: nobody would fetch its result, while it
    holds a recording whose file the next server wipes.

    Call it when the process is confined: filters of Linux hold for threads that start later. It
    does nothing in a process that multiprocessing did not start.
    """
    threading.Thread(target=_end_after, daemon=True).start()


def _end_after() -> None:
    if wait_for_parent_end():
        os._exit(1)
