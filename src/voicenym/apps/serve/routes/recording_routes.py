"""Routes that take a recording and give one back: ours, and the one of voice services."""

import asyncio
import wave
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from voicenym.apps.serve.forms import output_formats
from voicenym.apps.serve.forms.multipart_upload import Upload, receive_upload
from voicenym.apps.serve.forms.setting_fields import voice_settings_of
from voicenym.apps.serve.job_task import Task
from voicenym.apps.serve.routes import openapi_parts
from voicenym.apps.serve.routes.responses import recording
from voicenym.apps.serve.service import FIELDS, Service
from voicenym.apps.web.hardening import OWNER
from voicenym.apps.web.problem_details import Problem

PATHS = ("/v1/speech-to-speech/{voice_id}", "/v1/voice-changer/{voice_id}")
"""Paths of speech-to-speech, by which clients of different ages ask."""
_RAW = "pcm_s16le_16"
T = TypeVar("T")


def add_recording_routes(app: Any, service: Service) -> None:
    """Adds the routes to an application of FastAPI.

    Args:
        app: the application.
        service: its state.
    """
    from fastapi import Request
    from starlette.responses import Response

    @app.post(
        "/v1/anonymize",
        response_class=Response,
        responses={
            200: openapi_parts.SOUND,
            **openapi_parts.problems(400, 404, 415, 422, 501, 507),
        },
        openapi_extra=openapi_parts.form(),
        summary="Anonymize a recording",
        tags=["recordings"],
    )
    async def anonymize(request: Request):
        """Gives the voice of a recording a pseudonym and answers with the recording.

        The container is kept, all metadata is dropped, and nothing is kept on the server. The
        answer begins when the whole output is made and was compared with its input.
        """
        return await _through(service, request, "file", FIELDS, service.task_of)

    async def speech_to_speech(request: Request, voice_id: str):
        """The same in the shape of voice services, so that their clients work by the address alone.

        `voice_id` is `SYSTEM`, or `SYSTEM.KEY_ID.SPEAKER` for a voice that is kept.
        """
        format = request.query_params.get("output_format") or output_formats.USUAL
        if format not in output_formats.NAMES:
            raise Problem(
                422,
                "There is no such output_format.",
                f"Use one of {', '.join(output_formats.NAMES)}.",
            )

        async def task_of(owner: str, upload: Upload) -> Task:
            fields = upload.fields
            if fields.get("file_format") == _RAW:
                upload.path = await asyncio.to_thread(_with_header, upload.path)
            system, _, kept = voice_id.partition(".")
            key_id, _, speaker = kept.partition(".")
            settings = voice_settings_of(fields.get("voice_settings") or "{}")
            upload.fields = {"system": system, "key_id": key_id, "speaker": speaker}
            task = await service.task_of(owner, upload)
            return replace(task, settings=settings, known_only=True, output_format=format)

        names = tuple(openapi_parts.SERVICE_FIELDS)
        return await _through(service, request, "audio", names, task_of)

    for number, path in enumerate(PATHS):
        for end in ("", "/stream"):
            app.add_api_route(
                path + end,
                speech_to_speech,
                methods=["POST"],
                response_class=Response,
                responses={
                    200: openapi_parts.SOUND,
                    **openapi_parts.problems(400, 404, 415, 422, 501, 507),
                },
                openapi_extra={
                    **openapi_parts.form("audio", **openapi_parts.SERVICE_FIELDS),
                    "parameters": [openapi_parts.OUTPUT_FORMAT],
                },
                summary="Anonymize a recording as voice services do",
                tags=["recordings"],
                operation_id=f"speech_to_speech_{number}{end.replace('/', '_')}",
            )


async def _through(
    service: Service,
    request: Any,
    file_field: str,
    text_fields: tuple[str, ...],
    task_of: Callable[..., Awaitable[Task]],
) -> Any:
    """Takes a recording through the server; its folder is wiped with the answer."""
    owner = request.scope[OWNER]
    service.slots.check()
    folder = service.uploads.new_folder()
    try:
        upload = await receive_upload(
            request.scope, request.receive, folder, file_field, text_fields
        )
        task = await task_of(owner, upload)
        outcome = await unless_gone(request, service.anonymize(task))
    except BaseException:
        service.uploads.wipe(folder)
        raise
    task.source.unlink(missing_ok=True)  # the original goes first
    audit_id = service.keep_audit(owner, outcome)
    return recording(outcome, audit_id, _wiping(service, folder))


@contextmanager
def _wiping(service: Service, folder: Path) -> Iterator[Callable[[], None]]:
    """Context manager that wipes a folder at its end, whether all of it was sent or not."""
    try:
        yield lambda: None
    finally:
        service.uploads.wipe(folder)


async def unless_gone(request: Any, work: Awaitable[T]) -> T:
    """Result of work, which is cancelled if the client goes.

    Raises:
        Problem: the client is gone; nobody reads it.
    """
    working = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Problem(400, "The client is gone.", "Send the recording again.")
        return await working
    finally:
        gone.cancel()
        if not working.done():
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)


async def _gone(request: Any) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _with_header(path: Path) -> Path:
    """A WAV file of headerless samples at 16 kHz."""
    target = path.with_name("original.wav")
    with wave.open(str(target), "wb") as file, path.open("rb") as raw:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        while data := raw.read(1 << 20):
            file.writeframesraw(data[: len(data) & ~1])
    path.unlink()
    return target
