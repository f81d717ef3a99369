"""Hardening of an ASGI application: who may ask, how much, how often; headers, errors and log."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from voicenym.apps.web.asgi_types import Application, Message, Receive, Scope, Send, header
from voicenym.apps.web.bearer_tokens import BearerTokens
from voicenym.apps.web.problem_details import Problem, busy, is_defect, problem_of_any
from voicenym.apps.web.quiet_log import defect_lines, request_line, set_up
from voicenym.apps.web.request_body import BoundedBody, Limits
from voicenym.apps.web.request_rate import RequestRate
from voicenym.apps.web.security_headers import with_security_headers

LOCAL = "local"
"""Owner of requests to a server without tokens."""
OWNER = "voicenym.owner"
"""Entry of the scope with the owner of the request's token, or :data:`LOCAL`."""
_COUNTED = "voicenym.counted"
"""Entry of the scope with the owner among whose requests in flight the request counts."""
_FOREIGN = (403, 421)
"""Statuses of requests that pages of other sites may have made."""
_SAFE = ("GET", "HEAD", "OPTIONS")
_TOKEN_PROTOCOL = "bearer."
"""Beginning of a subprotocol that is a token."""
FIRST_OWN_CODE = 4000
"""Added to a problem's status, it is the code with which a web socket is closed (RFC 6455, 7.4.2).
"""
CLOSE_SECONDS = 2.0
"""For the last messages to a client that may take none."""
MOST_REASON = 123
"""Bytes of the reason of a close (RFC 6455, 5.5)."""


@dataclass(frozen=True)
class Protection:
    """What :func:`hardened` protects an application with.

    Args:
        limits: of size, rate and parallel requests.
        tokens: who may ask; None for everybody who reaches the server.
        is_open: whether a path needs no token, such as the files of a page or a health check.
        is_metered: whether requests to a path are refused beyond the rate, or beyond the number in
            flight; those of pages and health checks need not be.
        allowed_hosts: of the ``Host`` header; None for any (:meth:`Binding.allowed_hosts`).
        has_tls: whether the server speaks TLS, or stands behind a proxy that does.
    """

    limits: Limits = field(default_factory=Limits)
    tokens: BearerTokens | None = None
    is_open: Callable[[str], bool] = lambda path: False
    is_metered: Callable[[str], bool] = lambda path: True
    allowed_hosts: frozenset[str] | None = None
    has_tls: bool = False


class Hardened:
    """Hardened application; :func:`hardened` makes it.

    It answers requests to ``app`` and catches all of its exceptions: a
    :class:`~voicenym.errors.VoicenymError` becomes a problem with its cure, any other a 500 that
    says nothing. If a response has begun, the connection is broken off instead, so that a client
    never takes a part for the whole.

    Attributes:
        in_flight: number of requests now.
        statuses: number of responses by status.
    """

    def __init__(self, app: Application, protection: Protection) -> None:
        self._app, self._is = app, protection
        self._rate = RequestRate(protection.limits.per_second, protection.limits.burst)
        self._log = set_up()
        self.in_flight = 0
        self._in_flight_of: Counter[str] = Counter()
        self.statuses: dict[int, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.monotonic()
        status = 0
        body: BoundedBody | None = None

        async def answer(message: Message) -> None:
            nonlocal status
            if body is not None and body.problem is not None and not status:
                raise body.problem  # not what the framework made of it
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = with_security_headers(list(message.get("headers", ())), self._is.has_tls)
                message = {**message, "headers": headers}
            await send(message)

        self.in_flight += 1
        try:
            self._admit(scope)
            body = BoundedBody(scope, receive, self._is.limits)
            await self._app(scope, body.receive, answer)
        except asyncio.CancelledError:  # the server ends
            if not status and (body is None or body.problem is None):
                await busy("The server is ending.", 5.0).send(answer)
            raise
        except Exception as error:
            # of a refused body the framework makes an error of its own, which is no defect
            refused = None if body is None else body.problem
            problem = refused or problem_of_any(error)
            if refused is None and is_defect(error):
                self._log.error("defect: %s", defect_lines(error))
            if status:
                raise _BrokenOff from None
            body = body or _unbounded(scope, receive)
            body.problem = None
            if _waits_to_send(scope, body):
                await _closing(problem).send(answer)
            elif problem.status == 408:
                await problem.send(answer)
            else:
                await problem.send(answer, body.linger)
        finally:
            self._leave(scope)
            self.statuses[status] = self.statuses.get(status, 0) + 1
            received = 0 if body is None else body.received
            self._log.info(request_line(scope, status, time.monotonic() - started, received))

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A web socket; its token comes as the header, or as the subprotocol ``bearer.TOKEN``,
        since pages cannot set headers.

        A problem is sent as a text message with the problem's JSON object, and closes the socket
        with 4000 and its status; browsers show pages no answer to a handshake. Pages of other sites
        get 403 instead.
        """
        started, accepted, status = time.monotonic(), False, 101

        async def answer(message: Message) -> None:
            nonlocal accepted
            accepted = accepted or message["type"] == "websocket.accept"
            await send(message)

        self.in_flight += 1
        try:
            self._admit(scope)
            await self._app(scope, receive, answer)
        except asyncio.CancelledError:  # the server ends
            raise
        except Exception as error:
            problem = problem_of_any(error)
            if not isinstance(error, OSError):  # the client is gone
                status = problem.status
                if is_defect(error):
                    self._log.error("defect: %s", defect_lines(error))
            with contextlib.suppress(OSError, RuntimeError, TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await _close(problem, scope, answer, accepted)
        finally:
            self._leave(scope)
            self.statuses[status] = self.statuses.get(status, 0) + 1
            self._log.info(request_line(scope, status, time.monotonic() - started, 0))

    def _admit(self, scope: Scope) -> None:
        """Checks a request before its body is read.

        Raises:
            Problem: 421 or 403 of a page of another site; 401; 429; 503.
        """
        path, method = scope["path"], scope.get("method", "GET")
        host = header(scope, b"host") or ""
        allowed = self._is.allowed_hosts
        if allowed is not None and _without_port(host) not in allowed:
            raise Problem(
                421,
                "The request names another host than this server.",
                "Use the address that the server showed at its start.",
            )
        origin = header(scope, b"origin")
        is_websocket = scope["type"] == "websocket"
        if origin is not None and (is_websocket or method not in _SAFE) and not _same(origin, host):
            raise Problem(
                403,
                "The request comes from a page of another site.",
                "Use the page of this server, or a program.",
            )
        scope[OWNER] = LOCAL
        client = (scope.get("client") or ("", 0))[0]
        metered = self._is.is_metered(path)
        if self._is.tokens is not None and not self._is.is_open(path):
            try:
                scope[OWNER] = self._is.tokens.authenticate(_authorization(scope))
            except Problem:
                self._rate.check(f"address {client}")  # guesses count
                raise
            if metered:  # by token: behind a proxy, all clients have one address
                self._rate.check(f"owner {scope[OWNER]}")
        elif metered:
            self._rate.check(f"address {client}")
        if not metered:
            return
        if self.in_flight > self._is.limits.parallel:
            raise busy("The server has as many open requests as it may.")
        tokens, owner = self._is.tokens, scope[OWNER]
        if tokens is None or len(tokens) == 1 or owner == LOCAL:
            return
        if self._in_flight_of[owner] >= max(1, self._is.limits.parallel // 2):
            raise busy("This token has as many open requests as it may.", status=429)
        self._in_flight_of[owner] += 1
        scope[_COUNTED] = owner

    def _leave(self, scope: Scope) -> None:
        """Ends the count of a request, admitted or not."""
        self.in_flight -= 1
        if owner := scope.pop(_COUNTED, None):
            self._in_flight_of[owner] -= 1
            if not self._in_flight_of[owner]:
                del self._in_flight_of[owner]


def subprotocol(scope: Scope) -> str | None:
    """The subprotocol that a web socket is accepted with: the first that is no token."""
    for protocol in scope.get("subprotocols", ()):
        if not protocol.startswith(_TOKEN_PROTOCOL):
            return str(protocol)
    return None


async def _close(problem: Problem, scope: Scope, send: Send, accepted: bool) -> None:
    """Closes a web socket with a problem."""
    if not accepted:
        if problem.status in _FOREIGN:
            await send({"type": "websocket.close", "code": FIRST_OWN_CODE + problem.status})
            return
        await send({"type": "websocket.accept", "subprotocol": subprotocol(scope)})
    body = problem.body()
    await send({"type": "websocket.send", "text": json.dumps({"event": "problem", **body})})
    reason = f"{body['detail']} {body['cure']}".encode()[:MOST_REASON].decode("utf-8", "ignore")
    code = FIRST_OWN_CODE + problem.status
    await send({"type": "websocket.close", "code": code, "reason": reason})


class _BrokenOff(Exception):
    """Ends a response that has begun; the server closes the connection."""


def hardened(app: Application, protection: Protection) -> Hardened:
    """Hardens an ASGI application.

    A handler finds the owner of the request's token in ``scope["voicenym.owner"]`` (:data:`OWNER`).

    Args:
        app: of any framework; it need not handle errors.
        protection: what to protect it with.
    """
    return Hardened(app, protection)


def _authorization(scope: Scope) -> str | None:
    """Header of the token; services' clients send theirs as ``xi-api-key``."""
    found = header(scope, b"authorization")
    if found is not None:
        return found
    key = header(scope, b"xi-api-key")
    if key is not None:
        return f"Bearer {key}"
    for protocol in scope.get("subprotocols", ()):
        if protocol.startswith(_TOKEN_PROTOCOL):
            return f"Bearer {protocol.removeprefix(_TOKEN_PROTOCOL)}"
    return None


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name.lower() if colon and port.isdigit() else host.lower()


def _same(origin: str, host: str) -> bool:
    """Whether a page of ``origin`` is of this server."""
    return origin.partition("://")[2].lower() == host.lower()


def _waits_to_send(scope: Scope, body: BoundedBody) -> bool:
    """Whether a client has sent headers alone and asks whether it may send the body (RFC 9110,
    10.1.1), as curl does with long ones: to read on would say that it may.
    """
    asks = (header(scope, b"expect") or "").lower() == "100-continue"
    return asks and not body.received and not body.complete


def _closing(problem: Problem) -> Problem:
    """The problem as the last answer of its connection, on which a body or a request may follow."""
    headers = {**problem.headers, "Connection": "close"}
    return Problem(problem.status, str(problem), problem.cure, headers, problem.extra)


def _unbounded(scope: Scope, receive: Receive) -> BoundedBody:
    """Body of a request that was refused before it was read."""
    return BoundedBody({**scope, "headers": ()}, receive, Limits())
