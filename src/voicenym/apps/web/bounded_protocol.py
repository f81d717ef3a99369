"""Connections of uvicorn within the bounds of :mod:`voicenym.apps.web.bounded_connection`.

Needs uvicorn: it is imported where a server starts.
"""

from __future__ import annotations

import contextlib
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from voicenym.apps.web import bounded_connection as bounds
from voicenym.apps.web.client_pace import Pace, keep_nothing, taken
from voicenym.apps.web.problem_details import Problem
from voicenym.apps.web.security_headers import with_security_headers


class BoundedProtocol(H11Protocol):
    """A connection of uvicorn that ends when it breaks a bound, or a client takes nothing."""

    _upgraded = False
    _timer: Any = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > bounds.MOST_CONNECTIONS:
            transport.close()
        else:
            self._expect_request(bounds.HEADER_SECONDS, None)
            self._watch(transport, None, 0)

    def _watch(self, transport: Any, pace: Pace | None, before: int) -> None:
        """Ends the connection of a client that is too slow with what was written to it."""
        connection = transport.get_extra_info("socket")
        found = None if connection is None else taken(connection)
        if found is None:  # it has ended, or the system does not tell
            return
        count, held = found
        if held + transport.get_write_buffer_size() == 0:
            pace = None
        else:
            pace = pace or Pace(bounds.UNREAD_SECONDS, most=bounds.UNREAD_SECONDS)
            pace.note(bounds.LOOK_SECONDS, count - before)
            if pace.left <= 0:
                keep_nothing(connection)
                transport.abort()
                return
        self.loop.call_later(bounds.LOOK_SECONDS, self._watch, transport, pace, count)

    def on_response_complete(self) -> None:
        answered = self.cycle
        super().on_response_complete()  # which may begin the next request
        self._expect_request(bounds.KEEP_ALIVE_SECONDS + bounds.HEADER_SECONDS, answered)

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

    def send_400_response(self, msg: str) -> None:
        """Answers what is no HTTP; what came after an answer only ends the connection."""
        problem = Problem(400, "This is no request of HTTP.", "Send it as RFC 9112 has it.")
        status, body, given = problem.response()
        headers = [(name.encode(), value.encode()) for name, value in given.items()]
        headers = [*with_security_headers(headers), (b"connection", b"close")]
        with contextlib.suppress(h11.LocalProtocolError):
            begin = h11.Response(status_code=status, headers=headers, reason=b"Bad Request")
            for event in (begin, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event))
        self.transport.close()
