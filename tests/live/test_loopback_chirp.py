"""The delay of a line by a chirp."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicenym.live.loopback_chirp import LoopbackProbe, chirp, found_delay

RATE = 16_000


@settings(deadline=None, max_examples=20)
@given(delay=st.integers(0, 9_000), gain=st.floats(0.01, 1.0), seed=st.integers(0, 100))
def test_a_delayed_chirp_is_found_exactly_in_noise(delay, gain, seed):
    sent = chirp(RATE)
    heard = numpy.zeros(12_000, numpy.float32)
    heard[delay : delay + len(sent)] += gain * sent
    heard += 0.02 * gain * numpy.random.default_rng(seed).standard_normal(len(heard))
    assert found_delay(heard, sent) == delay
    assert found_delay(-heard, sent) == delay  # some lines turn the polarity


@pytest.mark.parametrize("level", [0.0, 1e-3, 0.3])
def test_where_there_is_no_chirp_none_is_found(level):
    noise = level * numpy.random.default_rng(1).standard_normal(12_000)
    assert found_delay(noise.astype(numpy.float32), chirp(RATE)) is None


def probed(delay, gain):
    """A probe after four seconds on a line of this delay, and what it played."""
    under_way = [numpy.zeros((delay, 2), numpy.float32)]

    def take(count):
        line = numpy.concatenate(under_way)
        under_way[:] = [line[count:]]
        return line[:count]

    probe = LoopbackProbe(take, RATE)
    played = []
    for _ in range(4 * RATE // 160):
        played.append(probe.outgoing(160))
        under_way.append(gain * numpy.repeat(played[-1], 2, axis=1))
    probe.evaluate()
    return probe, numpy.concatenate(played)[:, 0]


@pytest.mark.parametrize("delay", [160, 777, 8_000, 15_999])
def test_a_probe_measures_a_line_of_known_delay_and_plays_only_chirps(delay):
    probe, sound = probed(delay, 0.1)
    assert probe.delays == [delay / RATE] * 3
    assert probe.missed == 0
    second = numpy.zeros(RATE, numpy.float32)
    second[:1600] = chirp(RATE)
    assert numpy.array_equal(sound, numpy.tile(second, 4))


def test_a_line_that_gives_nothing_back_is_noticed():
    probe, _ = probed(777, 0.0)
    assert probe.delays == []
    assert probe.missed == 3
