"""A worker opens no connection, starts no program, and has bounded memory, time and files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from voicenym.apps.serve.confinement import can_confine

pytestmark = pytest.mark.skipif(not can_confine(), reason="no filter of system calls here")
HEAD = """
import os, socket, sys, errno
from voicenym.apps.serve.confinement import confine
confine(200 << 20, 2, 1000)
def refused(what):
    try:
        what()
    except OSError as error:
        assert error.errno in (errno.EPERM, errno.EACCES), error
        return
    raise SystemExit("was not refused")
"""


def confined(code):
    return subprocess.run(
        [sys.executable, "-c", HEAD + code], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    "call",
    [
        "socket.socket",
        "lambda: socket.socket(socket.AF_UNIX)",
        "lambda: socket.socketpair()",
        "lambda: os.execv('/bin/true', ['true'])",
        "lambda: os.kill(os.getppid(), 0)",
    ],
)
def test_calls_are_refused(call):
    found = confined(f"refused({call})")
    assert found.returncode == 0, found.stderr


def test_a_child_starts_no_program():
    code = """
child = os.fork()
if not child:
    refused(lambda: os.execv('/bin/true', ['true']))
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
    found = confined(code)
    assert found.returncode == 0, found.stderr


def test_an_inherited_connection_still_speaks():
    """The worker's own pipe to the server."""
    assert confined("os.write(1, b'answer')").stdout == "answer"


def test_memory_is_bounded():
    found = confined(
        "bytearray(100 << 20)\ntry:\n    bytearray(400 << 20)\nexcept MemoryError: os._exit(9)"
    )
    assert found.returncode == 9


def test_files_are_bounded(tmp_path):
    code = f"""
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open({str(tmp_path / "large")!r}, "wb", buffering=0) as file:
    try:
        file.write(b"x" * 1000)
        file.write(b"x" * 1000)
    except OSError as error:
        assert error.errno == errno.EFBIG
        os._exit(9)
"""
    assert confined(code).returncode == 9


def test_time_is_bounded():
    assert confined("while True: pass").returncode in (-signal.SIGXCPU, -signal.SIGKILL)


def test_a_worker_of_a_server_is_confined(server, long_speech):
    """Its limits and its filter, as the system shows them."""
    with server.client() as client:
        data = long_speech.read_bytes()
        job = client.post(
            "/v1/jobs", files={"file": ("a.flac", data)}, data={"system": "base"}
        ).json()
        with client.stream("GET", job["links"]["events"]) as stream:
            lines = stream.iter_lines()
            while '"seconds": 0.0' in (line := next(lines)) or "data" not in line:
                pass
            (worker,) = server.workers()
            with open(f"/proc/{worker}/status") as file:
                status = dict(
                    line.split(":\t") for line in file.read().splitlines() if ":\t" in line
                )
            with open(f"/proc/{worker}/limits") as file:
                limits = file.read()
            os.kill(worker, signal.SIGKILL)
        client.delete(job["links"]["self"])
    assert status["Seccomp"] == "2"
    assert status["NoNewPrivs"] == "1"
    line = next(line for line in limits.splitlines() if line.startswith("Max address space"))
    assert line.split()[3].isdigit()
