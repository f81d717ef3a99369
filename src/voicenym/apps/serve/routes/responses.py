"""Responses of the interface: recordings that note when they were sent, and problems."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING, Any

from voicenym.apps.serve.task_outcome import Outcome
from voicenym.apps.web.problem_details import Problem, problem_of

if TYPE_CHECKING:
    from starlette.responses import Response

KINDS = {
    ".wav": "audio/wav", ".rf64": "audio/wav", ".w64": "audio/x-w64", ".flac": "audio/flac",
    ".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg", ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4", ".m4b": "audio/mp4", ".mp4": "video/mp4", ".m4v": "video/mp4",
    ".mov": "video/quicktime", ".mkv": "video/x-matroska", ".mka": "audio/x-matroska",
    ".webm": "video/webm", ".weba": "audio/webm", ".aac": "audio/aac", ".3gp": "video/3gpp",
    ".aif": "audio/aiff", ".aiff": "audio/aiff", ".au": "audio/basic", ".caf": "audio/x-caf",
}  # fmt: skip
"""Media types by extension."""
SOUND_ALONE = {
    "video/mp4": "audio/mp4", "video/x-matroska": "audio/x-matroska", "video/webm": "audio/webm",
    "video/3gpp": "audio/3gpp",
}  # fmt: skip
"""Media types of containers of films that hold no picture."""
OTHER = "application/octet-stream"
CHUNK = 1 << 18


def recording(
    outcome: Outcome,
    audit_id: str | None,
    sending: AbstractContextManager[Callable[[], None]],
) -> Response:
    """Response with a recording, streamed from its file; the client's name of it is not repeated.

    Args:
        outcome: of the task.
        audit_id: for ``GET /v1/audit/{id}``.
        sending: is entered while the response is sent, and left also when it is broken off; what it
            gives is called when all of the recording was handed to the connection.
    """
    from starlette.responses import StreamingResponse

    path = outcome.path
    headers = {
        "content-length": str(path.stat().st_size),
        "content-disposition": f'attachment; filename="anonymized{path.suffix}"',
        "accept-ranges": "none",
        "voicenym-system": outcome.system,
        "voicenym-seconds": f"{outcome.seconds:.3f}",
    }
    if audit_id is not None:
        headers["voicenym-audit"] = audit_id
    if outcome.refusal:
        headers["voicenym-refusal"] = json.dumps(outcome.refusal)
    if outcome.warnings:
        headers["voicenym-warnings"] = json.dumps(list(outcome.warnings))

    class Recording(StreamingResponse):
        def __init__(self) -> None:
            super().__init__((), media_type=media_type(outcome), headers=headers)

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            with sending as self._note_sent, path.open("rb") as file:
                self.body_iterator = _chunks(file)
                await super().__call__(scope, receive, send)

        async def stream_response(self, send: Any) -> None:
            await super().stream_response(send)
            self._note_sent()

    return Recording()


def media_type(outcome: Outcome) -> str:
    """Media type of an output, by its extension and by whether it is a film."""
    kind = KINDS.get(outcome.path.suffix, OTHER)
    return kind if outcome.is_film else SOUND_ALONE.get(kind, kind)


async def _chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    while data := await asyncio.to_thread(file.read, CHUNK):
        yield data


def problem_response(error: Exception) -> Response:
    """Response of a problem, or of the error of a framework.

    Args:
        error: a VoicenymError; starlette's HTTPException; FastAPI's validation error.
    """
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException
    from starlette.responses import Response

    from voicenym.errors import VoicenymError

    if isinstance(error, VoicenymError):
        found = problem_of(error)
    elif isinstance(error, RequestValidationError):
        places = {".".join(map(str, one.get("loc", ()))) for one in error.errors()}
        found = Problem(
            422, f"The request does not fit: {', '.join(sorted(places))}.", "See /openapi.json."
        )
    elif isinstance(error, HTTPException):
        cure = "See /openapi.json for paths and methods."
        found = Problem(error.status_code, "There is nothing to do here.", cure, error.headers)
    else:
        raise error
    status, body, headers = found.response()
    return Response(body, status, headers)
