"""Sizes of the Wave-U-Net: the paper's windows, and the latency of a stream."""

import pytest

from voicenym.nets.cloak.geometry import WaveUNetConfig


def test_sizes_are_the_papers():
    config = WaveUNetConfig()
    assert config.blocks == 5
    assert config.output(41_641) == 32_089
    assert config.input(32_089) == 41_641
    assert config.side == (41_641 - 32_089) // 2
    assert config.output(41_641 - 1) < 32_089
    assert config.output(config.input(1) - 1) == 0


def test_latency_is_reached_at_some_sample():
    config = WaveUNetConfig((3, 4, 5, 4), 3, 4)
    late = [n - config.side - config.output(n) for n in range(config.input(1), 600)]
    assert max(late) == config.latency


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"channels": (4,)}, "two levels"),
        ({"kernel": 4}, "odd"),
        ({"stride": 1}, "2 or more"),
    ],
)
def test_sizes_without_a_network_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        WaveUNetConfig(**arguments)
