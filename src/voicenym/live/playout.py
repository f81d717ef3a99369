"""Playout: queue of anonymized samples between a system's stream and an output device."""

from __future__ import annotations

import sys
from collections import deque

import numpy

QUIET = 0.003
"""Greatest magnitude of samples that may be left out unheard: -50 dB."""
LONGEST_PATIENCE = 128
"""Most times by which dropouts make the patience longer: ten minutes in place of five seconds."""


class Playout:
    """Delay line of constant length, which gives zeros where it has no samples.

    A stream gives at least ``pushed - latency`` samples for ``pushed`` ones, in pieces of its own
    sizes. ``latency`` zeros ahead of them make the level at least ``pushed - played``, so that this
    difference is what is kept: playing starts at ``prefill``, and samples above ``most`` are
    dropped, oldest first, as when the output's clock runs slower than the input's. Blocks seldom
    end at ``prefill``: what they exceed it by at the start is taken from the zeros ahead. After a
    dropout it stays, and makes the next dropout less likely; when ``patience`` samples were played
    without one, what was never needed of it is taken out where the sound is quiet. Each dropout
    doubles the patience, up to :data:`LONGEST_PATIENCE` times: a machine that is late now and then
    drops samples a few times, and not once after every time that they were taken out.

    Not safe for threads: :class:`~voicenym.live.live_engine.LiveEngine` locks around it.

    Args:
        channels: of the samples ``[time, channel]``.

    Attributes:
        blocks: blocks taken since the first sample was played.
        dropouts: those of them in which samples were missing, those of a new start included.
        skipped: samples that were dropped because too many were waiting.
    """

    def __init__(self, channels: int) -> None:
        self.channels = channels
        self.blocks = self.dropouts = self.skipped = 0
        self._parts: deque[numpy.ndarray] = deque()
        self._level = self._margin = 0
        self._prefill = self._most = self._ahead = 0
        self._plays = self._began = False
        self._reserve = self._patience = self._usual_patience = self._excess = 0
        self._watch_anew()

    def start(self, latency: int, prefill: int, reserve: int = 0, patience: int = 0) -> None:
        """Empty it, for a new stream.

        Args:
            latency: of the stream, in samples, or its lag behind blocks of the length that it gets.
            prefill: samples that wait before the first is played.
            reserve: samples that must have been left at all times before any are taken out.
            patience: samples without a dropout after which they are; 0: never.
        """
        self.clear()
        self._prefill, self._most = prefill, 3 * prefill
        self._reserve = reserve
        if patience != self._usual_patience:  # a new start after a fault keeps what was learned
            self._patience = self._usual_patience = patience
        if latency:
            self._parts.append(numpy.zeros((latency, self.channels), numpy.float32))
            self._level = self._ahead = latency

    def clear(self) -> None:
        """Empty it; zeros come out until samples of a new start are there."""
        self._parts.clear()
        self._level = self._margin = self._ahead = 0
        self._plays = False
        self._watch_anew()

    def silence(self) -> None:
        """Replace what waits by as many zeros."""
        self._parts = deque(numpy.zeros_like(part) for part in self._parts)

    def append(self, samples: numpy.ndarray, pushed: int) -> None:
        """Add what the stream gave, ``[time, channel]``, for so many pushed samples."""
        if len(samples):
            self._parts.append(samples)
        self._level += len(samples)
        self._margin += pushed
        if self._margin > self._most:
            surplus = min(self._margin - self._prefill, self._level)
            self._cut(surplus)
            self._ahead = max(0, self._ahead - surplus)
            self._excess = max(0, self._excess - surplus)
            self._margin -= surplus
            self.skipped += surplus

    def take(self, count: int) -> numpy.ndarray:
        """The next samples ``[count, channel]``; zeros where there are none."""
        out = numpy.zeros((count, self.channels), numpy.float32)
        if not self._plays:
            self._plays = self._margin >= self._prefill > 0
            if not self._plays:
                self.miss()
                return out
            surplus = min(self._margin - self._prefill, self._ahead)
            self._cut(surplus)
            self._margin -= surplus
            self._excess = self._margin - self._prefill
        self._ahead = 0  # after a dropout, what waits is sound
        self._began = True
        self.blocks += 1
        self._cut_quiet(count)
        ready = min(count, self._level)
        filled = 0
        for part in self._cut(ready):
            out[filled : filled + len(part)] = part
            filled += len(part)
        self._margin -= ready
        if ready < count:
            self.dropouts += 1
            self._plays = False  # waits until it is filled again
            self._patience = min(2 * self._patience, LONGEST_PATIENCE * self._usual_patience)
            self._watch_anew()
        else:
            self._watch(count)
        return out

    def miss(self) -> None:
        """Count a block that a fault left silent; none before the first sample was played."""
        self.blocks += self._began
        self.dropouts += self._began

    def _watch_anew(self) -> None:
        """Starts the search for needless delay anew."""
        self._calm, self._least, self._surplus = 0, sys.maxsize, 0

    def _watch(self, played: int) -> None:
        """Finds how much of the delay beyond the prefill was not needed for so long."""
        self._calm += played
        self._least = min(self._least, self._margin)
        if self._calm >= self._patience > 0:
            surplus = min(self._excess, self._least - self._reserve)
            self._watch_anew()
            self._surplus = max(0, surplus)

    def _cut_quiet(self, needed: int) -> None:
        """Removes surplus samples that are quiet and come next, beyond those needed now."""
        most, count = min(self._surplus, self._level - needed), 0
        for part in self._parts:
            if count >= most:
                break
            loud = numpy.flatnonzero(numpy.abs(part[: most - count]).max(axis=1) > QUIET)
            count += loud[0] if len(loud) else min(len(part), most - count)
            if len(loud):
                break
        if count > 0:
            self._cut(int(count))
            self._margin -= int(count)
            self._surplus -= int(count)
            self._excess -= int(count)
            self.skipped += int(count)

    def _cut(self, count: int) -> list[numpy.ndarray]:
        """Remove the oldest samples; returns them in parts."""
        found = []
        self._level -= count
        while count:
            part = self._parts.popleft()
            if len(part) > count:
                self._parts.appendleft(part[count:])
                part = part[:count]
            found.append(part)
            count -= len(part)
        return found
