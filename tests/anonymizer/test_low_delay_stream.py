"""Streams with conversions of low delay: what they give is aligned with what they get."""

import math

import pytest
import torch

import voicenym
from voicenym.pseudonym import Key


@pytest.mark.parametrize("rate", [22_050, 44_100, 48_000])
@pytest.mark.parametrize("block", [97, 480, 10_000])
def test_a_system_that_changes_nothing_gives_the_signal_at_its_place(rate, block):
    time = torch.arange(rate) / rate
    tones = torch.sin(2 * math.pi * 440 * time) + 0.2 * torch.sin(2 * math.pi * 1433 * time)
    signal = 0.3 * tones * (0.5 + 0.5 * torch.sin(2 * math.pi * 3 * time))
    system = voicenym.load("mcadams", low=1.0, high=1.0)
    stream = system.stream(Key(bytes(32)).pseudonym("a"), rate, low_delay=True)
    found = torch.cat([*map(stream.push, signal.split(block)), stream.flush()])
    assert len(found) == len(signal)
    error = (found - signal)[rate // 10 : -rate // 10]
    assert error.square().mean() < 1e-6 * signal.square().mean()
