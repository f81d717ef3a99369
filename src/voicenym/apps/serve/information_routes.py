"""Routes without recordings: systems, audits, keys, health and metrics."""

from collections.abc import Callable
from typing import Any

from voicenym.apps.serve import openapi_parts
from voicenym.apps.serve.service import Service
from voicenym.apps.web.hardening import OWNER
from voicenym.apps.web.problem_details import busy


def add_information_routes(
    app: Any, service: Service, statuses: Callable[[], dict[int, int]]
) -> None:
    """Adds the routes to an application of FastAPI.

    Args:
        app: the application.
        service: its state.
        statuses: number of responses by status.
    """
    from fastapi import Path, Request
    from starlette.responses import JSONResponse, Response

    from voicenym import __version__

    key_id = Path(pattern="^[A-Za-z0-9_-]{1,64}$", examples=["project"])
    always = openapi_parts.problems()

    @app.get("/v1/systems", responses=always, summary="List the systems", tags=["systems"])
    async def systems():  # type: ignore[no-untyped-def]
        """Cards with measured figures: best protection first, and of each the strongest attacker
        first. EER: equal error rate of an attacker; 50 % is chance, 0 % no protection.
        """
        return {"systems": service.cards}

    @app.get(
        "/v1/audit/{id}",
        responses=openapi_parts.problems(404),
        summary="Show an audit",
        tags=["recordings"],
    )
    async def audit(request: Request, id: str):  # type: ignore[no-untyped-def]
        """What attackers made of a recording that was sent with `audit=true`."""
        return service.audits.get(request.scope[OWNER], id)

    @app.delete(
        "/v1/audit/{id}",
        status_code=204,
        responses=always,
        response_class=Response,
        summary="Forget an audit",
        tags=["recordings"],
    )
    async def forget_audit(request: Request, id: str):  # type: ignore[no-untyped-def]
        """Forgets an audit of this token, if there is one."""
        service.audits.forget(request.scope[OWNER], id)
        return Response(status_code=204)

    @app.get("/v1/keys", responses=always, summary="List ids of keys", tags=["keys"])
    async def keys(request: Request):  # type: ignore[no-untyped-def]
        """Ids of the keys of this token; the keys themselves never leave the server."""
        return {"keys": service.keys.ids(request.scope[OWNER])}

    @app.post(
        "/v1/keys/{key_id}",
        status_code=201,
        responses=openapi_parts.problems(409, 422),
        summary="Make a key",
        tags=["keys"],
    )
    async def make_key(request: Request, key_id: str = key_id):  # type: ignore[no-untyped-def]
        """Makes a key on the server, of this token alone."""
        service.keys.make(request.scope[OWNER], key_id)
        return JSONResponse({"key_id": key_id}, 201)

    @app.delete(
        "/v1/keys/{key_id}",
        status_code=204,
        responses=openapi_parts.problems(404, 422),
        response_class=Response,
        summary="Delete a key",
        tags=["keys"],
    )
    async def delete_key(request: Request, key_id: str = key_id):  # type: ignore[no-untyped-def]
        """Deletes a key: nobody can link its voices to their speakers any more."""
        service.keys.delete(request.scope[OWNER], key_id)
        return Response(status_code=204)

    @app.get("/health", summary="Whether the server runs", tags=["operation"])
    async def health():  # type: ignore[no-untyped-def]
        """Answers as long as the server runs, at any load: restart one that does not (liveness)."""
        return {"status": "ok", "version": __version__}

    @app.get("/ready", responses=always, summary="Whether to send recordings", tags=["operation"])
    async def ready():  # type: ignore[no-untyped-def]
        """Answers 503 until a worker process has started: send recordings from then on (readiness).
        Too many of them are refused one by one.
        """
        if not service.is_ready:
            raise busy("The server is starting its first worker process.", 2.0)
        return {"status": "ready", "version": __version__}

    @app.get("/metrics", responses=always, response_class=Response, tags=["operation"])
    async def metrics():  # type: ignore[no-untyped-def]
        """Counters for Prometheus."""
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return Response(service.metrics.text(statuses()), media_type=kind)
