"""Clients that send half a request, that take no answer, and that send no HTTP."""

from __future__ import annotations

import contextlib
import json
import select
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest

ESTABLISHED = 1
"""State of a connection in ``struct tcp_info``."""
SERVER = """
import sys
from voicenym.apps.web import bounded_connection, local_server
from voicenym.apps.web.bind_rules import Binding
from voicenym.apps.web.hardening import Protection, hardened

bounded_connection.HEADER_SECONDS, bounded_connection.KEEP_ALIVE_SECONDS = 0.2, 0.2
bounded_connection.UNREAD_SECONDS, bounded_connection.LOOK_SECONDS = 0.5, 0.05
if "no-user-timeout" in sys.argv:
    local_server.end_unread = lambda listening: None

async def app(scope, receive, send):
    while scope.get("method") == "POST" and (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/large":
        for _ in range(64):
            await send({"type": "http.response.body", "body": bytes(1 << 20), "more_body": True})
    if scope["path"] == "/whole":
        return await send({"type": "http.response.body", "body": bytes(16 << 20)})
    await send({"type": "http.response.body", "body": b"answer"})

local_server.run_server(hardened(app, Protection()), Binding(), lambda url: print(url, flush=True))
"""


@pytest.fixture
def server(request):
    """A server's address, and its process."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    line = [sys.executable, "-c", SERVER, *getattr(request, "param", ())]
    with subprocess.Popen(line, **pipes) as process:
        yield process.stdout.readline().decode().strip(), process
        process.kill()


def connected(url):
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def asking(url, path="/"):
    return f"GET {path} HTTP/1.1\r\nHost: {url.removeprefix('http://')}\r\n\r\n".encode()


def answered(client):
    """Reads to the end of an answer."""
    data = b""
    while not data.endswith(b"answer\r\n0\r\n\r\n"):
        data = (data + client.recv(1 << 16))[-64:]


def test_half_of_a_second_request_does_not_keep_a_connection(server):
    with connected(server[0]) as client:
        client.sendall(asking(server[0]))
        answered(client)
        client.sendall(b"GET / HT")
        assert client.recv(100) == b""


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux has this limit")
def test_a_client_that_takes_nothing_is_given_up(server):
    url, process = server
    with connected(url) as client:
        client.sendall(asking(url, "/large"))
        assert select.select([process.stderr], [], [], 60)[0], "the request is still there"
        assert b"GET - 200" in process.stderr.readline()


def ended(client):
    """Whether the other end has ended the connection, as the system has it, without reading."""
    return client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[0] != ESTABLISHED


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells what was acknowledged")
@pytest.mark.parametrize("server", [["no-user-timeout"]], indirect=True)
@pytest.mark.parametrize("path", ["/large", "/whole"])
def test_a_client_that_takes_some_bytes_now_and_then_is_given_up(server, path):
    """While its answer is written, and when all of it waits for the client."""
    with connected(server[0]) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        client.sendall(asking(server[0], path))
        for _ in range(200):
            if ended(client):
                break
            with contextlib.suppress(ConnectionResetError):
                client.recv(64)
            time.sleep(0.1)
        assert ended(client)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells what was acknowledged")
@pytest.mark.parametrize("server", [["no-user-timeout"]], indirect=True)
def test_a_client_that_is_fast_enough_gets_all(server):
    with connected(server[0]) as client:
        client.sendall(asking(server[0], "/large"))
        answered(client)


def test_what_is_no_request_is_a_problem_and_leaves_no_trace_in_the_log(server):
    url, process = server
    with connected(url) as client:
        client.sendall(b"\x16\x03\x01\r\n\r\n")
        head, _, body = b"".join(iter(lambda: client.recv(1 << 16), b"")).partition(b"\r\n\r\n")
        assert b"application/problem+json" in head
        assert b"content-security-policy" in head.lower()
        assert json.loads(body)["status"] == 400
    with connected(url) as client:
        client.sendall(asking(url).replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"))
        answered(client)
        client.sendall(b"no length\r\n\r\n")
        assert client.recv(100) == b""
    assert httpx.get(url).text == "answer"
    process.send_signal(signal.SIGTERM)
    log = process.stderr.read().decode()
    assert [line.split(" ", 1)[1][:9] for line in log.splitlines()] == ["GET - 200"] * 2


@pytest.mark.parametrize(
    "sent",
    [
        b"POST / HTTP/1.1\r\nHost: HERE\r\nContent-Length: 100\r\n\r\nhalf",
        b"POST / HTTP/1.1\r\nHost: HERE\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf",
        b"POST / HTTP/1.1\r\nHost: HE",
    ],
    ids=["length", "chunks", "headers"],
)
def test_a_client_that_sends_no_more_within_a_request_is_told(server, sent):
    url, process = server
    with connected(url) as client:
        client.sendall(sent.replace(b"HERE", url.removeprefix("http://").encode()))
        client.shutdown(socket.SHUT_WR)
        head, _, body = b"".join(iter(lambda: client.recv(1 << 16), b"")).partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == 400
    assert "ends before its end" in json.loads(body)["detail"]
    process.send_signal(signal.SIGTERM)
    assert "defect" not in process.stderr.read().decode()
