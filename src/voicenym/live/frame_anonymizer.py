"""Frames of one voice, anonymized one after another: a frame out for a frame in."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy

from voicenym.live.live_engine import LiveEngine
from voicenym.live.live_state import State

if TYPE_CHECKING:
    from voicenym.anonymizer.stream import Stream

BLOCK_SECONDS = 0.01
FULL_SCALE = 32_768.0
RATES = range(8_000, 192_001)
"""Sample rates of frames in Hz."""


class FrameAnonymizer:
    """Anonymizes frames with an engine that gives silence at any fault.

    Channels of a frame are one voice: they are averaged, and all get the result. A frame of another
    sample rate begins a new stream. The delay is the stream's latency where all frames have one
    length of 10 ms or more; else a frame and some blocks of 10 ms are added.

    Args:
        make_stream: makes a stream with one row at a rate in Hz, such as
            ``lambda rate: anonymize.stream(pseudonym, rate, low_delay=True)``.
        clock: seconds, rising.

    Attributes:
        failures: faults outside of the engine, such as frames that are no sound.
    """

    def __init__(
        self,
        make_stream: Callable[[int], Stream],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make, self._clock = make_stream, clock
        self._engine: LiveEngine | None = None
        self._kind = (0, 0, 0)  # rate, block, margin
        self._lock = threading.Lock()
        self._muting = threading.Lock()  # not held while a system computes or is made
        self._silent = False
        self._said: list[str] = []
        self.failures = 0

    def process(self, samples: numpy.ndarray, rate: int) -> numpy.ndarray:
        """The next frame.

        Args:
            samples: ``[time, channel]`` float32 within -1 and 1.
            rate: in Hz.

        Returns:
            An array of the same shape: anonymized, or zeros. It raises nothing.
        """
        out = numpy.zeros(numpy.shape(samples), numpy.float32)
        try:
            with self._lock:
                found = self._through(samples, rate)
            if found.shape == (len(out), 1):
                out += found
        except Exception as error:  # whatever it is, zeros go out
            self.note_failure(error)
        return out

    def process_pcm(self, data: bytes | memoryview, rate: int, channels: int = 1) -> bytes:
        """The next frame of 16-bit samples with interleaved channels; as many bytes come back."""
        try:
            samples = numpy.frombuffer(data, numpy.int16).reshape(-1, channels)
            out = self.process(samples / numpy.float32(FULL_SCALE), rate)
            whole = numpy.clip(numpy.round(out * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1)
            return whole.astype(numpy.int16).tobytes()
        except Exception as error:
            self.note_failure(error)
            return bytes(memoryview(data).nbytes)

    def mute(self, silent: bool) -> None:
        """Silence at once, until called with False; the system gets silence meanwhile."""
        with self._muting:
            self._silent = silent
            if self._engine is not None:
                self._engine.mute(silent)

    def end(self, why: str) -> None:
        """End it: zeros from now on."""
        with self._lock:
            self._started(*(self._kind if self._kind[0] else (16_000, 160, 0))).end(why)

    @property
    def state(self) -> State:
        """What the engine does."""
        return State.STARTING if self._engine is None else self._engine.state

    def note_failure(self, error: Exception) -> None:
        """Count a frame that could not be read or anonymized; the first gives a message."""
        self.failures += 1
        if self.failures == 1:
            self._said.append(f"a frame failed ({type(error).__name__}); silence goes out")

    def messages(self) -> list[str]:
        """New sentences for whoever watches, oldest first."""
        engine, found, self._said = self._engine, self._said, []
        while engine is not None and engine.messages:
            found.append(engine.messages.popleft())
        return found

    def _through(self, samples: numpy.ndarray, rate: int) -> numpy.ndarray:
        if samples.ndim != 2 or rate not in RATES:
            raise ValueError(f"frames are [time, channel] of 8 to 192 kHz, not {rate} Hz")
        if not samples.size:
            return numpy.zeros((len(samples), 1), numpy.float32)
        engine = self._started(*self._kind_of(len(samples), rate))
        engine.give(samples.mean(axis=1, keepdims=True, dtype=numpy.float32))
        while engine.work():
            pass
        return engine.take(len(samples))

    def _kind_of(self, count: int, rate: int) -> tuple[int, int, int]:
        """Rate, block and margin of an engine for a frame of so many samples.

        Frames of one length are blocks. Where lengths vary, as much as the longest waits.
        """
        known, block, margin = self._kind
        least = round(BLOCK_SECONDS * rate)
        if known == rate and (count == block or count <= margin):
            return self._kind
        if known != rate and count >= least:
            return rate, count, 0
        return rate, least, max(count, least)

    def _started(self, rate: int, block: int, margin: int) -> LiveEngine:
        """The engine of frames of this kind; another kind ends the one before."""
        engine, kind = self._engine, (rate, block, margin)
        if engine is not None and (kind == self._kind or engine.state is State.ENDED):
            return engine
        self._said += self.messages()
        engine = LiveEngine(lambda: self._make(rate), rate, block, margin, clock=self._clock)
        with self._muting:  # what is muted while the stream is made stays silent
            engine.mute(self._silent)
            self._engine, self._kind = engine, kind
        engine.work()  # makes the stream
        return engine
