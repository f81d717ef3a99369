"""RTP session: a call's legs and an engine, twenty milliseconds at a time."""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

import numpy

from voicenym.errors import counted
from voicenym.live.live_engine import LiveEngine
from voicenym.live.live_state import State
from voicenym.live.rtp.rtp_leg import RtpLeg
from voicenym.live.steady_threads import steady, step_below

PACKET_SECONDS = 0.02
"""Length of a packet (RFC 3551, 4.2)."""
QUIET_SECONDS = 2.0
"""Time without packets after which the caller's stream counts as lost."""
MOST_BEHIND = 10
"""Packets that are made up for after a pause of the machine; after a longer one, none is."""
IDLE_SECONDS = 0.005
CALLER = "caller's RTP"


class RtpSession:
    """Runs an engine between the legs of a call.

    With one leg, the caller's voice goes back to the peer, anonymized: a telephone switch sends a
    channel through. With two, the caller's anonymized voice goes to the agent's leg, and the
    agent's voice to the caller's leg, as it is and as late. Whatever fails, zeros go out.

    Args:
        engine: with one channel, or with two of which the first is hidden.
        legs: of the caller; and of the agent.
        clock: seconds, rising.
    """

    def __init__(
        self, engine: LiveEngine, legs: list[RtpLeg], clock: Callable[[], float] = time.monotonic
    ) -> None:
        if engine.channels != len(legs) or engine.hidden != 0:
            raise ValueError("an engine has a channel for each leg, and hides the first")
        self.engine, self.legs = engine, legs
        self._clock = clock
        self._count = round(PACKET_SECONDS * engine.rate)
        self._context = ExitStack()
        self._ended = threading.Event()
        self._new = threading.Event()
        self._warned = 0
        self._pump = threading.Thread(target=self._run, name="rtp", daemon=True)
        self._worker = threading.Thread(target=self._work, name="live", daemon=True)

    def __enter__(self) -> RtpSession:
        for leg in self.legs:
            leg.drain()
        self._context.enter_context(steady())
        self._worker.start()
        self._pump.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._new.set()
        for thread in (self._pump, self._worker):
            if thread.is_alive():
                thread.join(timeout=2.0)
        self._context.close()
        for leg in self.legs:
            leg.close()

    def step(self) -> None:
        """Look after the engine; to be called some times a second."""
        self.engine.check()
        strangers = sum(leg.counters.strangers for leg in self.legs)
        if strangers > self._warned == 0:
            self.engine.messages.append(
                "packets of other addresses than the peer's come in; they are dropped"
            )
        self._warned = strangers

    def receive(self) -> None:
        """Read what has come; another stream of the caller starts the engine anew."""
        fresh = [leg.receive() for leg in self.legs]
        if fresh[0] and self.legs[0].counters.streams > 1:
            self.engine.restart("the caller's stream is another one")

    def tick(self) -> None:
        """Twenty milliseconds: what has come goes in, what is ready goes out."""
        self.receive()
        engine, caller = self.engine, self.legs[0]
        lost = engine.state is State.LOST
        if not lost and engine.state is State.RUNNING and caller.quiet_for() > QUIET_SECONDS:
            engine.lose(CALLER, "no packets come")
        elif lost and caller.quiet_for() <= QUIET_SECONDS and caller.source is not None:
            engine.find()
        engine.give(numpy.stack([leg.take(self._count) for leg in self.legs], axis=1))
        self._new.set()
        out = engine.take(self._count)
        # the caller is heard on the last leg, the agent on the first
        for number, leg in enumerate(reversed(self.legs)):
            leg.send(out[:, number])

    def summary(self) -> list[str]:
        """One line of counters for each leg."""
        lines = []
        for name, leg in zip(("caller", "agent"), self.legs, strict=False):
            found, source = leg.counters, leg.source
            lost = "" if source is None else f", {max(0, source.lost)} lost"
            jitter = ""
            if source is not None:
                jitter = f", jitter {1000 * source.jitter / leg.payload.rate:.1f} ms"
            lines.append(
                f"{name}: {counted(found.received, 'packet')}{lost}, {leg.buffer.late} late, "
                f"{found.malformed} malformed, {found.other} of other types, {found.strangers} of "
                f"strangers dropped{jitter}"
            )
        return lines

    def _run(self) -> None:
        try:
            self._ticks()
        except Exception as error:  # whatever it is, nothing goes out any more
            self.engine.end(f"RTP failed ({type(error).__name__})")

    def _ticks(self) -> None:
        due = self._clock()
        sockets = [leg.socket for leg in self.legs]
        while not self._ended.is_set() and self.engine.state is not State.ENDED:
            now = self._clock()
            if now < due:
                if select.select(sockets, [], [], due - now)[0]:
                    self.receive()  # at once: the time of arrival counts
                continue
            if now - due > MOST_BEHIND * PACKET_SECONDS:
                due = now
            self.tick()
            due += PACKET_SECONDS

    def _work(self) -> None:
        step_below()
        while not self._ended.is_set() and self.engine.state is not State.ENDED:
            if not self.engine.work():
                self._new.wait(IDLE_SECONDS)
                self._new.clear()
