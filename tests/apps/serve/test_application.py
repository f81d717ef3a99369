"""The application within this process."""

from __future__ import annotations

import asyncio

import pytest

from voicenym.apps.serve import application as module
from voicenym.apps.serve.application import application
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
