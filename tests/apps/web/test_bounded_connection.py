"""Clients that send half a request, that take no answer, and that send no HTTP."""

from __future__ import annotations

import json
import select
import signal
import socket
import subprocess
import sys

import httpx
import pytest

SERVER = """
from voicenym.apps.web import bounded_connection, local_server
from voicenym.apps.web.bind_rules import Binding
from voicenym.apps.web.hardening import Protection, hardened

bounded_connection.HEADER_SECONDS, bounded_connection.KEEP_ALIVE_SECONDS = 0.2, 0.2
bounded_connection.UNREAD_SECONDS = 0.5

async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/large":
        for _ in range(64):
            await send({"type": "http.response.body", "body": bytes(1 << 20), "more_body": True})
    await send({"type": "http.response.body", "body": b"answer"})

local_server.run_server(hardened(app, Protection()), Binding(), lambda url: print(url, flush=True))
"""


@pytest.fixture
def server():
    """A server's address, and its process."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", SERVER], **pipes) as process:
        yield process.stdout.readline().decode().strip(), process
        process.kill()


def connected(url):
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def request(url, path="/"):
    return f"GET {path} HTTP/1.1\r\nHost: {url.removeprefix('http://')}\r\n\r\n".encode()


def answered(client):
    """Reads to the end of an answer."""
    data = b""
    while not data.endswith(b"answer\r\n0\r\n\r\n"):
        data += client.recv(1 << 16)


def test_half_of_a_second_request_does_not_keep_a_connection(server):
    with connected(server[0]) as client:
        client.sendall(request(server[0]))
        answered(client)
        client.sendall(b"GET / HT")
        assert client.recv(100) == b""


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux has this limit")
def test_a_client_that_takes_nothing_is_given_up(server):
    url, process = server
    with connected(url) as client:
        client.sendall(request(url, "/large"))
        assert select.select([process.stderr], [], [], 60)[0], "the request is still there"
        assert b"GET - 200" in process.stderr.readline()


def test_what_is_no_request_is_a_problem_and_leaves_no_trace_in_the_log(server):
    url, process = server
    with connected(url) as client:
        client.sendall(b"\x16\x03\x01\r\n\r\n")
        head, _, body = b"".join(iter(lambda: client.recv(1 << 16), b"")).partition(b"\r\n\r\n")
        assert b"application/problem+json" in head
        assert b"content-security-policy" in head.lower()
        assert json.loads(body)["status"] == 400
    with connected(url) as client:
        client.sendall(request(url).replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"))
        answered(client)
        client.sendall(b"no length\r\n\r\n")
        assert client.recv(100) == b""
    assert httpx.get(url).text == "answer"
    process.send_signal(signal.SIGTERM)
    log = process.stderr.read().decode()
    assert [line.split(" ", 1)[1][:9] for line in log.splitlines()] == ["GET - 200"] * 2
