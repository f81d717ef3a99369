"""The command over shards, with a key; an S3 server on loopback."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import pytest

from voicenym.pseudonym import Key


@pytest.fixture
def key(tmp_path) -> Path:
    path = tmp_path / "project.key"
    Key(bytes(range(100, 132))).save(path)
    return path


@pytest.fixture
def anonymize(command, key):
    """``anonymize(...)``: the command with a key and, unless told otherwise, one worker."""

    def run(*arguments: object, workers: int = 1):
        return command("anonymize", "--key", key, "-s", "mcadams", "--workers", workers, *arguments)

    return run


@pytest.fixture
def temporary(monkeypatch, tmp_path) -> Path:
    """The folder for temporary files of this test and its workers."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.fixture
def store(monkeypatch, temporary):
    """A server with an empty bucket ``corpus``; its middleware."""
    server = pytest.importorskip("moto.server")
    from s3_server import Trouble, fresh
    from werkzeug.serving import make_server

    application = server.DomainDispatcherApplication(server.create_backend_app)
    trouble = Trouble(application)
    listening = make_server("127.0.0.1", 0, trouble, threaded=True)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{listening.server_port}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-a-secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    system = fresh()
    trouble.address = address
    import urllib.request

    urllib.request.urlopen(urllib.request.Request(f"{address}/moto-api/reset", method="POST"))
    system.mkdir("corpus")
    yield trouble
    listening.shutdown()
    thread.join()
    listening.server_close()
    fresh()
