"""The application of ``voicenym serve``: routes, page and hardening around one service."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from voicenym.apps.serve.routes.health_routes import add_health_routes
from voicenym.apps.serve.routes.information_routes import add_information_routes
from voicenym.apps.serve.routes.job_routes import add_job_routes
from voicenym.apps.serve.routes.key_routes import add_key_routes
from voicenym.apps.serve.routes.live_socket import PATH as LIVE
from voicenym.apps.serve.routes.live_socket import LiveSocket
from voicenym.apps.serve.routes.recording_routes import add_recording_routes
from voicenym.apps.serve.routes.responses import problem_response
from voicenym.apps.serve.routes.speaker_routes import add_speaker_routes
from voicenym.apps.serve.service import Service
from voicenym.apps.serve.worker_isolation.process_access import close_memory
from voicenym.apps.web.asgi_types import Application, Message, Receive, Scope, Send
from voicenym.apps.web.hardening import Hardened, Protection, hardened
from voicenym.apps.web.problem_details import is_defect, problem_of_any
from voicenym.apps.web.quiet_log import LOGGER, defect_lines
from voicenym.apps.web.static_files import StaticFiles

PAGE = Path(__file__).parent / "page"
_PROBES = ("/health", "/ready")


def is_page(path: str) -> bool:
    """Whether a path is a file of the page, which holds no secret."""
    return path == "/" or path.startswith("/page/")


def is_open(path: str) -> bool:
    """Whether a path needs no token."""
    return path in _PROBES or is_page(path)


def is_metered(path: str) -> bool:
    """Whether requests to a path count: a server that is restarted because it has much to do, and
    so cannot say that it runs, loses all of its work.
    """
    return not is_open(path)


def application(service: Service, protection: Protection) -> Hardened:
    """The hardened application.

    Args:
        service: its state.
        protection: of the server; paths of :func:`is_open` should be open in it.
    """
    made: list[Hardened] = []
    api = _api(service, lambda: made[0].statuses)
    page, live = StaticFiles(PAGE, "/page"), LiveSocket(service)

    async def both(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_page(scope["path"]):
            scope["voicenym.route"] = "(page)"
            path = "/page/" if scope["path"] == "/" else scope["path"]
            await page({**scope, "path": path}, receive, send)
        elif scope["type"] == "websocket" and scope["path"] == LIVE:
            await live(scope, receive, send)
        else:
            await api(scope, receive, send)

    made.append(hardened(both, protection))
    return made[0]


def _api(service: Service, statuses: Any) -> Any:
    from fastapi import FastAPI
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    from voicenym import __version__
    from voicenym.errors import VoicenymError

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        close_memory()  # it holds tokens and keys, and workers are of the same user
        service.runner.start()
        tasks = [asyncio.create_task(service.get_ready())]
        tasks.append(asyncio.create_task(service.forget_unfetched()))
        yield
        for task in tasks:
            task.cancel()
        await service.close()

    app = FastAPI(
        title="voicenym",
        version=__version__,
        summary="Hide who speaks in a recording; keep what is said and how.",
        docs_url=None,  # their pages load from other hosts
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )

    async def answer(request: Any, error: Exception) -> Any:
        return problem_response(error)

    for kind in (VoicenymError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, answer)
    app.add_middleware(_DefectAnswers)
    add_recording_routes(app, service)
    add_speaker_routes(app, service)
    add_job_routes(app, service)
    add_information_routes(app, service)
    add_key_routes(app, service)
    add_health_routes(app, service, statuses)
    return app


class _DefectAnswers:
    """Answers any other exception of a route with a problem, before the framework does in text.

    Args:
        app: the routes.
    """

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def noting(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception as error:
            if has_begun or scope["type"] != "http":
                raise
            problem = problem_of_any(error)
            await problem.send(send)  # raises what was wrong with the request, if that was it
            if is_defect(error):
                logging.getLogger(LOGGER).error("defect: %s", defect_lines(error))
