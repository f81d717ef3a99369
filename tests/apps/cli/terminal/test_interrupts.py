"""Ctrl-C in the first moments: no half import, no traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from voicenym.apps import cli

LINE = b"voicenym: interrupted; finished files are complete, others not there\n"
MODULE = """
import signal
try:
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)
    import json.tool
except BaseException as error:
    swallowed = error
whole = True
"""


@pytest.fixture(autouse=True)
def _not_in_the_background():
    """A shell starts what it puts in the background with Ctrl-C ignored, and tests inherit it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_import_is_completed_first(command, monkeypatch, tmp_path):
    (tmp_path / "interrupted_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    found = []

    def work():
        import interrupted_module

        found.append(interrupted_module)
        try:
            while True:  # until the interrupt comes
                time.sleep(0.01)
        finally:
            found.append("removed")

    monkeypatch.setattr(cli, "app", work)
    done = command()
    assert (done.returncode, done.stderr) == (130, LINE)
    module, end = found
    assert module.whole
    assert not hasattr(module, "swallowed")
    assert end == "removed"


def test_an_interrupted_command_says_so(command, monkeypatch):
    from voicenym.apps.cli.commands import systems

    monkeypatch.setattr(systems, "_list", lambda found: signal.raise_signal(signal.SIGINT))
    done = command("systems")
    assert (done.returncode, done.stderr) == (130, LINE)


def test_an_ignored_interrupt_stays_ignored(command, monkeypatch):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    monkeypatch.setattr(cli, "app", lambda: signal.raise_signal(signal.SIGINT))
    assert command().returncode == 0


def test_the_import_of_the_command_line_ends_without_a_traceback():
    script = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'voicenym.apps.cli.terminal.command_group':\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from voicenym.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")
