"""A real server: its socket, its headers, its end, its log."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import httpx
import pytest

from voicenym.apps.web import local_server

SERVER = """
import asyncio
import sys
from pathlib import Path
from voicenym.apps.web import bounded_connection, local_server
from voicenym.apps.web.bind_rules import Binding
from voicenym.apps.web.hardening import Protection, hardened
from voicenym.apps.web.request_body import Limits
from voicenym.apps.web.upload_folder import UploadFolder

bounded_connection.HEADER_SECONDS = 0.2
local_server.END_SECONDS = 0.2
binding = Binding()
with UploadFolder(Path(sys.argv[1])) as folder:
    (folder.new_folder() / "original.wav").write_bytes(b"speech")

    async def app(scope, receive, send):
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            while (message := await receive())["type"] == "websocket.receive":
                await send({"type": "websocket.send", "bytes": message["bytes"]})
            return
        if scope["path"] == "/stuck":
            print("stuck", flush=True)
            await asyncio.Event().wait()
        length, more = 0, True
        while more:
            message = await receive()
            length += len(message.get("body", b""))
            more = message.get("more_body", False)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(length).encode()})

    limits = Limits(body_bytes=1 << 20)
    protection = Protection(limits, allowed_hosts=binding.allowed_hosts())
    tell = lambda text: print(text, flush=True)
    local_server.run_server(hardened(app, protection), binding, tell, lambda: tell("ending"))
"""


def started(base):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", SERVER, base], **pipes, text=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Address of a server, its process and its base folder."""
    base = tmp_path_factory.mktemp("server") / "base"
    with started(base) as process:
        yield process.stdout.readline().strip(), process, base
        process.kill()


def test_a_large_upload_gets_its_answer_and_the_connection_ends(server):
    url = server[0]
    found = httpx.post(url, content=b"x" * (8 << 20))
    assert found.status_code == 413
    parts = (b"x" * 65_536 for _ in range(64))
    found = httpx.post(url, content=parts)
    assert (found.status_code, found.headers["connection"]) == (413, "close")
    assert httpx.post(url, content=b"x" * 1000).text == "1000"


def test_five_gigabytes_are_refused_before_they_are_sent(server):
    host, port = server[0].removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as sent:
        request = f"POST / HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 5368709120\r\n\r\n"
        sent.sendall(request.encode() + b"RIFF")
        assert sent.makefile("rb").readline().split()[1] == b"413"


def test_the_software_is_not_named(server):
    headers = httpx.get(server[0]).headers
    assert "server" not in headers
    assert headers["content-security-policy"]


def test_a_connection_without_a_request_is_closed(server):
    host, port = server[0].removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as silent:
        silent.sendall(b"GET / HT")
        assert silent.recv(100) == b""


def test_a_web_socket_outlives_the_time_for_headers(server):
    """And its messages have a largest size."""
    client = pytest.importorskip("websockets.sync.client")
    exceptions = pytest.importorskip("websockets.exceptions")
    with client.connect(server[0].replace("http", "ws")) as sent:
        with pytest.raises(TimeoutError):
            sent.recv(timeout=0.5)  # the time for headers is 0.2 s
        sent.send(b"sound")
        assert sent.recv(timeout=10) == b"sound"
        sent.send(bytes(65_537))
        with pytest.raises(exceptions.ConnectionClosed) as caught:
            sent.recv(timeout=10)
        assert caught.value.rcvd.code == 1009


def test_it_listens_to_this_machine_alone(server):
    port = int(server[0].rpartition(":")[2])
    with socket.socket() as other:
        other.bind(("127.0.0.2", port))  # it is free there


def test_its_end_wipes_and_its_log_names_nobody(tmp_path):
    base = tmp_path / "base"
    with started(base) as process:
        url = process.stdout.readline().strip()
        httpx.get(f"{url}/anna/4711?name=anna")
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
        log = process.stderr.read()
    assert "GET - 200" in log
    for word in ("127.0.0.1", "anna", "4711", str(base), "Traceback"):
        assert word not in log
    assert list(base.iterdir()) == []


def test_what_is_in_work_at_its_end_gets_503_before_docker_kills(tmp_path):
    """Docker, too, sends SIGTERM, and SIGKILL ten seconds later."""
    assert local_server.END_SECONDS <= 5
    with started(tmp_path / "base") as process:
        host, port = process.stdout.readline().strip().removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(f"GET /stuck HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            assert process.stdout.readline() == "stuck\n"
            process.send_signal(signal.SIGTERM)
            assert process.stdout.readline() == "ending\n"
            head, _, body = b"".join(iter(lambda: client.recv(1 << 16), b"")).partition(b"\r\n\r\n")
        assert head.split()[1] == b"503"
        assert b"retry-after" in head.lower()
        assert b"ending" in body
        assert process.wait() == 0
    assert list((tmp_path / "base").iterdir()) == []


def test_the_loss_of_its_terminal_wipes_too(tmp_path):
    """A shell and the system send one SIGHUP each."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests themselves may run by nohup
    try:
        with started(tmp_path / "base") as process:
            assert httpx.post(process.stdout.readline().strip(), content=b"x").text == "1"
            process.send_signal(signal.SIGHUP)
            process.send_signal(signal.SIGHUP)
            assert process.wait() == 0
            assert "Traceback" not in process.stderr.read()
    finally:
        signal.signal(signal.SIGHUP, before)
    assert list((tmp_path / "base").iterdir()) == []
