"""A line for tests of live sessions: a clock, an input of known blocks, a system of known output.

Sample values tell where a sample comes from: block number ``n`` of the input has the value
``0.3 + n / 1000``, and the system gives its negative. So the input is above zero, anonymized sound
below, silence zero, and each anonymized sample names the block it was made of.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy
import torch

from voicenym.live.live_engine import LiveEngine

RATE = 8_000
BLOCK = 80
"""Samples of a block: 10 ms."""


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Negative:
    """Stream that gives the negative of what it got, ``latency`` samples later.

    Args:
        latency: in samples.
        disturb: called at each push with its number and the output; gives the output.
    """

    warnings: tuple[str, ...] = ()

    def __init__(
        self, latency: int = 0, disturb: Callable[[int, torch.Tensor], torch.Tensor] | None = None
    ) -> None:
        self.latency = latency
        self._disturb = disturb
        self._kept = torch.zeros(0)
        self._pushes = 0

    def push(self, block: torch.Tensor) -> torch.Tensor:
        self._kept = torch.cat([self._kept, -block])
        ready = max(0, len(self._kept) - self.latency)
        out, self._kept = self._kept[:ready], self._kept[ready:]
        self._pushes += 1
        return out if self._disturb is None else self._disturb(self._pushes, out)


class Line:
    """An engine between an input and an output of one clock.

    Args:
        make: makes the engine's streams.
        kwargs: of the engine.

    Attributes:
        outputs: blocks ``[time, channel]`` that came out, one per tick.
    """

    def __init__(self, make: Callable[[], object], margin: int = 0, **kwargs: object) -> None:
        self.clock = Clock()
        self.engine = LiveEngine(make, RATE, BLOCK, margin, clock=self.clock, **kwargs)
        self.outputs: list[numpy.ndarray] = []
        self.said: list[str] = []
        self.engine.work()  # makes the stream

    def tick(self, works: bool = True, block: numpy.ndarray | None = None) -> numpy.ndarray:
        """Ten milliseconds: a block in, work, a block out."""
        self.clock.now += BLOCK / RATE
        number = len(self.outputs)
        if block is None:
            block = numpy.full((BLOCK, self.engine.channels), value(number), numpy.float32)
        self.engine.give(block)
        while works and self.engine.work():
            pass
        out = self.engine.take(BLOCK)
        self.outputs.append(out)
        while self.engine.messages:
            self.said.append(self.engine.messages.popleft())
        return out

    def ticks(self, count: int, **kwargs: object) -> None:
        for _ in range(count):
            self.tick(**kwargs)

    def whole(self) -> numpy.ndarray:
        """All that came out, ``[time, channel]``."""
        return numpy.concatenate(self.outputs)


def value(number: int) -> float:
    """Value of the samples of an input block."""
    return 0.3 + number / 1000.0


def sources(out: numpy.ndarray) -> set[int]:
    """Numbers of the input blocks that anonymized samples were made of."""
    sounding = out[out < 0]
    return set(numpy.round((-sounding - 0.3) * 1000.0).astype(int).tolist())
