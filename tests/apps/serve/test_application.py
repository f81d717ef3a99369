"""The application within this process."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from asgi_calls import call

from voicenym.apps.serve import application as module
from voicenym.apps.serve import service as service_module
from voicenym.apps.serve.application import application, is_metered, is_open
from voicenym.apps.serve.forms import multipart_upload
from voicenym.apps.serve.forms.multipart_upload import Upload
from voicenym.apps.serve.forms.people_choice import people_of
from voicenym.apps.serve.job_runner import JobRunner
from voicenym.apps.serve.key_store import KeyStore
from voicenym.apps.serve.routes import job_routes
from voicenym.apps.serve.routes.live_request import live_request
from voicenym.apps.serve.service import Service, WorkLimits
from voicenym.apps.web.hardening import Protection
from voicenym.apps.web.problem_details import Problem
from voicenym.apps.web.request_body import Limits
from voicenym.apps.web.upload_folder import UploadFolder
from voicenym.pseudonym import Key

pytest.importorskip("fastapi")


@pytest.fixture
def service(tmp_path):
    """State of a server with one worker at once."""
    with UploadFolder(tmp_path / "work") as uploads:
        cards = [{"name": name, "live": True} for name in ("recast", "mcadams")]
        yield Service(uploads, KeyStore(tmp_path / "keys"), cards, WorkLimits(workers=1))


PART = b'Content-Disposition: form-data; name="file"; filename="a.wav"'
FORM = b"--B\r\n" + PART + b"\r\n\r\nsound\r\n--B--\r\n"
MULTIPART = {"content-type": "multipart/form-data; boundary=B"}


@pytest.mark.parametrize("path", ["/v1/anonymize", "/v1/jobs", "/v1/speakers"])
@pytest.mark.parametrize("place", ["folder", "first byte", "last byte"])
def test_a_full_disk_is_said_and_is_no_defect(service, monkeypatch, caplog, path, place):
    def full(*given):
        raise OSError(errno.ENOSPC, "No space left on device")

    class File:
        write = full if place == "first byte" else lambda self, data: len(data)

        def __enter__(self):
            return self

        def __exit__(self, *given):
            full()  # what was buffered

    if place == "folder":
        monkeypatch.setattr(service.uploads, "new_folder", full)
    else:
        monkeypatch.setattr(multipart_upload, "open_private", lambda *given: File())
    app = application(service, Protection())
    monkeypatch.setattr(logging.getLogger("voicenym.web"), "propagate", True)  # to caplog
    found = call(app, "POST", path, MULTIPART.items(), (FORM,))
    assert found.status == json.loads(found.body)["status"] == 507
    assert "defect" not in caplog.text
    assert not list(service.uploads.path.iterdir())


def test_the_server_closes_its_memory_before_it_starts_a_worker(service, monkeypatch):
    done = []
    monkeypatch.setattr(module, "close_memory", lambda: done.append("closed"))
    monkeypatch.setattr(service.runner, "start", lambda: done.append("started"))
    monkeypatch.setattr(service.runner, "can_work", lambda memory: asyncio.sleep(0, True))

    async def live():
        messages = asyncio.Queue()
        for kind in ("startup", "shutdown"):
            messages.put_nowait({"type": f"lifespan.{kind}"})
        sent = []

        async def send(message):
            sent.append(message["type"])

        await application(service, Protection())({"type": "lifespan"}, messages.get, send)
        return sent

    assert asyncio.run(live()) == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert done == ["closed", "started"]


def test_it_is_ready_once_a_worker_has_started(service, monkeypatch, caplog):
    found = [False, True]
    monkeypatch.setattr(service.runner, "can_work", lambda memory: asyncio.sleep(0, found.pop(0)))
    monkeypatch.setattr(service_module, "RETRY_SECONDS", 0.0)
    app = application(service, Protection())
    monkeypatch.setattr(logging.getLogger("voicenym.web"), "propagate", True)  # to caplog
    early = call(app, path="/ready")
    assert (early.status, early.headers["content-type"]) == (503, "application/problem+json")
    assert int(early.headers["retry-after"]) >= 1
    assert call(app, path="/health").status == 200, "it runs, and is not to be restarted"
    asyncio.run(service.get_ready())
    assert found == []
    assert "no worker process" in caplog.text
    assert call(app, path="/ready").status == 200


def test_a_server_that_is_asked_to_end_at_its_start_says_nothing_of_workers(
    service, monkeypatch, caplog
):
    """systemd ends all processes of a unit at once, the copied one among them."""

    async def no_worker(memory):
        return False

    async def ended(seconds):
        service.end()

    monkeypatch.setattr(service.runner, "can_work", no_worker)
    monkeypatch.setattr(service_module.asyncio, "sleep", ended)
    asyncio.run(service.get_ready())
    assert caplog.text == ""
    assert not service.is_ready


def test_health_is_told_at_any_load(service):
    limits = Limits(parallel=0, per_second=1.0, burst=1)
    app = application(service, Protection(limits, is_open=is_open, is_metered=is_metered))
    assert [call(app, path="/health").status for _ in range(5)] == [200] * 5
    assert call(app, path="/v1/systems").status == 503


def test_load_balancers_may_probe_by_head(service):
    app = application(service, Protection())
    assert call(app, "HEAD", "/health").status == 200
    assert call(app, "HEAD", "/ready").status == 503
    service.is_ready = True
    assert call(app, "HEAD", "/ready").status == 200


def test_every_route_names_the_answers_to_strangers(service):
    document = json.loads(call(application(service, Protection()), path="/openapi.json").body)
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert "421" in operation["responses"], path
            assert path == "/health" or "403" in operation["responses"], path


def test_jobs_of_a_server_that_ends_fail_at_once(service, monkeypatch):
    """Nobody could fetch their results: it takes no further connection."""
    began = []

    async def run(task, progress):
        began.append(task)
        await asyncio.Event().wait()

    monkeypatch.setattr(service.runner, "run", run)

    async def ended():
        folders = [service.uploads.new_folder() for _ in range(3)]
        jobs = [service.start_job("anna", folder, None) for folder in folders[:2]]  # one waits
        streams = [aiter(job_routes._events(job)) for job in jobs]
        while not began:
            await asyncio.sleep(0)
        for stream in streams:
            assert "event: progress" in await anext(stream)
        rest = [asyncio.ensure_future(anext(stream)) for stream in streams]
        await asyncio.sleep(0)
        service.end()
        for text in await asyncio.gather(*rest):
            assert text.startswith("event: failed")
            assert json.loads(text.partition("data: ")[2])["problem"]["status"] == 503
        with pytest.raises(Problem, match="ending"):
            service.start_job("anna", folders[2], None)
        await asyncio.gather(*(job.task for job in jobs), return_exceptions=True)
        assert not any(folder.exists() for folder in folders[:2])
        assert not service.is_ready

    asyncio.run(ended())


def test_recordings_in_work_leave_the_threads_of_uploads_free(monkeypatch):
    ended = threading.Event()
    monkeypatch.setattr(JobRunner, "_run", lambda *_: ended.wait(60) and {})

    async def serve():
        runner = JobRunner(workers=3)
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        working = [asyncio.ensure_future(runner.find_speakers(None)) for _ in range(3)]
        await asyncio.sleep(0)
        received = await asyncio.wait_for(asyncio.to_thread(lambda: "upload"), 10)
        ended.set()
        assert await asyncio.gather(*working) == [{}] * 3
        runner.close()
        return received

    assert asyncio.run(serve()) == "upload"


def test_a_defect_of_a_route_is_a_problem_that_says_nothing(service, monkeypatch, caplog):
    def fail(*_):
        raise ZeroDivisionError("of Anna")

    app = application(service, Protection())
    monkeypatch.setattr(service.jobs, "get", fail)
    logger = logging.getLogger("voicenym.web")
    monkeypatch.setattr(logger, "handlers", [caplog.handler])
    monkeypatch.setattr(logger, "propagate", False)  # each record once
    with caplog.at_level(logging.ERROR):
        found = call(app, "GET", "/v1/jobs/x")
    assert found.status == 500
    assert found.headers["content-type"] == "application/problem+json"
    assert found.headers["x-frame-options"] == "DENY"
    problem = json.loads(found.body)
    assert problem["status"] == 500
    assert problem["cure"]
    assert len(caplog.records) == 1
    assert "ZeroDivisionError" in caplog.text
    assert "Anna" not in caplog.text + found.body.decode()


@pytest.mark.parametrize(
    "text", ["0", "21", "00029999999", "0001" + "0" * 5000, "-1", "x", "\u00b2", "9" * 5000]
)
def test_a_number_of_speakers_that_cannot_be_is_refused(service, tmp_path, text):
    with pytest.raises(Problem) as caught:
        service.speakers_task_of(Upload(tmp_path / "a", fields={"speakers": text}))
    assert caught.value.status == 422


@pytest.mark.parametrize(("text", "count"), [("1", 1), ("20", 20), ("0002", 2), ("", None)])
def test_a_number_of_speakers_is_taken(service, tmp_path, text, count):
    upload = Upload(tmp_path / "a", fields={"speakers": text})
    assert service.speakers_task_of(upload).count == count


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"rate": 16000.0}, "rate"),
        ({"rate": True}, "rate"),
        ({"rate": [16000]}, "rate"),
        ({"rate": 16000, "speaker": "\ud800"}, "Unicode"),
        ({"rate": 16000, "speaker": "anna\udc80"}, "Unicode"),
        ({"rate": 16000, "speaker": "anna"}, "no key_id"),
    ],
)
def test_a_first_message_that_does_not_fit_is_refused(service, fields, word):
    with pytest.raises(Problem, match=word) as caught:
        live_request(service, "anna", json.dumps(fields))
    assert caught.value.status == 422


def test_names_of_halved_characters_are_refused(tmp_path):
    fields = {
        "turns": "SPEAKER recording 1 0.5 2.25 <NA> <NA> speaker-1 0.97 <NA>",
        "names": '{"speaker-1": "\\ud800"}',
    }
    with pytest.raises(Problem, match="names"):
        people_of(fields, Key(bytes(32)), tmp_path / "a")


def test_a_problem_that_quotes_halved_characters_is_sent():
    problem = Problem(422, "recast has no parameter \ud800", "Leave \udfff out.")
    assert json.loads(problem.response()[1])["detail"] == "recast has no parameter ?"


@pytest.mark.parametrize("stays", [True, False])
def test_a_job_of_a_client_that_left_before_its_answer_is_forgotten(service, monkeypatch, stays):
    """Who forgets everything on the page may do so before the page knows the job."""
    head = b'--x\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
    body = {"type": "http.request", "body": head + b"sound\r\n--x--\r\n", "more_body": False}

    async def anonymize(task, *told):
        await asyncio.Event().wait()

    async def run():
        messages = [body]

        async def receive():
            if messages:
                return messages.pop()
            if stays:
                await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        sent = []

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http", "method": "POST", "path": "/v1/jobs", "query_string": b"",
            "client": ("::1", 1), "headers": [
                (b"host", b"127.0.0.1"), (b"content-type", b"multipart/form-data; boundary=x")
            ],
        }  # fmt: skip
        await application(service, Protection())(scope, receive, send)
        assert sent[0]["status"] == 202
        for _ in range(5):
            await asyncio.sleep(0)
        return len(service.jobs), len(list(service.uploads.path.rglob("original")))

    monkeypatch.setattr(service, "anonymize", anonymize)
    assert asyncio.run(run()) == ((1, 1) if stays else (0, 0))
