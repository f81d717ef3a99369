"""Bodies of requests within bounds: of size, and of the time that a slow client takes."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass

from voicenym.apps.web.asgi_types import Message, Receive, Scope, header
from voicenym.apps.web.client_pace import LEAST_BYTES_PER_SECOND, MOST_RESERVE, Pace
from voicenym.apps.web.problem_details import Problem

LINGER_BYTES, LINGER_SECONDS = 64 << 20, 5.0


@dataclass(frozen=True)
class Limits:
    """Limits of a server.

    Args:
        body_bytes: of a request.
        per_second: requests of one client in the long run; 0 for no limit.
        burst: requests of one client at once.
        parallel: requests in flight, of all clients together, uploads included; of several tokens
            one may have half of them, so that slow uploads of one client leave room to others.
        idle_seconds: without a byte of a body that is not complete.
        least_bytes_per_second: of a body, on average over :data:`~client_pace.MOST_RESERVE`, after
            its first ``idle_seconds``.
    """

    body_bytes: int = 200 << 20
    per_second: float = 20.0
    burst: int = 60
    parallel: int = 128
    idle_seconds: float = 20.0
    least_bytes_per_second: int = LEAST_BYTES_PER_SECOND


class BoundedBody:
    """Wrapper of ``receive`` that ends a request whose body exceeds the limits.

    Frameworks turn exceptions of ``receive`` into answers of their own, so that the problem is kept
    in :attr:`problem`, too.

    Args:
        scope: of the request.
        receive: of the server.
        limits: of the body.

    Attributes:
        received: bytes so far.
        problem: why the body was refused; None while it was not.
        complete: whether the body is read to its end.
    """

    def __init__(self, scope: Scope, receive: Receive, limits: Limits) -> None:
        self._receive, self._limits = receive, limits
        most = max(MOST_RESERVE, limits.idle_seconds)
        self._pace = Pace(limits.idle_seconds, limits.least_bytes_per_second, most)
        self.received = 0
        self.complete = False
        self.problem: Problem | None = None
        stated = _stated_length(scope)
        if stated is not None and stated > limits.body_bytes:
            raise self._too_large()

    async def receive(self) -> Message:
        """Next message.

        Raises:
            Problem: 413 for a body over the limit; 408 for one that is too slow.
        """
        if self.complete:  # what follows is the end of the connection, which may take its time
            return await self._receive()
        loop = asyncio.get_running_loop()
        started = loop.time()
        patience = min(self._limits.idle_seconds, self._pace.left)
        try:
            async with asyncio.timeout(patience):
                message = await self._receive()
        except TimeoutError:
            raise self._kept(_too_slow()) from None
        if message["type"] != "http.request":
            return message
        count = len(message.get("body", b""))
        self._pace.note(loop.time() - started, count)
        self.received += count
        self.complete = not message.get("more_body", False)
        if self.received > self._limits.body_bytes:
            raise self._kept(self._too_large())
        if not self.complete and self._pace.left <= 0:
            raise self._kept(_too_slow())
        return message

    async def linger(self) -> None:
        """Reads what the client still sends for a while after its answer, so that it can read it: a
        server that closes at once resets the connection, and the answer is lost. Browsers look for
        it only when they have sent all, or can send no more.
        """
        read = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while not self.complete and read < LINGER_BYTES:
                    message = await self._receive()
                    if message["type"] != "http.request":
                        return
                    read += len(message.get("body", b""))
                    self.complete = not message.get("more_body", False)

    def _kept(self, problem: Problem) -> Problem:
        self.problem = problem
        return problem

    def _too_large(self) -> Problem:
        most = self._limits.body_bytes
        return Problem(
            413,
            f"The request is larger than {most / (1 << 20):.4g} MiB, the limit of this server.",
            "Send a shorter or a compressed recording, or raise the limit of the server.",
            {"Connection": "close"},
            {"limit_bytes": most},
        )


def _stated_length(scope: Scope) -> int | None:
    """``Content-Length`` of a request; None for a chunked one."""
    text = header(scope, b"content-length")
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _too_slow() -> Problem:
    return Problem(
        408,
        "The request arrived too slowly, and was given up.",
        "Send it again over a faster connection, or compress the recording.",
        {"Connection": "close"},
    )
