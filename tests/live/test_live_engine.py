"""The engine of live sessions: silence at any fault, never the input, nothing stale afterwards."""

from __future__ import annotations

import itertools

import numpy
import pytest
import torch
from live_line import BLOCK, RATE, Line, Negative, sources, value

import voicenym
from voicenym.errors import AudioError, VoicenymError
from voicenym.live import fault_history
from voicenym.live.block_choice import choose_block
from voicenym.live.live_engine import STALL_SECONDS, STUCK_SECONDS, LiveEngine
from voicenym.live.live_state import State

FAULT = 20
"""Number of the block at which each fault happens."""
LATENCY = 200


def raised(error):
    raise error


def disturbed(fault):
    """``make`` of streams, the first of which has a fault at block :data:`FAULT`."""
    made = []

    def make():
        first = not made
        made.append(True)

        def disturb(number, out):
            return fault(out) if first and number == FAULT + 1 else out

        return Negative(LATENCY, disturb)

    return make


def assert_closed(line: Line, fault: int) -> None:
    """No sample of the input came out, and after the fault nothing from before it."""
    whole = line.whole()
    assert numpy.isfinite(whole).all()
    assert (whole <= 0.0).all(), "a sample of the input came out"
    before = numpy.concatenate(line.outputs[:fault])
    assert (before < 0).any(), "the line worked before the fault"
    after = numpy.concatenate(line.outputs[fault:])
    assert (line.outputs[fault] == 0.0).all()
    assert all(number > fault for number in sources(after)), "stale sound came out"


SYSTEM_FAULTS = {
    "exception": lambda out: raised(RuntimeError("secret words")),
    "own error": lambda out: raised(AudioError("weights are gone")),
    "out of memory": lambda out: raised(MemoryError()),
    "NaN": lambda out: out * float("nan"),
    "one NaN": lambda out: torch.cat([out[:-1], torch.tensor([float("nan")])]),
    "infinity": lambda out: out / 0.0,
    "too loud": lambda out: out * 10.0,
    "too long": lambda out: torch.cat([out, torch.ones(LATENCY + 1)]),
    "too short": lambda out: out[:-1],
    "nothing": lambda out: out[:0],
    "two rows": lambda out: torch.stack([out, out]),
    "no tensor": lambda out: None,
}


@pytest.mark.parametrize("fault", SYSTEM_FAULTS.values(), ids=SYSTEM_FAULTS)
def test_a_fault_of_the_system_gives_silence_and_a_new_start(fault):
    line = Line(disturbed(fault))
    line.ticks(FAULT + 1)
    assert line.engine.state is State.FAILED
    assert len(line.said) == 1
    assert "secret words" not in line.said[0]
    line.ticks(60)
    assert_closed(line, FAULT)
    assert line.engine.state is State.RUNNING
    assert (line.outputs[-1] < 0).all()
    assert len(line.said) == 1
    assert line.engine.status().failures == 1
    silent = sum(not block.any() for block in line.outputs[FAULT:])
    latency_only = LATENCY // BLOCK
    assert line.engine.status().dropouts >= silent - latency_only - 1


def test_what_the_system_warns_of_is_said_once():
    made = Negative()
    line = Line(lambda: made)
    line.ticks(3)
    assert line.said == []
    made.warnings = ("the language is another one",)
    line.ticks(5)
    assert line.said == ["the language is another one"]


def test_a_late_block_gives_silence_and_is_never_heard():
    line = Line(lambda: None)  # replaced below: the fault needs the clock

    def late(out):
        line.clock.now += 0.4
        return out

    line.engine._make = disturbed(late)
    line.clock.now += 10.0
    line.said.clear()
    while line.engine.state is not State.RUNNING:
        line.engine.work()
    line.engine.messages.clear()
    line.ticks(FAULT + 1)
    assert line.engine.state is State.OVERLOADED
    line.ticks(80)
    assert_closed(line, FAULT)
    assert (line.outputs[-1] < 0).all()
    assert line.engine.status().overloads == 1
    assert len(line.said) == 1


def test_a_worker_that_does_not_come_along_gives_silence():
    line = Line(lambda: Negative(LATENCY))
    line.ticks(FAULT)
    line.ticks(40, works=False)
    assert line.engine.state is State.OVERLOADED
    fault = next(n for n in range(FAULT, 60) if not line.outputs[n].any())
    line.ticks(80)
    assert (line.outputs[-1] < 0).all()
    assert_closed(line, fault)


@pytest.mark.parametrize(
    "block",
    [
        numpy.full((BLOCK, 1), numpy.nan, numpy.float32),
        numpy.full((BLOCK, 1), numpy.inf, numpy.float32),
        numpy.full((BLOCK, 3), 0.5, numpy.float32),
        numpy.full(BLOCK, 0.5, numpy.float32),
    ],
    ids=["NaN", "infinity", "three channels", "no channel"],
)
def test_input_that_is_no_sound_gives_silence(block):
    line = Line(lambda: Negative(LATENCY))
    line.ticks(FAULT)
    line.tick(block=block)
    line.ticks(60)
    assert_closed(line, FAULT)
    assert (line.outputs[-1] < 0).all()
    assert len(line.said) == 1


@pytest.mark.parametrize("length", [1, 7, 79, 81, 400])
def test_input_of_any_length_is_sound(length):
    line = Line(lambda: Negative(LATENCY), margin=400)
    for number in range(40 * BLOCK // length):
        line.clock.now += length / RATE
        line.engine.give(numpy.full((length, 1), value(number), numpy.float32))
        while line.engine.work():
            pass
        out = line.engine.take(length)
        assert (out <= 0).all()
    assert (out < 0).any()
    assert line.engine.status().failures == 0


def test_a_lost_device_gives_silence_until_it_is_found():
    line = Line(lambda: Negative(LATENCY))
    line.ticks(FAULT)
    line.engine.lose("headset")
    line.ticks(30)
    assert line.engine.state is State.LOST
    assert not numpy.concatenate(line.outputs[FAULT:]).any()
    assert line.said == ["headset: the device is gone; silence goes out until it is back"]
    line.engine.find()
    line.ticks(30)
    assert_closed(line, FAULT)
    assert all(number >= FAULT + 30 for number in sources(numpy.concatenate(line.outputs[FAULT:])))
    assert (line.outputs[-1] < 0).all()


def test_an_input_that_stalls_counts_as_lost():
    line = Line(lambda: Negative(LATENCY))
    line.ticks(FAULT)
    line.engine.check()
    assert line.engine.state is State.RUNNING
    line.clock.now += STALL_SECONDS + 0.01
    line.engine.check()
    assert line.engine.state is State.LOST
    line.tick()
    assert_closed(line, FAULT)


def test_panic_silences_at_once_until_resumed():
    line = Line(lambda: Negative(LATENCY))
    line.ticks(FAULT)
    line.engine.stop()
    line.ticks(30)
    line.engine.find()  # a device that is back does not end it
    line.tick()
    assert line.engine.state is State.STOPPED
    assert not numpy.concatenate(line.outputs[FAULT:]).any()
    line.engine.resume()
    line.ticks(30)
    assert_closed(line, FAULT)
    assert (line.outputs[-1] < 0).all()


@pytest.mark.parametrize("call", ["stop", "lose"])
def test_a_block_in_work_at_a_stop_is_dropped(call):
    line = Line(lambda: None)

    def stops(out):
        line.engine.stop() if call == "stop" else line.engine.lose("x")
        return out

    line.engine._make = disturbed(stops)
    line.clock.now += 10.0
    line.engine.work()
    line.ticks(FAULT + 1)
    line.engine.resume()
    line.engine.find()
    line.ticks(30)
    assert_closed(line, FAULT)
    assert (line.outputs[-1] < 0).all()


@pytest.mark.parametrize("pause", [1, 2, 3, 10])
def test_muted_speech_never_comes_out_and_unmuting_needs_no_new_start(pause):
    makes = []

    def make():
        makes.append(True)
        return Negative(LATENCY)

    line = Line(make)
    line.ticks(FAULT)
    line.engine.mute(True)
    line.ticks(pause)
    assert not numpy.concatenate(line.outputs[FAULT:]).any()
    line.engine.mute(False)
    line.ticks(20)
    whole = line.whole()
    assert (whole <= 0).all()
    heard = sources(numpy.concatenate(line.outputs[FAULT:]))
    assert min(heard) == FAULT + pause
    assert len(heard) >= 17
    assert len(makes) == 1
    assert line.said == []


def test_a_model_that_is_not_ready_gives_silence():
    tries = []

    def make():
        tries.append(True)
        if len(tries) < 3:
            raise AudioError("weights are being fetched")
        return Negative(LATENCY)

    line = Line(make)
    line.ticks(10)
    assert line.engine.state is State.FAILED
    assert not line.whole().any()
    line.ticks(200)
    assert line.engine.state is State.RUNNING
    assert (line.whole() <= 0).all()
    assert (line.outputs[-1] < 0).all()
    assert len(line.said) == 2


def test_a_system_that_always_fails_ends_the_session_in_silence():
    def disturb(number, out):
        raise RuntimeError

    line = Line(lambda: Negative(LATENCY, disturb))
    line.ticks(800)
    assert line.engine.state is State.ENDED
    assert not line.whole().any()
    assert line.engine.status().failures == len(fault_history.FAILURE_PAUSES) + 1
    assert line.said[-1].endswith("the session ends")
    line.engine.resume()
    line.engine.find()
    line.engine.mute(False)
    line.ticks(10)
    assert line.engine.state is State.ENDED
    assert not line.whole().any()


def test_overloads_make_blocks_longer_and_end_at_the_longest():
    line = Line(lambda: None)

    def disturb(number, out):
        line.clock.now += 5.0
        return out

    line.engine._make = lambda: Negative(LATENCY, disturb)
    line.clock.now += 10.0
    blocks = [line.engine.block]
    for _ in range(4000):
        line.tick()
        if line.engine.block != blocks[-1]:
            blocks.append(line.engine.block)
        if line.engine.state is State.ENDED:
            break
    assert blocks == [BLOCK * 2**n for n in range(6)]
    assert blocks[-1] == fault_history.LONGEST_BLOCK * RATE
    assert line.engine.state is State.ENDED
    assert (line.whole() <= 0).all()
    assert not line.outputs[-1].any()


def test_a_system_that_hangs_ends_the_session():
    line = Line(lambda: None)

    def hangs(out):
        line.clock.now += STUCK_SECONDS + 0.1
        line.engine.check()
        return out

    line.engine._make = disturbed(hangs)
    line.clock.now += 10.0
    line.engine.work()
    line.ticks(60)
    assert line.engine.state is State.ENDED
    assert_closed(line, FAULT)
    assert not numpy.concatenate(line.outputs[FAULT:]).any()


@pytest.mark.parametrize("hidden", [0, 1])
def test_of_a_call_one_channel_is_hidden_and_the_other_is_delayed_alike(hidden):
    line = Line(lambda: Negative(LATENCY), channels=2, hidden=hidden)
    for number in range(30):
        block = numpy.full((BLOCK, 2), value(number), numpy.float32)
        block[:, 1 - hidden] += numpy.float32(0.1)
        line.tick(block=block)
    whole = line.whole()
    caller, agent = whole[:, hidden], whole[:, 1 - hidden]
    assert (caller <= 0).all()
    sounding = caller != 0
    assert sounding.sum() == 30 * BLOCK - LATENCY
    numpy.testing.assert_allclose(agent[sounding], 0.1 - caller[sounding], rtol=1e-6)
    line.engine.stop()
    assert not line.tick().any(), "both are silent after a stop"


@pytest.mark.parametrize("system", ["mcadams", "vtln", "pv-tsm", "recast"])
def test_the_line_gives_what_the_stream_gives_later_by_a_constant_delay(system):
    key = voicenym.Key(bytes(32)).pseudonym("anna")
    rate, block, margin = 16_000, 160, 80
    anonymize = voicenym.load(system)
    # a clock that stands: what is measured is the sound, not how busy the machine is
    engine = LiveEngine(lambda: anonymize.stream(key, rate), rate, block, margin, clock=lambda: 0.0)
    engine.work()
    time = torch.arange(8_000) / rate
    sound = 0.2 * torch.sin(600 * time + 3 * torch.sin(20 * time))
    whole = anonymize.stream(key, rate).finish(sound)
    out = []
    for part in sound.split(block):
        engine.give(part[:, None].numpy())
        while engine.work():
            pass
        out.append(engine.take(len(part))[:, 0])
    delay = engine.stream_latency + margin  # a block is returned before it is played
    found = numpy.concatenate(out)
    assert not found[:delay].any()
    # sums of single precision differ in their order
    numpy.testing.assert_allclose(found[delay:], whole[: len(sound) - delay].numpy(), atol=1e-4)
    assert engine.status().dropouts == 0


@pytest.mark.parametrize("system", ["mcadams", "recast"])
def test_a_known_lag_shortens_the_delay_and_no_block_is_missing(system):
    key = voicenym.Key(bytes(32)).pseudonym("anna")
    rate = 16_000
    anonymize = voicenym.load(system)
    clock = itertools.count(0.0, 1e-4).__next__
    choice = choose_block(lambda: anonymize.stream(key, rate), rate, clock=clock)
    assert choice.lag < anonymize.stream(key, rate).latency
    engine = LiveEngine(  # of which no block is late
        lambda: anonymize.stream(key, rate),
        rate,
        choice.block,
        0,
        lag=choice.lag,
        clock=lambda: 0.0,
    )
    engine.work()
    assert engine.lag == choice.lag
    engine.stop()
    assert engine.lag == choice.lag, "a measurement that ends in silence reports it, too"
    engine.resume()
    engine.work()
    sound = 0.1 * torch.sin(torch.arange(16_000) / 6)
    whole = anonymize.stream(key, rate).finish(sound)
    out = []
    for part in sound.split(choice.block):
        engine.give(part[:, None].numpy())
        while engine.work():
            pass
        out.append(engine.take(len(part))[:, 0])
    found = numpy.concatenate(out)
    numpy.testing.assert_allclose(
        found[choice.lag :], whole[: len(found) - choice.lag].numpy(), atol=1e-4
    )
    assert engine.status().dropouts == 0
    engine.block *= 2  # as after overloads: the lag of such blocks is not known
    assert engine.lag == engine.stream_latency


@pytest.mark.parametrize(
    "options",
    [{"rate": 0}, {"block": 0}, {"margin": -1}, {"outputs": 0}, {"channels": 2, "hidden": 2},
     {"channels": 2, "hidden": -1}, {"channels": 0}],
)  # fmt: skip
def test_a_session_that_cannot_be_is_refused(options):
    """A block of no sample would never end, and channel -1 is not the one that was meant."""
    given = {"rate": 16_000, "block": 160, "margin": 0, **options}
    rate, block, margin = (given.pop(name) for name in ("rate", "block", "margin"))
    with pytest.raises(VoicenymError, match="a live session needs"):
        LiveEngine(lambda: None, rate, block, margin, **given)
