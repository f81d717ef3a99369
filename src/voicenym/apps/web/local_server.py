"""Runs a hardened application by uvicorn: one process, no access log, no name of the software."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from voicenym.apps.web.asgi_types import Application
from voicenym.apps.web.bind_rules import Binding
from voicenym.apps.web.bounded_connection import (
    KEEP_ALIVE_SECONDS,
    bounded_protocol,
    end_unread,
)
from voicenym.apps.web.quiet_log import set_up
from voicenym.ending_signals import ending_signals, ignore_hangups
from voicenym.errors import DependencyError

MOST_HEADERS = 16 << 10
"""Bytes of the headers of a request."""
FRAME_BYTES = 64 << 10
"""Bytes of a message of a web socket."""
END_SECONDS = 5
"""For requests in flight when the server is asked to end. Then they get 503, and all is wiped;
Docker kills what has not ended after 10 s.
"""
_HANGUP = getattr(signal, "SIGHUP", None)


def need_web() -> None:
    """Checks the packages of servers.

    Raises:
        DependencyError: one is missing; the message names the extra.
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise DependencyError(
            f"servers need {error.name}, which is not installed; pip install 'voicenym[web]'"
        ) from None


def run_server(
    app: Application,
    binding: Binding,
    ready: Callable[[str], None] | None = None,
    ending: Callable[[], None] = lambda: None,
) -> None:
    """Serves until SIGINT, SIGTERM or SIGHUP; requests in flight get some seconds to end.

    Args:
        app: of :func:`~voicenym.apps.web.hardening.hardened`.
        binding: where to listen.
        ready: called with the server's web address when it accepts connections.
        ending: called in the event loop when the server is asked to end, before requests in flight
            are waited for.

    Raises:
        VoicenymError: the address cannot be had; uvicorn is missing; TLS files do not fit.
    """
    need_web()
    import uvicorn

    set_up()
    listening = binding.open_socket()
    end_unread(listening)
    tls: dict[str, Any] = binding.tls_options()
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # their addresses would be used for limits
        http=bounded_protocol(),
        ws="websockets-sansio",
        ws_max_size=FRAME_BYTES,
        ws_per_message_deflate=False,
        h11_max_incomplete_event_size=MOST_HEADERS,
        timeout_keep_alive=int(KEEP_ALIVE_SECONDS),
        timeout_graceful_shutdown=END_SECONDS,
        **tls,
    )

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            ending()
            await super().shutdown(sockets)

    with listening, _ending():
        if ready is not None:
            ready(binding.address(listening.getsockname()[1]))
        Server(config).run(sockets=[listening])


@contextmanager
def _ending() -> Iterator[None]:
    """Context manager in which SIGTERM and SIGHUP unwind the process, so that folders are wiped:
    uvicorn sends itself the signals again once it has ended.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ending_signals())}
    try:
        for number in before:
            signal.signal(number, _exit if number != _HANGUP else _hang_up)
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is not signal.SIG_IGN:  # which a first SIGHUP has set
                signal.signal(number, handler)


def _exit(number: int, frame: object) -> None:
    raise SystemExit(0)


def _hang_up(number: int, frame: object) -> None:
    """Handler of SIGHUP, which uvicorn does not know: requests in flight end as by SIGTERM."""
    ignore_hangups()
    signal.raise_signal(signal.SIGTERM)
