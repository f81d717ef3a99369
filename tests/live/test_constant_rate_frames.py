"""Frames of one rate: number of samples, sound, and times without a gap or a jump."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy
import pytest

pytest.importorskip("av")

from voicenym.live.constant_rate_frames import ConstantRateFrames

HERTZ = 300


def given(rates, seconds=0.02, jump=5_000):
    """Frames of a sine, of which another rate begins with another clock."""
    time, begun, before = 0.0, 0, 0
    for rate in rates:
        if rate != before:
            begun, before, place = begun + jump, rate, 0
        count = round(seconds * rate)
        moments = time + numpy.arange(count) / rate
        frame = SimpleNamespace(sample_rate=rate, pts=begun + place, time_base=Fraction(1, rate))
        yield frame, 0.5 * numpy.sin(2 * numpy.pi * HERTZ * moments).astype(numpy.float32)
        time, place = time + seconds, place + count


@pytest.mark.parametrize(
    "rates",
    [(48_000, 8_000), (8_000, 48_000), (16_000, 48_000), (48_000, 44_100), (8_000, 16_000, 8_000)],
)
def test_another_rate_of_the_source_is_converted_to_the_first(rates):
    even = ConstantRateFrames()
    found = [even.frame(*one) for rate in rates for one in given([rate] * 20)]
    first = rates[0]
    assert {(one.sample_rate, one.time_base, one.format.name) for one in found} == {
        (first, Fraction(1, first), "s16")
    }
    assert {one.samples for one in found} == {round(0.02 * first)}
    times = numpy.array([one.pts for one in found])
    assert set(numpy.diff(times)) == {round(0.02 * first)}, "the sound goes on at once"
    for number in range(len(rates)):
        part = found[20 * number + 5 : 20 * number + 20]
        sound = numpy.concatenate([one.to_ndarray()[0] for one in part]) / 32_768
        tone = numpy.exp(2j * numpy.pi * HERTZ * numpy.arange(len(sound)) / first)
        amplitude = 2 * abs((sound * tone).mean())
        assert amplitude == pytest.approx(0.5, abs=0.01)
        assert numpy.abs(sound).max() < 0.51


def test_a_gap_of_the_source_stays_a_gap():
    even = ConstantRateFrames()
    frames = [*given([8_000] * 3), *given([16_000] * 3)]
    frames[-1][0].pts += 160  # 10 ms
    times = [even.frame(*one).pts for one in frames]
    assert list(numpy.diff(times)) == [160, 160, 160, 160, 240]


def test_a_frame_without_a_rate_or_a_time_is_silence_of_the_same_rate():
    even = ConstantRateFrames()
    for one in given([16_000]):
        even.frame(*one)
    strange = SimpleNamespace(sample_rate=0, pts=None, time_base=None)
    made = even.frame(strange, numpy.zeros(320, numpy.float32))
    assert (made.sample_rate, made.samples, made.pts) == (16_000, 320, None)
