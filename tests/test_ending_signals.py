"""Signals that end a process: SIGHUP is one of them, once, and not under nohup."""

from __future__ import annotations

import signal

import pytest

from voicenym.apps import cli
from voicenym.corpus.workers import worker_process
from voicenym.ending_signals import ending_signals


@pytest.fixture(autouse=True)
def _handlers_are_put_back():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_hangup_ends_a_process():
    assert ending_signals() == (signal.SIGTERM, signal.SIGHUP)


@pytest.mark.parametrize("handler", [cli._terminated, worker_process._exit_on_signal])
def test_a_second_hangup_does_not_interrupt_the_end(handler):
    signal.signal(signal.SIGHUP, handler)
    with pytest.raises(SystemExit) as caught:
        signal.raise_signal(signal.SIGHUP)
    assert caught.value.code == 128 + signal.SIGHUP
    signal.raise_signal(signal.SIGHUP)


def test_nohup_keeps_working(command, monkeypatch):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    monkeypatch.setattr(cli, "app", lambda: signal.raise_signal(signal.SIGHUP))
    assert command().returncode == 0
    assert ending_signals() == (signal.SIGTERM,)
