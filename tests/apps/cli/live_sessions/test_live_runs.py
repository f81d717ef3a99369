"""Choice of blocks when ``voicenym live`` starts, and what is said of it."""

from __future__ import annotations

import functools

import pytest
import torch
from live_line import Clock

from voicenym.apps.cli.anonymizing.batch_report import Messages
from voicenym.apps.cli.live_sessions import live_runs
from voicenym.errors import VoicenymError
from voicenym.live import block_choice


class Slow:
    """Stream of a machine that needs ``fixed`` seconds for each block."""

    latency = 160

    def __init__(self, clock, fixed):
        self.clock, self.fixed = clock, fixed

    def push(self, block):
        self.clock.now += self.fixed
        return torch.zeros(len(block))


def engine(monkeypatch, fixed, block=None):
    clock = Clock()
    choose = functools.partial(block_choice.choose_block, clock=clock)
    monkeypatch.setattr(block_choice, "choose_block", choose)
    voice = live_runs.Voice("slow", lambda rate: Slow(clock, fixed), Messages(False))
    return live_runs.held_engine(
        voice, live_runs.Timing(16_000, block, 10.0, 10.0, None), 16_000, 1
    )


def test_a_machine_that_holds_short_blocks_gets_them(monkeypatch, capsys):
    made = engine(monkeypatch, 0.001)
    assert (made.block, made.margin) == (160, 160)
    said = capsys.readouterr().err
    assert "slow: 16000 Hz, blocks of 10 ms, 10 % load" in said
    assert "does not hold" not in said


def test_a_slower_machine_is_told_so_and_gets_longer_blocks(monkeypatch, capsys):
    made = engine(monkeypatch, 0.03)
    assert made.block == 1_280
    said = capsys.readouterr().err
    for length, load in ((10, 300), (20, 150), (40, 75)):
        assert (
            f"this machine does not hold blocks of {length} ms ({load} % load); blocks of 80 ms "
            "instead"
        ) in said
    assert "blocks of 80 ms, 38 % load" in said


def test_a_machine_that_holds_none_is_refused(monkeypatch):
    with pytest.raises(VoicenymError, match="choose a faster system"):
        engine(monkeypatch, 0.3)
