"""Frames of a call, one after another, and the shapes in which call platforms hand them over."""

from __future__ import annotations

import asyncio

import numpy
import pytest
import torch
from live_line import Clock, Negative

import voicenym
from voicenym.live.call_processor import CallProcessor
from voicenym.live.frame_anonymizer import FrameAnonymizer
from voicenym.live.live_state import State

LATENCY = 100


def through(voice, samples, rate, length):
    """``[time]`` of the first channel, in frames of a length."""
    if samples.ndim == 1:
        samples = samples[:, None]
    parts = [
        voice.process(samples[start : start + length], rate)
        for start in range(0, len(samples), length)
    ]
    assert [len(part) for part in parts[:-1]] == [length] * (len(parts) - 1)
    return numpy.concatenate(parts)[:, 0]


def ramp(count):
    return numpy.linspace(0.1, 0.9, count, dtype=numpy.float32)


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000])
@pytest.mark.parametrize("length", [64, 128, 160, 480, 960, 1_000, 1_024])
def test_frames_of_any_length_come_back_later_by_a_constant_delay(rate, length):
    voice = FrameAnonymizer(lambda given: Negative(LATENCY), Clock())
    samples = ramp(30 * length)
    out = through(voice, samples, rate, length)
    assert len(out) == len(samples)
    delay = int(numpy.flatnonzero(out)[0])
    assert delay <= LATENCY + 3 * max(length, rate // 100)
    assert numpy.array_equal(out[delay:], -samples[: len(out) - delay])
    assert voice.state is State.RUNNING
    assert voice.failures == 0


@pytest.mark.parametrize("system", ["mcadams", "recast"])
def test_the_voice_is_that_of_the_stream(system):
    anonymize = voicenym.load(system, live=True)
    key = voicenym.Key(bytes(32)).pseudonym("anna")
    voice = FrameAnonymizer(lambda rate: anonymize.stream(key, rate), Clock())
    time = torch.arange(24_000) / 16_000
    sound = 0.2 * torch.sin(700 * time + 3 * torch.sin(20 * time))
    whole = anonymize.stream(key, 16_000).finish(sound).numpy()
    out = through(voice, sound.numpy(), 16_000, 320)
    latency = anonymize.stream(key, 16_000).latency
    numpy.testing.assert_allclose(out[latency:], whole[: len(out) - latency], atol=1e-4, rtol=1e-3)


def test_channels_are_one_voice():
    voice = FrameAnonymizer(lambda rate: Negative(0), Clock())
    both = numpy.stack([ramp(3_200), numpy.zeros(3_200, numpy.float32)], axis=1)
    out = numpy.concatenate([voice.process(part, 16_000) for part in numpy.split(both, 10)])
    assert out.shape == both.shape
    assert numpy.array_equal(out[:, 0], out[:, 1])
    numpy.testing.assert_allclose(out[:, 0], -ramp(3_200) / 2, atol=1e-6)


def test_a_rate_that_changes_begins_a_new_stream_of_that_rate():
    rates = []

    def make(rate):
        rates.append(rate)
        return Negative(LATENCY)

    voice = FrameAnonymizer(make, Clock())
    for rate in (48_000, 16_000, 48_000):
        out = through(voice, ramp(20 * rate // 100), rate, rate // 100)
        assert (out <= 0).all()
        assert (out < 0).any()
        assert not out[:LATENCY].any(), "nothing of the stream before"
    assert rates == [48_000, 16_000, 48_000]


FAULTS = {
    "exception": lambda n, out: 1 / 0 if n == 5 else out,
    "NaN": lambda n, out: out * float("nan") if n == 5 else out,
    "no tensor": lambda n, out: None if n == 5 else out,
    "too long": lambda n, out: out.repeat(7) if n == 5 else out,
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_silence_and_a_message_until_a_new_start(fault):
    clock, made = Clock(), []

    def make(rate):
        made.append(True)
        return Negative(LATENCY, fault if len(made) == 1 else None)

    voice = FrameAnonymizer(make, clock)
    parts = []
    for n in range(60):
        clock.now += 0.01
        parts.append(voice.process(numpy.full((160, 1), 0.3 + n / 1_000, numpy.float32), 16_000))
    out = numpy.concatenate(parts)[:, 0]
    assert (out <= 0).all()
    assert (out[:640] < 0).any()
    assert not out[640 : 640 + 10 * 160].any()
    assert (parts[-1] < 0).all()
    assert out[640:].min() < -0.304, "what came before the fault never comes out"
    assert len(made) == 2
    (said,) = voice.messages()
    assert "silence goes out" in said


@pytest.mark.parametrize(
    ("samples", "rate"),
    [
        (numpy.zeros(160, numpy.float32), 16_000),
        (numpy.zeros((160, 1), numpy.float32), 500),
        (numpy.zeros((160, 0), numpy.float32), 16_000),
        (numpy.full((160, 1), numpy.nan, numpy.float32), 16_000),
        (numpy.zeros((0, 1), numpy.float32), 16_000),
    ],
)
def test_what_is_no_frame_is_zeros_and_no_exception(samples, rate):
    voice = FrameAnonymizer(lambda rate: Negative(0), Clock())
    out = voice.process(samples, rate)
    assert out.shape == samples.shape
    assert not out.any()


def test_a_system_that_cannot_be_made_is_silence():
    def make(rate):
        raise RuntimeError("no weights")

    voice = FrameAnonymizer(make, Clock())
    assert not through(voice, ramp(4_800), 16_000, 160).any()
    assert "silence goes out" in voice.messages()[0]


def test_mute_and_end_are_silence():
    voice = FrameAnonymizer(lambda rate: Negative(0), Clock())
    assert through(voice, ramp(1_600), 16_000, 160).any()
    voice.mute(True)
    assert not through(voice, ramp(1_600), 16_000, 160).any()
    voice.mute(False)
    assert through(voice, ramp(1_600), 16_000, 160).any()
    voice.end("enough")
    assert not through(voice, ramp(1_600), 16_000, 160).any()
    assert not through(voice, ramp(1_600), 48_000, 480).any(), "another rate does not revive it"


@pytest.mark.parametrize("silent", [True, False])
def test_who_mutes_while_the_model_loads_is_not_heard(silent):
    """A platform calls from another thread than the one that computes."""

    def make(rate):
        voice.mute(True)
        voice.mute(silent)
        return Negative(0)

    voice = FrameAnonymizer(make, Clock())
    assert through(voice, ramp(1_600), 16_000, 160).any() != silent


class Frame:
    """As LiveKit's ``rtc.AudioFrame``."""

    def __init__(self, data, sample_rate, num_channels, samples_per_channel):
        self._data = data
        self.sample_rate, self.num_channels = sample_rate, num_channels
        self.samples_per_channel = samples_per_channel

    @property
    def data(self):
        return memoryview(self._data).cast("h")


def frame(kind=bytearray, value=9_000, channels=1):
    data = numpy.full(160 * channels, value, numpy.int16).tobytes()
    return Frame(kind(data), 16_000, channels, 160)


@pytest.mark.parametrize("kind", [bytearray, bytes])
@pytest.mark.parametrize("channels", [1, 2])
def test_frames_of_livekit_hold_the_anonymized_voice_afterwards(kind, channels):
    processor = CallProcessor(lambda rate: Negative(160))
    found = []
    for _ in range(6):
        given = frame(kind, channels=channels)
        made = processor._process(given)
        assert (made is given) == (kind is bytearray), "overwritten where that is possible"
        assert (made.sample_rate, made.num_channels, made.samples_per_channel) == (
            16_000, channels, 160,
        )  # fmt: skip
        found.append(numpy.array(made.data))
    assert not found[0].any()
    assert (found[-1] == -9_000).all()


@pytest.mark.parametrize(
    "make", [lambda rate: 1 / 0, lambda rate: Negative(0, lambda n, out: 1 / 0)]
)
def test_a_failing_processor_raises_nothing_and_leaves_nothing_of_the_original(make):
    """The platform would send the original on after an exception."""
    processor = CallProcessor(make)
    given = frame()
    assert processor._process(given) is given
    assert not any(given.data)
    odd = Frame(bytearray(b"\1\0" * 161), 16_000, 2, 80)  # no whole number of frames
    assert not any(processor._process(odd).data)


def test_a_processor_is_never_off():
    """The platform would send the original of a processor that is off."""
    processor = CallProcessor(lambda rate: Negative(0))
    for off, on in (
        (lambda: setattr(processor, "enabled", False), lambda: setattr(processor, "enabled", True)),
        (lambda: processor.set_enabled(False), lambda: processor.set_enabled(True)),
    ):
        assert any(processor._process(frame()).data)
        off()
        assert processor.enabled
        assert processor.is_enabled
        assert not any(processor._process(frame()).data)
        on()
    processor._set_context(room_name="r", participant_identity="anna", publication_sid="p")
    processor._on_stream_info_updated(room_name="r", participant_identity="anna")
    processor._on_credentials_updated(token="t", url="u")
    processor._on_stream_info_cleared()
    processor._on_credentials_cleared()
    assert "anna" not in str(vars(processor)) + str(vars(processor.voice))
    processor._close()
    assert not any(processor._process(frame()).data)


def test_filters_of_pipecat_get_bytes_and_give_as_many():
    class Enable:
        enable = False

    async def call():
        made = CallProcessor(lambda rate: Negative(0))
        await made.start(16_000)
        given = bytes(frame().data)
        first = await made.filter(given)
        assert numpy.array_equal(numpy.frombuffer(first, numpy.int16), [-9_000] * 160)
        assert await made.filter(b"") == b""
        assert await made.filter(b"odd") == bytes(3)
        await made.process_frame(Enable())
        assert await made.filter(given) == bytes(320)
        await made.stop()
        assert await made.filter(given) == bytes(320)

    asyncio.run(call())
