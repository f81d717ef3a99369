"""Pace of a client that sends or takes bytes: a reserve of time that its bytes fill again."""

from __future__ import annotations

import array
import contextlib
import os
import socket
import struct

LEAST_BYTES_PER_SECOND = 2_000
"""Of a client, sent or taken."""
MOST_RESERVE = 60.0
"""Seconds; bytes that came fast pay for no longer pause."""
_BYTES_ACKNOWLEDGED = 120
"""Place of ``tcpi_bytes_acked`` in ``struct tcp_info`` (linux/tcp.h, since Linux 4.1)."""
_NUMBER = struct.Struct("=Q")


class Pace:
    """Reserve of time that passes while a client is waited for, and that its bytes fill.

    A client is too slow once the reserve is empty. It has an upper bound: else one that has sent
    100 MB at once could stay for half a day with a byte now and then.

    Args:
        seconds: in the reserve at first.
        least: bytes that fill it by a second.
        most: seconds that it holds.

    Attributes:
        left: seconds in the reserve.
    """

    def __init__(
        self,
        seconds: float,
        least: float = LEAST_BYTES_PER_SECOND,
        most: float = MOST_RESERVE,
    ) -> None:
        self._least, self._most = least, most
        self.left = seconds

    def note(self, seconds: float, count: int) -> None:
        """Notes bytes that came or went within seconds of waiting."""
        self.left = min(self._most, self.left - seconds + count / self._least)


def taken(connection: socket.socket) -> tuple[int, int] | None:
    """Bytes that the other end of a TCP connection has acknowledged since its begin, and bytes that
    the system holds for it; None where the system does not tell, as others than Linux.

    Args:
        connection: socket, or what has its descriptor.
    """
    with contextlib.suppress(ImportError, AttributeError, OSError, struct.error):
        import fcntl
        import termios

        with socket.socket(fileno=os.dup(connection.fileno())) as copy:
            info = copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            waiting = array.array("i", [0])
            fcntl.ioctl(copy, termios.TIOCOUTQ, waiting)
        return _NUMBER.unpack_from(info, _BYTES_ACKNOWLEDGED)[0], waiting[0]
    return None


def keep_nothing(connection: socket.socket) -> None:
    """Has the system throw away what it holds for the other end when the connection is closed; else
    it keeps some megabytes until they are taken.

    Args:
        connection: socket, or what has its descriptor.
    """
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as copy:
        copy.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
