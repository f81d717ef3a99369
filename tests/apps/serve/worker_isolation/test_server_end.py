"""A worker ends with a server that is killed, whatever it does at that moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from awaited import PATIENCE, until

WORKER = """
from voicenym.apps.serve.worker_isolation.server_end import end_with_server

def work(connection):
    end_with_server()
    connection.send("begun")
    while True:
        pass
"""
SERVER = """
import time
from busy_worker import work
from voicenym import processes

context = processes.copying(["busy_worker"])
ours, theirs = context.Pipe()
worker = context.Process(target=work, args=(theirs,), daemon=True)
worker.start()
assert ours.recv() == "begun"
print(worker.pid, flush=True)
time.sleep(600)
"""


def is_running(process):
    """Whether a process runs: an orphan may stay as a zombie for a while."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def test_a_worker_in_work_ends_with_a_killed_server(tmp_path):
    (tmp_path / "busy_worker.py").write_text(WORKER)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    line = [sys.executable, "-c", SERVER]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment) as server:
        worker = int(server.stdout.readline())
        assert is_running(worker)
        server.kill()
        server.wait(PATIENCE)
    try:
        until(lambda: not is_running(worker))
    finally:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
