"""Device session: an input device, an engine and output devices, until it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

import numpy

from voicenym.live.live_engine import STALL_SECONDS, LiveEngine
from voicenym.live.live_state import State
from voicenym.live.sound_devices import INPUT, OUTPUT, SoundDevices
from voicenym.live.steady_threads import steady, step_below

RETRY_SECONDS = 1.0
"""Time between attempts to find a lost device again."""
LOOK_SECONDS = 0.5
"""Time between looks whether nodes of PipeWire are still there."""
CLOSE_SECONDS = 3.0
"""Time that a device has to close; a driver that hangs ends the session."""
LONGEST_DEVICE_BLOCK = 0.01
"""Longest block of a device in seconds."""
IDLE_SECONDS = 0.005
"""Longest time that the worker waits for input before it looks again."""


class DeviceSession:
    """Runs an engine between devices, and connects lost devices again.

    Args:
        engine: with one output, or two where there is a monitor.
        devices: where devices are opened.
        source, target, monitor: names of devices; None for the default, and for no monitor.
        latency: in seconds that devices are asked for; their blocks are half as long.
        takes: what the output plays, ``[count, channel]``; the engine's unless given.
        copies: copies of the input's one channel that the engine gets.
        has_monitor: whether a second output is opened.
        clock: seconds, rising.
    """

    def __init__(
        self,
        engine: LiveEngine,
        devices: SoundDevices,
        source: str | None,
        target: str | None,
        latency: float,
        *,
        monitor: str | None = None,
        takes: Callable[[int], numpy.ndarray] | None = None,
        copies: int = 1,
        has_monitor: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.engine = engine
        self._devices, self._latency, self._clock = devices, latency, clock
        self._block = max(1, round(min(LONGEST_DEVICE_BLOCK, latency / 2) * engine.rate))
        self._names = (source, target, monitor)
        self._choices = ((INPUT, source), (OUTPUT, target), (OUTPUT, monitor))
        self._takes = takes or engine.take
        self._copies, self._has_monitor = copies, has_monitor
        self._streams: list[Any] = []
        self._played = clock()
        self._retry = self._look = 0.0
        self._context = ExitStack()
        self._ended = threading.Event()
        self._new = threading.Event()
        self._worker = threading.Thread(target=self._work, name="live", daemon=True)

    def __enter__(self) -> DeviceSession:
        """Open the devices and start.

        Raises:
            VoicenymError: a device cannot be opened.
        """
        self._devices.gone(*self._choices)  # starts a process: before sound runs
        try:
            self._open()
        except BaseException:
            self._close()
            raise
        self._context.enter_context(steady())
        self._worker.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._new.set()
        self._close()
        self._worker.join(timeout=2.0)
        self._devices.forget_nodes()
        self._context.close()

    def step(self) -> None:
        """Look after devices and engine; to be called some times a second."""
        self.engine.check()
        now = self._clock()
        state = self.engine.state
        if self._streams and state is not State.LOST:
            gone = [name for name, stream in self._streams if not stream.active]
            if not gone and now - self._played > STALL_SECONDS:
                gone = [OUTPUT]
            if not gone and now >= self._look:
                self._look = now + LOOK_SECONDS
                gone = self._devices.gone(*self._choices)
            if gone:
                self.engine.lose(gone[0])
                self._close()
                self._retry = now + RETRY_SECONDS
        if self.engine.state in (State.LOST, State.STOPPED) and now >= self._retry:
            if self.engine.state is State.STOPPED and self._streams:
                return
            self._retry = now + RETRY_SECONDS
            self._reopen()

    def _reopen(self) -> None:
        if not self._close():
            return
        try:
            self._devices.rescan()
            self._open()
        except Exception:  # not there yet; each step tries again
            self._close()
            return
        self.engine.find()
        self.engine.messages.append("devices are connected again")

    def _open(self) -> None:
        source, target, monitor = self._names
        engine = self.engine
        channels = engine.channels // self._copies
        wide = max(2, channels)
        opened = [(target, self._play)]
        if self._has_monitor:
            opened.append((monitor, self._play_monitor))
        for name, play in opened:
            self._add(OUTPUT, name, wide, play)
        self._add(INPUT, source, channels, self._record)
        self._played = self._clock()

    def _add(
        self, kind: str, name: str | None, channels: int, callback: Callable[[Any], None]
    ) -> None:
        stream = self._devices.open(
            kind, name, self.engine.rate, self._block, channels, self._latency, callback
        )
        self._streams.append((name or f"default {kind}", stream))

    def _close(self) -> bool:
        """Close all devices; False where a driver hangs, which ends the session."""
        streams, self._streams = self._streams, []
        closing = threading.Thread(target=_close_all, args=(streams,), daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)
        if closing.is_alive():
            self.engine.end("the driver of a device hangs; start again")
        return not closing.is_alive()

    def _record(self, block: numpy.ndarray) -> None:
        self.engine.give(numpy.repeat(block, self._copies, axis=1))
        self._new.set()

    def _play(self, block: numpy.ndarray) -> None:
        self._played = self._clock()
        _fill(block, self._takes)

    def _play_monitor(self, block: numpy.ndarray) -> None:
        _fill(block, lambda count: self.engine.take(count, 1))

    def _work(self) -> None:
        step_below()
        while not self._ended.is_set() and self.engine.state is not State.ENDED:
            if not self.engine.work():
                self._new.wait(IDLE_SECONDS)
                self._new.clear()


def _close_all(streams: list[tuple[str, Any]]) -> None:
    for _, stream in streams:
        with suppress(Exception):  # a device that is gone cannot be stopped
            stream.abort()
        with suppress(Exception):
            stream.close()


def _fill(block: numpy.ndarray, take: Callable[[int], numpy.ndarray]) -> None:
    """Fill a device's block ``[time, channel]``; one channel is heard on all."""
    block.fill(0.0)  # whatever fails below
    block[:] = take(len(block))
