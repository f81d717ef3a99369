"""The in-process command runner gives the same results as a separate process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings

import pytest
import torch

from voicenym.apps import cli
from voicenym.audio import atomic


def state():
    return (
        os.getcwd(),
        dict(os.environ),
        list(sys.path),
        list(sys.argv),
        (sys.stdin, sys.stdout, sys.stderr),
        (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)),
        (list(warnings.filters), warnings.showwarning, cli._developers),
        (
            torch.get_num_threads(),
            torch.initial_seed(),
            torch.are_deterministic_algorithms_enabled(),
        ),
    )


@pytest.fixture
def instead(monkeypatch):
    """``instead(function)``: what ``voicenym systems`` does from now on."""
    return lambda function: monkeypatch.setattr(cli, "app", function)


@pytest.mark.parametrize("arguments", [("systems",), ("systems", "nosuch"), ("nosuch",)])
def test_both_say_the_same(arguments, command, process):
    one, other = process(*arguments), command(*arguments)
    assert other.returncode == one.returncode
    assert other.stdout == one.stdout
    assert other.stderr == one.stderr.replace(b"python -m voicenym", b"voicenym")


def test_what_a_command_changes_is_put_back(command, instead, tmp_path):
    before, mask = state(), os.umask(0o022)
    try:

        def change():
            assert os.getcwd() == str(tmp_path)
            assert os.environ["ONE"] == "1"
            assert sys.argv == ["voicenym", "x"]
            os.environ["TWO"] = "2"
            os.environ.pop("PATH")
            os.umask(0o077)
            atomic._umask()
            torch.set_num_threads(torch.get_num_threads() + 1)
            torch.use_deterministic_algorithms(True)
            torch.manual_seed(11)
            warnings.simplefilter("error")

        instead(change)
        assert command("x", ONE="1").returncode == 0
        assert state() == before
        assert atomic._umask() == 0o022
    finally:
        os.umask(mask)
        atomic._umask.cache_clear()


def test_an_exception_that_nothing_catches_is_a_traceback(command, instead):
    instead(lambda: 1 / 0)
    done = command()
    assert done.returncode == 1
    assert b"Traceback" in done.stderr
    assert b"ZeroDivisionError" in done.stderr


@pytest.mark.parametrize(("code", "status"), [(None, 0), (3, 3), (-1, 255), ("no", 1)])
def test_exit_statuses_are_those_of_a_process(code, status, command, instead):
    instead(lambda: sys.exit(code))
    done = command()
    assert done.returncode == status
    assert done.stderr == (b"no\n" if code == "no" else b"")


def test_streams_are_those_of_child_processes_too(command, instead):
    def echo():
        print("first", flush=True)
        subprocess.run([sys.executable, "-c", "import sys; sys.stderr.write(input())"], check=True)
        print("last")

    instead(echo)
    done = command(input=b"given\n")
    assert done.stdout == b"first\nlast\n"
    assert done.stderr == b"given"


def test_a_run_draws_its_own_random_numbers(command, instead):
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    instead(lambda: print(torch.rand(1).item()))
    assert len({command().stdout, command().stdout, f"{expected.item()}\n".encode()}) == 3
    assert torch.equal(torch.rand(1), expected)


def test_warnings_for_developers_go_to_standard_error(command, instead):
    instead(lambda: [warnings.warn("old", UserWarning, stacklevel=1) for _ in range(2)])
    done = command()
    assert done.stderr.count(b"UserWarning: old") == 1
    instead(lambda: warnings.warn("old", DeprecationWarning, stacklevel=1))
    assert command().stderr == b""
