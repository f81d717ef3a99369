"""Routes for who operates the server: health, readiness and metrics."""

from collections.abc import Callable
from typing import Any

from voicenym.apps.serve.routes import openapi_parts
from voicenym.apps.serve.routes.answer_examples import HEALTH, READY, answer
from voicenym.apps.serve.service import Service
from voicenym.apps.web.problem_details import busy


def add_health_routes(app: Any, service: Service, statuses: Callable[[], dict[int, int]]) -> None:
    """Adds the routes to an application of FastAPI.

    Args:
        app: the application.
        service: its state.
        statuses: number of responses by status.
    """
    from starlette.responses import Response

    from voicenym import __version__

    always = openapi_parts.problems()

    @app.head("/health", include_in_schema=False)  # some load balancers ask so
    @app.get(
        "/health",
        responses={**answer("The server runs", HEALTH), **openapi_parts.foreign()},
        summary="Whether the server runs",
        tags=["operation"],
    )
    async def health():
        """Answers as long as the server runs, at any load: restart one that does not (liveness)."""
        return {"status": "ok", "version": __version__}

    @app.head("/ready", include_in_schema=False)
    @app.get(
        "/ready",
        responses={**answer("A worker process has started", READY), **always},
        summary="Whether to send recordings",
        tags=["operation"],
    )
    async def ready():
        """Answers 503 until a worker process has started: send recordings from then on (readiness).
        Too many of them are refused one by one.
        """
        if not service.is_ready:
            raise busy("The server is starting its first worker process.", 2.0)
        return {"status": "ready", "version": __version__}

    @app.get("/metrics", responses=always, response_class=Response, tags=["operation"])
    async def metrics():
        """Counters for Prometheus."""
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return Response(service.metrics.text(statuses()), media_type=kind)
