"""The application within this process."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from voicenym.apps.serve import application as module
from voicenym.apps.serve.application import application
from voicenym.apps.serve.job_runner import JobRunner
from voicenym.apps.serve.key_store import KeyStore
from voicenym.apps.serve.service import Service, WorkLimits
from voicenym.apps.web.hardening import Protection
from voicenym.apps.web.upload_folder import UploadFolder

pytest.importorskip("fastapi")


@pytest.fixture
def service(tmp_path):
    """State of a server with one worker at once."""
    with UploadFolder(tmp_path / "work") as uploads:
        cards = [{"name": name, "live": True} for name in ("recast", "mcadams")]
        yield Service(uploads, KeyStore(tmp_path / "keys"), cards, WorkLimits(workers=1))


def test_the_server_closes_its_memory_before_it_starts_a_worker(service, monkeypatch):
    done = []
    monkeypatch.setattr(module, "close_memory", lambda: done.append("closed"))
    monkeypatch.setattr(service.runner, "start", lambda: done.append("started"))

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
