"""Route that finds who speaks when in a recording."""

from typing import Any

from voicenym.apps.serve.forms.multipart_upload import receive_upload
from voicenym.apps.serve.routes import openapi_parts
from voicenym.apps.serve.routes.recording_routes import unless_gone
from voicenym.apps.serve.service import Service


def add_speaker_routes(app: Any, service: Service) -> None:
    """Adds the route to an application of FastAPI.

    Args:
        app: the application.
        service: its state.
    """
    from fastapi import Request
    from starlette.responses import JSONResponse

    @app.post(
        "/v1/speakers",
        responses={
            200: openapi_parts.TURNS,
            **openapi_parts.problems(400, 415, 422, 507),
        },
        openapi_extra=openapi_parts.form("file", **openapi_parts.SPEAKERS_FIELDS),
        summary="Find who speaks when",
        tags=["recordings"],
    )
    async def speakers(request: Request):
        """Finds the turns of the people in a recording, of which nothing is kept.

        `rttm` of the answer is what `POST /v1/anonymize` takes as `turns`, with `only` or `keep` to
        say who is hidden. Labels are of this recording alone. The turns have errors: check them
        before you keep anybody's voice.
        """
        service.slots.check()
        with service.uploads.request() as folder:
            upload = await receive_upload(
                request.scope, request.receive, folder, "file", ("speakers",)
            )
            task = service.speakers_task_of(upload)
            found = await unless_gone(request, service.find_speakers(task))
        return JSONResponse(found)
