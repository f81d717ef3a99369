"""Routes that tell what is measured: systems with their figures, and audits of recordings."""

from typing import Any

from voicenym.apps.serve.routes import openapi_parts
from voicenym.apps.serve.routes.answer_examples import AUDIT, SYSTEMS, answer
from voicenym.apps.serve.service import Service
from voicenym.apps.web.hardening import OWNER


def add_information_routes(app: Any, service: Service) -> None:
    """Adds the routes to an application of FastAPI.

    Args:
        app: the application.
        service: its state.
    """
    from fastapi import Request
    from starlette.responses import Response

    always = openapi_parts.problems()

    @app.get(
        "/v1/systems",
        responses={**answer("Cards of the systems", SYSTEMS), **always},
        summary="List the systems",
        tags=["systems"],
    )
    async def systems():
        """Cards with measured figures: best protection first, and of each the strongest attacker
        first. EER: equal error rate of an attacker; 50 % is chance, 0 % no protection.
        """
        return {"systems": service.cards}

    @app.get(
        "/v1/audit/{id}",
        responses={**answer("What attackers found", AUDIT), **openapi_parts.problems(404)},
        summary="Show an audit",
        tags=["recordings"],
    )
    async def audit(request: Request, id: str):
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
    async def forget_audit(request: Request, id: str):
        """Forgets an audit of this token, if there is one."""
        service.audits.forget(request.scope[OWNER], id)
        return Response(status_code=204)
