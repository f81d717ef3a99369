"""The virtual microphone of PipeWire: what killed sessions left is removed, nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from voicenym.errors import VoicenymError
from voicenym.live import pipewire


class Server:
    """Modules of a sound server, as ``pactl`` lists, loads and unloads them."""

    def __init__(self) -> None:
        self.modules: dict[str, str] = {}

    def __call__(self, *arguments: str) -> str:
        match arguments:
            case ("list", "short", "modules"):
                return "".join(f"{one}\t{line}\t\n" for one, line in self.modules.items())
            case ("list", "short", kind):
                word = f"{kind.removesuffix('s')}_name="
                names = [
                    line.partition(word)[2].split()[0]
                    for line in self.modules.values()
                    if word in line
                ]
                return "".join(f"7\t{name}\tPipeWire\n" for name in names)
            case ("load-module", kind, *options):
                number = str(500 + len(self.modules))
                self.modules[number] = f"{kind}\t{' '.join(options)}"
                return f"{number}\n"
            case ("unload-module", number) if number in self.modules:
                del self.modules[number]
                return ""
        raise VoicenymError("Failure: No such entity")


@pytest.fixture
def server(monkeypatch):
    found = Server()
    monkeypatch.setattr(pipewire, "_pactl", found)
    return found


def of_process(server, process, monkeypatch):
    """Lets a process make its microphone and be killed."""
    with monkeypatch.context() as other:
        other.setattr(os, "getpid", lambda: process)
        with pipewire.virtual_microphone():
            made = dict(server.modules)
    server.modules.update(made)


def test_it_is_there_for_the_time_of_a_session(server):
    with pipewire.virtual_microphone() as sink:
        assert sink == pipewire.SINK
        assert pipewire.nodes() == [("sink", "voicenym"), ("source", "voicenym-microphone")]
    assert server.modules == {}


def test_what_a_killed_session_left_is_removed(server, monkeypatch):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    of_process(server, ended.pid, monkeypatch)
    assert len(server.modules) == 2
    with pipewire.virtual_microphone():
        assert len(server.modules) == 2
    assert server.modules == {}


def test_that_of_a_session_that_runs_stays(server, monkeypatch):
    of_process(server, os.getppid(), monkeypatch)
    before = dict(server.modules)
    with pytest.raises(VoicenymError, match="end the other"), pipewire.virtual_microphone():
        pass
    assert server.modules == before


def test_a_sink_of_another_program_stays(server):
    server("load-module", "module-null-sink", "sink_name=voicenym")
    with pytest.raises(VoicenymError, match="is there already"), pipewire.virtual_microphone():
        pass
    assert len(server.modules) == 1


def test_a_sound_server_that_began_anew_is_no_error_at_the_end(server):
    with pipewire.virtual_microphone():
        server.modules.clear()
