"""Routes of keys: their ids, a new one, and the end of one."""

from typing import Any

from voicenym.apps.serve.routes import openapi_parts
from voicenym.apps.serve.routes.answer_examples import KEY, KEYS, answer
from voicenym.apps.serve.service import Service
from voicenym.apps.web.hardening import OWNER


def add_key_routes(app: Any, service: Service) -> None:
    """Adds the routes to an application of FastAPI.

    Args:
        app: the application.
        service: its state.
    """
    from fastapi import Path, Request
    from starlette.responses import JSONResponse, Response

    key_id = Path(pattern="^[A-Za-z0-9_-]{1,64}$", examples=["project"])

    @app.get(
        "/v1/keys",
        responses={**answer("Ids of keys", KEYS), **openapi_parts.problems()},
        summary="List ids of keys",
        tags=["keys"],
    )
    async def keys(request: Request):
        """Ids of the keys of this token; the keys themselves never leave the server."""
        return {"keys": service.keys.ids(request.scope[OWNER])}

    @app.post(
        "/v1/keys/{key_id}",
        status_code=201,
        responses={**answer("The key was made", KEY, 201), **openapi_parts.problems(409, 507)},
        summary="Make a key",
        tags=["keys"],
    )
    async def make_key(request: Request, key_id: str = key_id):
        """Makes a key on the server, of this token alone."""
        service.keys.make(request.scope[OWNER], key_id)
        return JSONResponse({"key_id": key_id}, 201)

    @app.delete(
        "/v1/keys/{key_id}",
        status_code=204,
        responses=openapi_parts.problems(404),
        response_class=Response,
        summary="Delete a key",
        tags=["keys"],
    )
    async def delete_key(request: Request, key_id: str = key_id):
        """Deletes a key: nobody can link its voices to their speakers any more."""
        service.keys.delete(request.scope[OWNER], key_id)
        return Response(status_code=204)
