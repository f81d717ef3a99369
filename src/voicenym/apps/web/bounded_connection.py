"""Connections within bounds: their number, the time of headers, and clients that take no answer.

Headers are timed for each request of a connection, since a client that has asked once may send half
a request and stay. What a client takes of its answers is read from the system's count of
acknowledged bytes, also after the last request and while the connection is being closed, which
waits for the client. A client that has vanished is left to the system (``TCP_USER_TIMEOUT``,
tcp(7)). Other systems than Linux have neither limit.

What is no request, or ends within one, is answered with a problem.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any

from voicenym.apps.web.client_pace import Pace, keep_nothing, taken
from voicenym.apps.web.problem_details import Problem
from voicenym.apps.web.security_headers import with_security_headers

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


def bounded_protocol() -> type:
    """Protocol of uvicorn's connections with these bounds."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Protocol(H11Protocol):
        _upgraded = False
        _timer: Any = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > MOST_CONNECTIONS:
                transport.close()
            else:
                self._expect_request(HEADER_SECONDS, None)
                _UnreadAnswers(self.loop, transport).look()

        def on_response_complete(self) -> None:
            answered = self.cycle
            super().on_response_complete()  # which may begin the next request
            self._expect_request(KEEP_ALIVE_SECONDS + HEADER_SECONDS, answered)

        def _expect_request(self, seconds: float, last: Any) -> None:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self.loop.call_later(seconds, self._close_unless_asked, last)

        def _close_unless_asked(self, last: Any) -> None:
            if self.cycle is last and not self._upgraded:  # no request came
                self.transport.close()

        def handle_websocket_upgrade(self, event: Any) -> None:
            self._upgraded = True
            super().handle_websocket_upgrade(event)

        def eof_received(self) -> None:
            """Answers a client that sends no more within a request. Of one that has sent a whole
            request nobody can tell whether it has closed the other direction, too: it is gone.
            """
            state = self.conn.their_state
            if state is h11.SEND_BODY or (state is h11.IDLE and self.conn.trailing_data[0]):
                self._refuse(_truncated())

        def send_400_response(self, msg: str) -> None:
            """Answers what is no HTTP; what came after an answer only ends the connection."""
            self._refuse(Problem(400, "This is no request of HTTP.", "Send it as RFC 9112 has it."))

        def _refuse(self, problem: Problem) -> None:
            """Answers with a problem, unless an answer has begun, and ends the connection."""
            status, body, given = problem.response()
            headers = [(name.encode(), value.encode()) for name, value in given.items()]
            headers = [*with_security_headers(headers), (b"connection", b"close")]
            with contextlib.suppress(h11.LocalProtocolError):
                begin = h11.Response(status_code=status, headers=headers, reason=b"Bad Request")
                for event in (begin, h11.Data(data=body), h11.EndOfMessage()):
                    self.transport.write(self.conn.send(event))
            if self.cycle is not None:  # its application is told at once, and answers no more
                self.cycle.disconnected = True
                self.cycle.message_event.set()
            self.transport.close()

    return Protocol


class _UnreadAnswers:
    """Ends the connection of a client that is too slow with what was written to it.

    Args:
        loop: of the server.
        transport: of the connection.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: Any) -> None:
        self._loop, self._transport = loop, transport
        self._pace: Pace | None = None
        self._before = 0

    def look(self) -> None:
        """Looks at what the client has taken, now and again until the connection has ended."""
        connection = self._transport.get_extra_info("socket")
        found = None if connection is None else taken(connection)
        if found is None:  # it has ended, or the system does not tell
            return
        count, held = found
        if held + self._transport.get_write_buffer_size() == 0:
            self._pace = None
        else:
            self._pace = self._pace or Pace(UNREAD_SECONDS, most=UNREAD_SECONDS)
            self._pace.note(LOOK_SECONDS, count - self._before)
            if self._pace.left <= 0:
                keep_nothing(connection)
                self._transport.abort()
                return
        self._before = count
        self._loop.call_later(LOOK_SECONDS, self.look)


def _truncated() -> Problem:
    return Problem(
        400,
        "The request ends before its end; nothing of it was kept.",
        "Send it again as a whole, and keep the connection open until the answer has come.",
    )
