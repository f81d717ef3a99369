"""Sessions on devices that a test drives, loses and finds again."""

from __future__ import annotations

import threading

import numpy
import pytest
from fake_sounddevice import FakeSoundDevice, device
from live_line import Clock, Negative

from voicenym.errors import VoicenymError
from voicenym.live.device_session import DeviceSession
from voicenym.live.live_engine import LiveEngine
from voicenym.live.live_state import State
from voicenym.live.sound_devices import INPUT, OUTPUT, SoundDevices

RATE, BLOCK = 16_000, 80


def _not_installed(command):
    raise FileNotFoundError(command[0])


@pytest.fixture(autouse=True)
def _without_pipewire(monkeypatch):
    """No nodes, and no subscription to their changes: every look asks for the nodes."""
    monkeypatch.setattr("voicenym.live.pipewire.nodes", lambda: [])
    monkeypatch.setattr("voicenym.live.node_changes.watching_program", _not_installed)


class Desk:
    """A session without its worker thread: a test does the work."""

    def __init__(self, channels=1, hidden=0, monitor=None, target=None, **options):
        self.module, self.clock = FakeSoundDevice(), Clock()
        self.engine = LiveEngine(
            lambda: Negative(100), RATE, BLOCK, 0,
            channels=channels, hidden=hidden, outputs=2 if monitor else 1, clock=self.clock,
        )  # fmt: skip
        self.session = DeviceSession(
            self.engine, SoundDevices(self.module), None, target, 0.01,
            monitor=monitor, has_monitor=monitor is not None, clock=self.clock, **options,
        )  # fmt: skip
        self.session._worker.start = lambda: None
        self.session._worker.join = lambda timeout: None
        self.channels = channels

    def tick(self):
        """5 ms: the blocks of all devices; what went out."""
        self.clock.now += BLOCK / RATE
        self.engine.work()
        for stream in self.module.open_streams("input"):
            if stream.active:
                stream.drive(numpy.full((BLOCK, self.channels), 0.5, numpy.float32))
        while self.engine.work():
            pass
        streams = self.module.open_streams("output")
        out = [stream.drive() for stream in streams if stream.active]
        self.session.step()
        return out

    def ticks(self, count):
        return [self.tick() for _ in range(count)]


def joined(outs, number=0):
    return numpy.concatenate([out[number] for out in outs if len(out) > number])


def test_the_anonymized_voice_goes_to_output_and_monitor_on_both_channels():
    desk = Desk(monitor="Headset phones")
    with desk.session:
        outs = desk.ticks(10)
        first, second = joined(outs, 0), joined(outs, 1)
        assert (first <= 0).all()
        assert (outs[-1][0] == -0.5).all()
        assert outs[-1][0].shape == (BLOCK, 2)
        assert numpy.array_equal(first, second)
        monitor = desk.module.open_streams("output")[1]
        assert monitor.options["device"] == 2
    assert not desk.module.open_streams("input") + desk.module.open_streams("output")


@pytest.mark.parametrize("lost", ["input", "output"])
def test_a_device_that_is_pulled_out_is_connected_again(lost):
    desk = Desk()
    with desk.session:
        desk.ticks(10)
        desk.module.plugged = False
        for stream in desk.module.open_streams(lost):
            stream.active = False
        outs = desk.ticks(400)  # two seconds
        assert desk.engine.state is State.LOST
        assert not any(block.any() for out in outs[1:] for block in out)
        assert desk.module.rescans >= 1
        desk.module.plugged = True
        outs = desk.ticks(400)
        assert desk.engine.state is State.RUNNING
        assert (outs[-1][0] == -0.5).all()
        assert (joined(outs) <= 0).all()
        assert desk.engine.status().losses == 1
        said = list(desk.engine.messages)
        assert said == [
            f"default {lost}: the device is gone; silence goes out until it is back",
            "devices are connected again",
        ]


def test_an_output_that_stops_asking_for_sound_counts_as_lost():
    desk = Desk()
    with desk.session:
        desk.ticks(10)
        for _ in range(120):
            desk.clock.now += BLOCK / RATE
            desk.module.open_streams("input")[0].drive(numpy.full((BLOCK, 1), 0.5, numpy.float32))
            while desk.engine.work():
                pass
            desk.session.step()
            if desk.engine.state is not State.RUNNING:
                break
        assert desk.engine.state in (State.LOST, State.OVERLOADED)


def test_a_call_back_that_fails_leaves_zeros_in_the_block():
    """The library's block holds what was played before, or anything else."""

    def fails(count):
        raise RuntimeError

    desk = Desk(takes=fails)
    with desk.session:
        stream = desk.module.open_streams("output")[0]
        assert not stream.drive().any()
        assert not stream.active


def test_a_device_that_is_not_there_at_the_start_is_an_error_and_leaves_none_open():
    desk = Desk()
    desk.module.devices[0]["max_input_channels"] = 0
    with pytest.raises(VoicenymError, match="no input device"), desk.session:
        pass
    assert not desk.module.open_streams("output")


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (OUTPUT, "head", None),
        (OUTPUT, "2", None),
        (INPUT, "0", None),
        (INPUT, "Loudspeaker", "no input device of this name; voicenym live --list-devices"),
        (OUTPUT, "phone", "several output devices: 2 .Headset phones., 3 .Telephone.; give the"),
        (OUTPUT, "pipewire:x", "install pipewire-alsa"),
        (OUTPUT, "99", "no output device of this name"),
    ],
)
def test_devices_are_found_by_number_or_part_of_the_name(kind, name, message):
    module = FakeSoundDevice()
    module.devices.append(device("Telephone", 0, 1))
    devices = SoundDevices(module)
    if message is None:
        devices.open(kind, name, RATE, BLOCK, 1, 0.01, lambda block: None)
        assert module.streams[0].options["device"] == (0 if kind == INPUT else 2)
    else:
        with pytest.raises(VoicenymError, match=message):
            devices.open(kind, name, RATE, BLOCK, 1, 0.01, lambda block: None)


def test_the_rate_is_that_of_the_systems_where_devices_take_it():
    ends = ((INPUT, None, 1), (OUTPUT, None, 2))
    assert SoundDevices(FakeSoundDevice()).rate(None, *ends) == 16_000
    assert SoundDevices(FakeSoundDevice((44_100, 48_000))).rate(None, *ends) == 48_000
    assert SoundDevices(FakeSoundDevice((44_100,))).rate(None, *ends) == 44_100
    assert SoundDevices(FakeSoundDevice((44_100,))).rate(44_100, *ends) == 44_100
    with pytest.raises(VoicenymError, match="no common sample rate"):
        SoundDevices(FakeSoundDevice()).rate(22_050, *ends)


def test_devices_are_listed_with_defaults():
    names = [(one.name, one.default) for one in SoundDevices(FakeSoundDevice()).listed()]
    assert names == [
        ("Headset microphone", (INPUT,)),
        ("Loudspeaker", (OUTPUT,)),
        ("Headset phones", ()),
    ]


def test_a_driver_that_hangs_ends_the_session_in_silence(monkeypatch):
    monkeypatch.setattr("voicenym.live.device_session.CLOSE_SECONDS", 0.05)
    desk = Desk()
    ends = threading.Event()
    with desk.session:
        desk.ticks(10)
        stream = desk.module.open_streams("output")[0]
        monkeypatch.setattr(stream, "abort", ends.wait)
        stream.active = False
        desk.session.step()
        assert desk.engine.state is State.ENDED
        assert desk.engine.messages[-1].startswith("the driver of a device hangs")
        assert not desk.engine.take(BLOCK).any()
        ends.set()


def test_a_node_of_pipewire_that_goes_away_counts_as_lost(monkeypatch):
    """PipeWire would connect the stream to another device, and go on."""
    there = [("sink", "desk")]
    monkeypatch.setattr("voicenym.live.pipewire.nodes", lambda: list(there))
    desk = Desk(target="pipewire:desk")
    desk.module.devices.append(device("pipewire", 64, 64))
    with desk.session:
        outs = desk.ticks(10)
        assert (outs[-1][0] == -0.5).all()
        there.clear()
        desk.ticks(200)
        assert desk.engine.state is State.LOST
        assert not desk.module.open_streams("output")
        there.append(("sink", "desk"))
        outs = desk.ticks(300)
        assert (outs[-1][0] == -0.5).all()
        assert desk.engine.messages[0].startswith("pipewire:desk: the device is gone")


def test_nodes_are_watched_before_sound_runs(monkeypatch):
    """The watch is a process, whose start would disturb the first blocks."""
    desk, streams = Desk(target="pipewire:desk"), []
    desk.module.devices.append(device("pipewire", 64, 64))

    def watch(command):
        streams.append(len(desk.module.streams))
        return _not_installed(command)

    monkeypatch.setattr("voicenym.live.pipewire.nodes", lambda: [("sink", "desk")])
    monkeypatch.setattr("voicenym.live.node_changes.watching_program", watch)
    with desk.session:
        assert desk.module.streams
    assert streams == [0]


def test_gaps_that_devices_report_are_counted():
    devices = SoundDevices(FakeSoundDevice())
    stream = devices.open(INPUT, None, RATE, BLOCK, 1, 0.01, lambda block: None)
    for status in (None, "overflow", None, "overflow"):
        stream.drive(status=status)
    assert devices.gaps == 2
