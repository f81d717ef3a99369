"""Calls of ASGI applications without a server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass(frozen=True)
class Answered:
    """What an application sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def call(app, method="GET", path="/", headers=(), body=(b"",), client="127.0.0.1", stall=False):
    """Send a request to an application.

    Args:
        app: the application.
        method, path: of the request.
        headers: pairs of texts; a host is added.
        body: its parts.
        client: address.
        stall: after the parts nothing more comes, though the body is not complete.
    """
    return asyncio.run(answer(app, method, path, headers, body, client, stall))


async def answer(app, method="GET", path="/", headers=(), body=(b"",), client="::1", stall=False):
    """As :func:`call`, in a running event loop."""
    sent = []
    parts = list(body)
    given = {"host": "127.0.0.1:8000", **dict(headers)}

    async def receive():
        if not parts:
            await asyncio.sleep(60 if stall else 0)
            return {"type": "http.disconnect"}
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts) or stall}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": method, "path": path, "query_string": b"", "client": (client, 1),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }  # fmt: skip
    await app(scope, receive, send)
    start, *rest = sent
    return Answered(
        start["status"],
        {name.decode(): value.decode() for name, value in start["headers"]},
        b"".join(message.get("body", b"") for message in rest),
    )
