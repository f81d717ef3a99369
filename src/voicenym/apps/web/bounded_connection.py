"""Connections within bounds: their number, the time of headers, and clients that take no answer.

Headers are timed for each request of a connection, since a client that has asked once may send half
a request and stay. What a client takes of its answers is read from the system's count of
acknowledged bytes, also after the last request and while the connection is being closed, which
waits for the client. A client that has vanished is left to the system (``TCP_USER_TIMEOUT``,
tcp(7)). Other systems than Linux have neither limit.
"""

from __future__ import annotations

import socket

HEADER_SECONDS = 20.0
"""From the start of a connection to the end of the headers of its first request."""
KEEP_ALIVE_SECONDS = 30.0
"""Between an answer and the next request; the headers of that one have :data:`HEADER_SECONDS` more.
"""
MOST_CONNECTIONS = 512
"""Open connections; further ones are closed at once."""
UNREAD_SECONDS = 60.0
"""Of a client that takes no byte of what was sent."""
LOOK_SECONDS = 5.0
"""Between looks at what a client has taken."""


def end_unread(listening: socket.socket) -> None:
    """Sets the time after which connections of a socket end whose clients take nothing."""
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:  # accepted sockets inherit it
        listening.setsockopt(socket.IPPROTO_TCP, option, round(1000 * UNREAD_SECONDS))
