"""Log of a server that names nobody: no addresses, paths, file names, tokens or messages."""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path

from voicenym.apps.web.asgi_types import Scope

LOGGER = "voicenym.web"
PACKAGES = ("uvicorn", "uvicorn.error", "uvicorn.access", "websockets", "fastapi", "starlette")
"""Loggers of libraries, whose messages hold addresses and paths; they are switched off."""


class _Places(logging.Handler):
    """Handler of asyncio's logger, whose messages hold sockets: of errors, types and places."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info and record.exc_info[1]
        if error:
            logging.getLogger(LOGGER).error("defect: %s", defect_lines(error))


def set_up() -> logging.Logger:
    """Logger of servers, which writes lines to standard error; libraries' loggers are silent."""
    for name in PACKAGES:
        library = logging.getLogger(name)
        library.handlers = [logging.NullHandler()]
        library.propagate = False
    loops = logging.getLogger("asyncio")
    loops.handlers, loops.propagate = [_Places()], False
    found = logging.getLogger(LOGGER)
    if not found.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        found.addHandler(handler)
    found.propagate = False
    found.setLevel(logging.INFO)
    return found


def request_line(scope: Scope, status: int, seconds: float, received: int) -> str:
    """One line for a request: method, route as it is declared, status, time, bytes of the body.

    A route such as ``/v1/jobs/{id}`` has no names in it; a path may. The path of a request without
    a route is left out.
    """
    route = getattr(scope.get("route"), "path", None) or scope.get("voicenym.route") or "-"
    method = scope.get("method", "WS")
    if not (method.isalpha() and len(method) <= 10):
        method = "-"
    return f"{method} {route} {status} {seconds:.2f} s, {received} bytes in"


def defect_lines(error: BaseException) -> str:
    """Where a defect was raised: types and places, without messages, which may quote an input."""
    lines = []
    for one in _chain(error):
        lines.append(type(one).__name__)
        for frame in traceback.extract_tb(one.__traceback__)[-12:]:
            lines.append(f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}")
    return "\n".join(lines)


def _chain(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in found:
        found.append(one)
        one = one.__cause__ or one.__context__
    return found
