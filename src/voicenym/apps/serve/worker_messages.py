"""Messages of a worker process, read without waiting for one that does not end."""

from __future__ import annotations

import os
import struct
import time
from multiprocessing.connection import Connection

MOST_BYTES = 16 << 20
"""Of a message of a worker."""
WHOLE_SECONDS = 10.0
"""From the first byte of a message to its last."""
_READ = 1 << 16
_LENGTH = struct.Struct("!i")
"""How :class:`multiprocessing.connection.Connection` writes the length of a message."""


class WorkerMessages:
    """Reads the messages of a connection; a worker may have been made to send anything.

    Args:
        connection: the reading end of a pipe.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._data = bytearray()
        self._since = 0.0

    def next(self, seconds: float) -> bytes | None:
        """The next message; None if none is whole within these seconds.

        Raises:
            EOFError: the worker has closed the connection, or is dead.
            ValueError: a message is too large, or has not ended after :data:`WHOLE_SECONDS`.
        """
        found = self._whole()
        if found is not None:
            return found
        if self._connection.poll(seconds):
            data = os.read(self._connection.fileno(), _READ)
            if not data:
                raise EOFError
            self._since = self._since if self._data else time.monotonic()
            self._data += data
            found = self._whole()
        if found is None and self._data and time.monotonic() - self._since > WHOLE_SECONDS:
            raise ValueError("half a message")
        return found

    def _whole(self) -> bytes | None:
        """Takes the first message from what was read, if all of it is there."""
        if len(self._data) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._data)
        if not 0 <= length <= MOST_BYTES:
            raise ValueError("a message that is too large")
        end = _LENGTH.size + length
        if len(self._data) < end:
            return None
        found = bytes(self._data[_LENGTH.size : end])
        del self._data[:end]
        self._since = time.monotonic()
        return found
