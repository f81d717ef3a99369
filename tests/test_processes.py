"""Start of processes: complete, or an error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from multiprocessing.context import SpawnProcess
from multiprocessing.process import _children
from types import SimpleNamespace

import pytest

from voicenym import processes

pytestmark = pytest.mark.usefixtures("real_workers")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_handled_once_the_process_has_started(number, monkeypatch):
    """A process whose parent ends while it starts it would print a traceback."""
    events = []

    def start(process):
        signal.raise_signal(number)
        events.append("started")
        return SimpleNamespace(sentinel=0)

    before = signal.signal(number, lambda number, frame: events.append("handled"))
    try:
        monkeypatch.setattr(SpawnProcess, "_Popen", staticmethod(start))
        process = processes.context().Process(target=print)
        process.start()
        _children.discard(process)
        handler = signal.getsignal(number)
    finally:
        signal.signal(number, before)
    assert events == ["started", "handled"]
    assert handler is not before


def test_an_exception_of_a_handler_leaves_the_handlers_in_place(monkeypatch):
    def stop(number, frame):
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        monkeypatch.setattr(
            SpawnProcess, "_Popen", staticmethod(lambda _: signal.raise_signal(signal.SIGTERM))
        )
        with pytest.raises(SystemExit):
            processes.context().Process(target=print).start()
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, before)


def test_processes_are_copied_where_the_folder_for_temporary_files_has_a_long_name(tmp_path):
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    script = "from voicenym.processes import copying\nwith copying(['json']).Pool(1) as pool:\n"
    script += "    print(pool.apply(abs, (-5,)))\n"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"5\n", b"")
    assert not list(folder.iterdir())
