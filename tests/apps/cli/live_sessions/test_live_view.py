"""The terminal view of live sessions."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from voicenym.apps.cli.live_sessions.live_view import METER, meter, panel
from voicenym.live.live_state import LiveStatus, State


def drawn(**changes):
    values = {
        "state": State.RUNNING, "muted": False, "block": 160, "load": 0.21, "peak_load": 0.64,
        "blocks": 1000, "dropouts": 7, "skipped": 0, "overloads": 2, "failures": 1, "losses": 3,
        "level": -30.0,
    }  # fmt: skip
    console = Console(file=io.StringIO(), width=100)
    console.print(panel("recast", 16_000, 160, LiveStatus(**{**values, **changes}), 2_000))
    return console.file.getvalue()


def test_it_shows_delay_load_drop_outs_and_faults():
    text = drawn()
    assert "recast" in text
    assert "155 ms without the devices" in text  # 2000 + 2 * 160 + 160 samples at 16 kHz
    assert "21 % of one core, at most 64 %" in text
    assert "7 of 1000 blocks" in text
    assert "2 overloads, 1 failure, 3 lost devices" in text


@pytest.mark.parametrize("state", list(State))
def test_it_names_each_state(state):
    assert state.value in drawn(state=state)
    assert "muted" in drawn(state=state, muted=True)


@pytest.mark.parametrize(("level", "full"), [(0.0, METER), (-30.0, METER // 2), (-90.0, 0)])
def test_the_meter_is_full_at_full_scale(level, full):
    assert meter(level).count("█") == full
    assert meter(-math.inf).endswith("silence")
