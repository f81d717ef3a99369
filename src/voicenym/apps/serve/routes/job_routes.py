"""Routes of jobs: recordings that take longer than a client waits for an answer."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from voicenym.apps.serve.forms.multipart_upload import receive_upload
from voicenym.apps.serve.job_store import DONE, ENDED, FAILED, Job
from voicenym.apps.serve.routes import openapi_parts
from voicenym.apps.serve.routes.answer_examples import JOB, answer
from voicenym.apps.serve.routes.responses import recording
from voicenym.apps.serve.service import FIELDS, Service
from voicenym.apps.web.asgi_types import Receive
from voicenym.apps.web.hardening import OWNER
from voicenym.apps.web.problem_details import Problem

HEARTBEAT = 15.0
"""Seconds between lines of an event stream without news, so that proxies keep it."""
LEAVING = 0.1
"""Seconds before the answer with a job in which a client is noticed to have left."""

TAGS = ["jobs"]
NOT_FOUND = openapi_parts.problems(404)


def add_job_routes(app: Any, service: Service) -> None:
    """Adds the routes to an application of FastAPI.

    Args:
        app: the application.
        service: its state.
    """
    _add_start(app, service)
    _add_progress(app, service)
    _add_result(app, service)
    _add_end(app, service)


def _add_start(app: Any, service: Service) -> None:
    """Adds the route that makes a job of a recording."""
    from fastapi import Request
    from starlette.responses import JSONResponse

    @app.post(
        "/v1/jobs",
        status_code=202,
        responses={
            **answer("The job", JOB, 202),
            **openapi_parts.problems(400, 404, 415, 422, 507),
        },
        openapi_extra=openapi_parts.form(),
        summary="Send a long recording",
        tags=TAGS,
    )
    async def make(request: Request):
        """Takes a recording and answers at once with a job."""
        owner = request.scope[OWNER]
        service.slots.check()
        service.jobs.check(owner)
        folder = service.uploads.new_folder()
        try:
            upload = await receive_upload(request.scope, request.receive, folder, "file", FIELDS)
            task = await service.task_of(owner, upload, is_job=True)
            service.jobs.check(owner)
            job = service.start_job(owner, folder, task)
        except BaseException:
            service.uploads.wipe(folder)
            raise
        known = False
        try:
            known = not await _has_left(request.receive)
        finally:
            if not known:  # nobody will know its id, to fetch or delete it
                service.jobs.remove(job)
        return JSONResponse(job.view(), 202, {"Location": f"/v1/jobs/{job.id}"})


def _add_progress(app: Any, service: Service) -> None:
    """Adds the routes that show a job, once or as a stream of events."""
    from fastapi import Request
    from starlette.responses import Response, StreamingResponse

    @app.get(
        "/v1/jobs/{id}",
        responses={**answer("The job", JOB), **NOT_FOUND},
        summary="Show a job",
        tags=TAGS,
    )
    async def show(request: Request, id: str):
        return service.jobs.get(request.scope[OWNER], id).view()

    @app.get(
        "/v1/jobs/{id}/events",
        responses={
            200: {
                "description": "Server-sent events progress, then done or failed",
                "content": {"text/event-stream": {}},
            },
            **NOT_FOUND,
        },
        response_class=Response,
        summary="Follow a job",
        tags=TAGS,
    )
    async def events(request: Request, id: str):
        job = service.jobs.get(request.scope[OWNER], id)
        return StreamingResponse(_events(job), media_type="text/event-stream")


def _add_result(app: Any, service: Service) -> None:
    """Adds the route of a result, and the one by which a client says that it has arrived."""
    from fastapi import Request
    from starlette.responses import Response

    @app.get(
        "/v1/jobs/{id}/result",
        responses={
            200: openapi_parts.SOUND,
            **openapi_parts.problems(404, 409, 422, 501, 507),
        },
        response_class=Response,
        summary="Fetch the result",
        tags=TAGS,
    )
    async def result(request: Request, id: str):
        """Answers with the anonymized recording. If the transfer breaks, ask again: the result is
        wiped by `DELETE` when it has arrived, else five minutes after it was sent whole, and an
        hour after the end of the job if it was not.
        """
        job = service.jobs.get(request.scope[OWNER], id)
        if job.status == FAILED and job.problem is not None:
            raise job.problem
        if job.status != DONE or job.outcome is None:
            raise _not_ended()
        return recording(job.outcome, job.audit_id, service.jobs.sending(job))

    @app.delete(
        "/v1/jobs/{id}/result",
        status_code=204,
        responses={**NOT_FOUND, **openapi_parts.problems(409)},
        response_class=Response,
        summary="Say that the result has arrived",
        tags=TAGS,
    )
    async def arrived(request: Request, id: str):
        """Wipes the result and forgets the job; its audit stays."""
        job = service.jobs.get(request.scope[OWNER], id)
        if job.status not in ENDED:
            raise _not_ended()
        service.jobs.remove(job)
        return Response(status_code=204)


def _add_end(app: Any, service: Service) -> None:
    """Adds the route that cancels and forgets a job."""
    from fastapi import Request
    from starlette.responses import Response

    @app.delete(
        "/v1/jobs/{id}",
        status_code=204,
        responses=NOT_FOUND,
        response_class=Response,
        summary="Cancel and forget a job",
        tags=TAGS,
    )
    async def forget(request: Request, id: str):
        """Cancels the job and wipes its recording, its result and its audit."""
        owner = request.scope[OWNER]
        job = service.jobs.get(owner, id)
        service.jobs.remove(job)
        service.audits.forget(owner, job.audit_id)
        return Response(status_code=204)


def _not_ended() -> Problem:
    return Problem(
        409, "The job has not ended.", "Follow its events, and ask again when it is done."
    )


async def _has_left(receive: Receive) -> bool:
    """Whether the client of a request, which has been read to its end, is gone. A server that has
    much to read notices it some milliseconds later.
    """
    try:
        async with asyncio.timeout(LEAVING):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True


async def _events(job: Job) -> AsyncIterator[str]:
    """Events of a job until it ends or is forgotten."""
    while True:
        changed = job.changed
        ended = job.status in ENDED
        yield f"event: {job.status if ended else 'progress'}\ndata: {json.dumps(job.view())}\n\n"
        if ended:
            return
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT):
                    await changed.wait()
                break
            except TimeoutError:
                yield ": waiting\n\n"
        if job.status not in ENDED and job.task is not None and job.task.cancelling():
            yield "event: forgotten\ndata: {}\n\n"
            return
