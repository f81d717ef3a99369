"""Engine of live anonymization: blocks in, anonymized blocks or zeros out; it knows no devices."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

import numpy

from voicenym.errors import VoicenymError
from voicenym.live.aligned_output import AlignedOutput
from voicenym.live.fault_history import OVERLOAD_PAUSE, FaultHistory
from voicenym.live.input_queue import InputQueue
from voicenym.live.live_state import LiveStatus, State
from voicenym.live.playout import Playout

if TYPE_CHECKING:
    from collections.abc import Callable

    from voicenym.anonymizer.stream import Stream

LATE_SECONDS = 0.25
"""Delay of a block beyond its own length that counts as overload."""
STUCK_SECONDS = 10.0
"""Time of one call of the system after which the session ends."""
STALL_SECONDS = 0.5
"""Time without input after which the input device counts as lost."""


class LiveEngine:
    """Anonymizes blocks in real time; any fault gives silence, and never the input.

    The input's thread calls :meth:`give`, the output's :meth:`take`, a worker :meth:`work`; none
    waits for the system but the worker. The delay between the two is constant:
    the stream's lag, two blocks, and ``margin``. After a fault, what waits is discarded and a
    new stream starts, so that no sample from before the fault comes out after it.

    With two or more channels, one is hidden and the others pass, delayed alike; at a fault all are
    silent.

    Args:
        make_stream: makes a stream with one row at ``rate``; called by the worker.
        rate: sample rate in Hz.
        block: samples that the system gets at once.
        margin: samples that wait for late blocks.
        channels: of blocks ``[time, channel]``.
        hidden: number of the channel that is anonymized.
        lag: samples by which the stream lags behind blocks of this length, where this is less than
            its latency, which holds for any length.
        outputs: number of outputs, each with its own queue: a second one for a monitor.
        calm: seconds without a dropout after which the delay that one left is taken back where the
            sound is quiet; 0: never.
        clock: seconds, rising.

    Raises:
        VoicenymError: a rate, block, margin, channel or output that a session cannot have.

    Attributes:
        messages: sentences for the user, oldest first; whoever shows them removes them.
    """

    def __init__(
        self,
        make_stream: Callable[[], Stream],
        rate: int,
        block: int,
        margin: int,
        *,
        channels: int = 1,
        hidden: int = 0,
        lag: int | None = None,
        outputs: int = 1,
        calm: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if min(rate, block, outputs) < 1 or margin < 0 or hidden not in range(channels):
            raise VoicenymError(
                f"a live session needs a rate, a block and an output above 0, a margin from 0 and "
                f"a hidden channel below their number, not rate={rate}, block={block}, "
                f"outputs={outputs}, margin={margin}, hidden={hidden} of {channels}"
            )
        self.rate, self.block, self.margin = rate, block, margin
        self.channels, self.hidden = channels, hidden
        self.messages: deque[str] = deque()
        self._make, self._clock = make_stream, clock
        self._patience = round(calm * rate)
        self._known_lag = {} if lag is None else {block: lag}
        self._lock = threading.Lock()
        self._playouts = [Playout(channels) for _ in range(outputs)]
        self._stream: Stream | None = None
        self._state, self._muted = State.STARTING, False
        self._generation = 0
        self._again = self._given = clock()
        self._inputs = InputQueue()
        self._aligned = AlignedOutput(0, channels, hidden)
        self._busy_since: float | None = None
        self._faults = FaultHistory()
        self._losses = 0
        self._load = self._peak = 0.0
        self._level = -math.inf
        self._told: set[str] = set()

    def give(self, block: numpy.ndarray) -> None:
        """Samples of the input, ``[time, channel]`` float32; dropped unless the engine runs."""
        with self._lock:
            now = self._given = self._clock()
            if self._state is not State.RUNNING:
                return
            if block.ndim != 2 or block.shape[1] != self.channels:
                self._fault("the input gave blocks of another shape")
            elif not numpy.isfinite(block).all():
                self._fault("the input gave NaN or infinity")
            else:
                kept = numpy.zeros_like(block) if self._muted else numpy.clip(block, -1.0, 1.0)
                self._inputs.add(kept, now)
                if self._inputs.waiting > self.block + LATE_SECONDS * self.rate:
                    self._overloaded()

    def take(self, count: int, output: int = 0) -> numpy.ndarray:
        """The next samples of an output, ``[count, channel]``: anonymized ones, or zeros."""
        with self._lock:
            if self._state is not State.RUNNING:
                if self._state in (State.OVERLOADED, State.FAILED):
                    self._playouts[output].miss()
                return numpy.zeros((count, self.channels), numpy.float32)
            out = self._playouts[output].take(count)
            if output == 0:
                power = float(numpy.mean(numpy.square(out[:, self.hidden]))) if count else 0.0
                self._level = 10.0 * math.log10(power) if power else -math.inf
            return out

    def work(self) -> bool:
        """Make a stream, or process one block; False if there is nothing to do now."""
        with self._lock:
            generation, stream = self._generation, self._stream
            part = None
            if self._state is State.RUNNING:
                part = self._inputs.next(self.block)
            if part is None and not self._due():
                return False
            self._busy_since = self._clock()
        try:
            if part is None or stream is None:
                made = self._make()
                with self._lock:
                    if generation == self._generation:
                        self._begin(made)
            else:
                self._process(stream, generation, *part)
        except Exception as error:  # whatever it is, silence goes out
            why = str(error) if isinstance(error, VoicenymError) else type(error).__name__
            with self._lock:
                if generation == self._generation:
                    self._fault(f"the system failed ({why})")
        finally:
            with self._lock:
                self._busy_since = None
        return True

    def mute(self, muted: bool) -> None:
        """Mute: silence at once, and the system gets silence; unmute: new sound only."""
        with self._lock:
            if muted and not self._muted:
                self._aligned.void(self._in_work + self._inputs.waiting)
                self._inputs.silence()
                for playout in self._playouts:
                    playout.silence()
            self._muted = muted

    def stop(self) -> None:
        """Panic: silence at once; everything that waits is discarded, until :meth:`resume`."""
        with self._lock:
            if self._state not in (State.STOPPED, State.ENDED):
                self._discard(State.STOPPED)
                self.messages.append("stopped: silence goes out until you resume")

    def resume(self) -> None:
        """Start anew after :meth:`stop`."""
        self._restart_from(State.STOPPED)

    def restart(self, why: str) -> None:
        """Start anew, as for another stream of input: nothing from before comes out."""
        with self._lock:
            if self._state is State.RUNNING:
                self._discard(State.STARTING)
                self._again = self._given = self._clock()
                self.messages.append(f"{why}; a new start follows")

    def lose(self, device: str, what: str = "the device is gone") -> None:
        """A device of this name is gone: silence until :meth:`find`."""
        with self._lock:
            if self._state in (State.LOST, State.STOPPED, State.ENDED):
                return
            self._losses += 1
            self._discard(State.LOST)
            self.messages.append(f"{device}: {what}; silence goes out until it is back")

    def find(self) -> None:
        """Start anew after :meth:`lose`; a session that the user stopped stays silent."""
        self._restart_from(State.LOST)

    def end(self, why: str) -> None:
        """End the session, with a reason for the message; silence from now on."""
        with self._lock:
            self._end(why)

    def check(self) -> None:
        """Look for an input that stalls and a system that hangs; to be called now and then."""
        now = self._clock()
        with self._lock:
            busy = self._busy_since
            if busy is not None and now - busy > STUCK_SECONDS and self._stream is not None:
                self._end("the system hangs")
            stalls = self._state is State.RUNNING and now - self._given > STALL_SECONDS
        if stalls:
            self.lose("input")

    @property
    def state(self) -> State:
        return self._state

    @property
    def stream_latency(self) -> int:
        """Latency of the stream in samples, for blocks of any length."""
        return 0 if self._stream is None else self._stream.latency

    @property
    def lag(self) -> int:
        """Samples by which the output lags; blocks, queues and devices add to it."""
        known = self._known_lag.get(self.block)
        if known is None or self._stream is None:
            return self.stream_latency if known is None else known
        return min(self._stream.latency, known)

    def status(self) -> LiveStatus:
        """Counters at this moment."""
        with self._lock:
            first, faults = self._playouts[0], self._faults
            return LiveStatus(
                self._state, self._muted, self.block, self._load, self._peak,
                first.blocks, first.dropouts, first.skipped,
                faults.overloads, faults.failures, self._losses, self._level,
            )  # fmt: skip

    # The methods below expect that the lock is held, but for _process.

    @property
    def _in_work(self) -> int:
        """Samples that the system has got and not yet answered."""
        return self.block if self._busy_since is not None and self._stream is not None else 0

    def _due(self) -> bool:
        waiting = (State.STARTING, State.OVERLOADED, State.FAILED)
        return self._state in waiting and self._clock() >= self._again

    def _begin(self, stream: Stream) -> None:
        self._stream, self._state = stream, State.RUNNING
        self._aligned = AlignedOutput(stream.latency, self.channels, self.hidden)
        self._given = self._clock()
        for playout in self._playouts:
            prefill = self.block + self.margin
            playout.start(self.lag, prefill, self.margin // 2, self._patience)

    def _process(self, stream: Stream, generation: int, first: float, block: numpy.ndarray) -> None:
        import torch

        begun = self._clock()
        out = stream.push(torch.from_numpy(block[:, self.hidden].copy())).numpy()
        ended = self._clock()
        with self._lock:
            if generation != self._generation:
                return  # from before a fault, a stop or a loss
            length = len(block) / self.rate
            share = (ended - begun) / length
            self._peak = max(self._peak, share)
            self._load += min(1.0, length) * (share - self._load)
            if ended - first > length + LATE_SECONDS:
                self._overloaded()
                return
            joined = self._aligned.join(block, out)
            if joined is None:
                self._fault("the system gave samples that are no sound")
                return
            for playout in self._playouts:
                playout.append(joined, len(block))
            if len(out):
                new = [text for text in stream.warnings if text not in self._told]
                self._told.update(new)
                self.messages.extend(new)

    def _restart_from(self, state: State) -> None:
        with self._lock:
            if self._state is state:
                self._discard(State.STARTING)
                self._again = self._given = self._clock()

    def _discard(self, state: State) -> None:
        """Forget stream and samples; the result of a block in work will be dropped."""
        self._generation += 1
        self._state, self._stream = state, None
        self._inputs.clear()
        self._level = -math.inf
        for playout in self._playouts:
            playout.clear()

    def _fault(self, why: str) -> None:
        pause = self._faults.failed(self._clock())
        if pause is None:
            self._end(why)
            return
        self._discard(State.FAILED)
        self._again = self._clock() + pause
        self.messages.append(f"{why}; silence goes out, a new start follows in {pause:g} s")

    def _overloaded(self) -> None:
        block = self._faults.overloaded(self._clock(), self.block, self.rate)
        if block is None:
            self._end("the machine cannot hold this system; choose a faster one")
            return
        self.block = block
        self._discard(State.OVERLOADED)
        self._again = self._clock() + OVERLOAD_PAUSE
        self.messages.append(
            f"overload: silence goes out; a new start follows in {OVERLOAD_PAUSE:g} s with blocks "
            f"of {1000 * block / self.rate:.0f} ms"
        )

    def _end(self, why: str) -> None:
        if self._state is not State.ENDED:
            self._discard(State.ENDED)
            self.messages.append(f"{why}; silence goes out, and the session ends")
