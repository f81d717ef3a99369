"""Starts the worker process of a live session, and speaks with it without waiting for it."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import struct
import threading
from multiprocessing.connection import Connection
from typing import Any

from voicenym import processes
from voicenym.apps.serve.job_task import MODULES
from voicenym.apps.serve.live_processes.live_task import DEFECT, REFUSED, LiveTask, live_work
from voicenym.apps.web.problem_details import Problem, busy, defect
from voicenym.apps.web.quiet_log import LOGGER

MOST_BYTES = 64 << 10
"""Bytes of a message of a worker."""
MOST_WAITING = 2 << 20
"""Bytes of frames that a worker has not taken; it hangs if there are more. After a pause of the
network 10 s of sound may come at once, 1 MB at 48 kHz."""
_LENGTH = struct.Struct("!i")
"""How :class:`multiprocessing.connection.Connection` writes the length of a message."""


class LiveWorker:
    """Worker process of one session; :meth:`LiveRunner.start` makes it.

    Args:
        process: of multiprocessing, started.
        reader, writer: of the connection to it.
    """

    def __init__(
        self, process: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process, self._reader, self._writer = process, reader, writer
        self.pid: int = process.pid

    def send(self, frame: bytes) -> None:
        """Hands over a frame at once.

        Raises:
            Problem: 503 if the worker takes none.
        """
        if self._writer.transport.get_write_buffer_size() > MOST_WAITING:
            raise busy("The worker process of this session takes no sound.", 2.0)
        self._writer.write(_LENGTH.pack(len(frame)) + frame)

    async def receive(self) -> tuple[bytes, bytes]:
        """Kind and value of the next message of the worker.

        Raises:
            Problem: what the worker refuses; 500 for a defect of it; 503 if it was killed, or says
                what no worker says.
        """
        try:
            (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
            if not 0 < length <= MOST_BYTES:
                raise EOFError
            data = await self._reader.readexactly(length)
        except (EOFError, OSError):
            raise busy("The worker process of this session was killed.", 2.0) from None
        kind, value = data[:1], data[1:]
        if kind == REFUSED:
            raise _refusal(value)
        if kind == DEFECT:
            place = json.loads(value)
            logging.getLogger(LOGGER).error("defect in a worker: %s", str(place)[:4000])
            raise defect()
        return kind, value

    def close(self) -> None:
        """Kills the worker; nothing of the session is left.

        Its end is not waited for: the system takes a tenth of a second to free its memory, in which
        a client that begins its next session would be told that there are too many.
        """
        self._writer.close()
        self._process.kill()
        threading.Thread(target=self._join, name="ended session", daemon=True).start()

    def _join(self) -> None:
        self._process.join()
        self._process.close()


class LiveRunner:
    """Starts workers: copies of the process from which those of recordings are copied, too."""

    async def start(self, task: LiveTask) -> LiveWorker:
        """A worker.

        Raises:
            Problem: 503 if no process can be started.
        """
        starting = asyncio.ensure_future(asyncio.to_thread(_start, task))
        try:
            await asyncio.wait([starting])  # shield would log a failure after the end as a defect
        except asyncio.CancelledError:
            process, ours = await starting
            ours.close()
            process.kill()
            raise
        process, ours = await starting
        reader, writer = await asyncio.open_connection(sock=ours)
        return LiveWorker(process, reader, writer)


def _start(task: LiveTask) -> tuple[Any, socket.socket]:
    try:
        context = processes.copying(MODULES)
    except EOFError as error:  # the server ends
        raise busy("No worker process could be started.") from error
    ours, theirs = socket.socketpair()
    with Connection(theirs.detach()) as connection:
        process = context.Process(target=live_work, args=(connection, task), daemon=True)
        try:
            process.start()
        except (OSError, EOFError) as error:  # the copied process is gone; the next starts one
            ours.close()
            raise busy("No worker process could be started.") from error
    return process, ours


def _refusal(value: bytes) -> Problem:
    """Problem of a worker, which may have been made to say anything."""
    try:
        found = json.loads(value)
        status = int(found["status"])
        detail, cure = str(found["detail"])[:500], str(found["cure"])[:500]
    except (ValueError, KeyError, TypeError, RecursionError):
        return defect()
    return Problem(status if status in (422, 501, 503) else 500, detail, cure)
