"""Jitter buffer: packets in any order to samples in time, and zeros where packets are missing."""

from __future__ import annotations

import numpy

LATE_IN_A_ROW = 3
"""Late packets in a row after which the sender's clock is taken anew."""
_WRAP = 1 << 32


class JitterBuffer:
    """Samples of one stream by their timestamps, in a ring of bounded length.

    Whoever takes samples has a clock of its own. The buffer begins ``depth`` samples before the
    first packet; a packet that comes later than that is dropped. What is missing is zeros: nothing
    is repeated.

    Args:
        depth: delay in samples.
        most: samples that may wait; above it the oldest are dropped down to ``depth``, as when the
            sender's clock runs faster.
        size: samples of the ring, more than ``most``; a packet beyond it begins a new timeline.

    Attributes:
        late: packets that came too late.
        doubled: packets with nothing new, such as duplicates.
        skipped: samples dropped because too many waited.
        jumps: times that the timeline began anew.
        missing: samples that were taken as zeros between the first and the last known one.
    """

    def __init__(self, depth: int, most: int, size: int) -> None:
        if not 0 <= depth <= most < size:
            raise ValueError(f"depth {depth}, most {most} and size {size} must rise")
        self._depth, self._most = depth, most
        self._samples = numpy.zeros(size, numpy.float32)
        self._known = numpy.zeros(size, bool)
        self._start: int | None = None
        self._place = self._ahead = self._late_run = 0
        self.late = self.doubled = self.skipped = self.jumps = self.missing = 0

    def clear(self) -> None:
        """Forget all samples and the timeline, as for a new stream."""
        self._known[:] = False
        self._samples[:] = 0.0
        self._start, self._ahead, self._late_run = None, 0, 0

    def put(self, timestamp: int, samples: numpy.ndarray) -> None:
        """Add the samples ``[time]`` of a packet; the first of several for a time counts."""
        size = len(self._samples)
        samples = samples[: size - self._depth]
        if self._start is None:
            self._begin(timestamp)
        assert self._start is not None
        offset = (timestamp - self._start + _WRAP // 2) % _WRAP - _WRAP // 2
        if -size <= offset and offset + len(samples) <= 0:
            self.late += 1
            self._late_run += 1
            if self._late_run < LATE_IN_A_ROW:
                return
        if offset < -size or offset + len(samples) > size or self._late_run >= LATE_IN_A_ROW:
            self.clear()
            self.jumps += 1
            self._begin(timestamp)
            offset = self._depth
        self._late_run = 0
        if offset < 0:
            samples, offset = samples[-offset:], 0
        places = (self._place + offset + numpy.arange(len(samples))) % size
        new = ~self._known[places]
        self.doubled += not new.any()
        self._samples[places[new]] = samples[new]
        self._known[places] = True
        self._ahead = max(self._ahead, offset + len(samples))

    def take(self, count: int) -> numpy.ndarray:
        """The next samples ``[count]``, with zeros for those that are not there."""
        if self._start is None:
            return numpy.zeros(count, numpy.float32)
        if self._ahead > self._most + count:
            surplus = self._ahead - self._depth - count
            self.skipped += surplus
            self._pass(surplus)
        self.missing += int(numpy.count_nonzero(~self._at(min(count, self._ahead))[1]))
        out = self._at(count)[0]
        self._pass(count)
        return out

    @property
    def waiting(self) -> int:
        """Samples from the next one to the last known one."""
        return self._ahead

    def _begin(self, timestamp: int) -> None:
        self._start = (timestamp - self._depth) % _WRAP

    def _at(self, count: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The next samples, and which of them are known; those unknown are zeros."""
        ring = (self._place + numpy.arange(count)) % len(self._samples)
        inside = numpy.arange(count) < len(self._samples)
        known = self._known[ring] & inside
        return numpy.where(known, self._samples[ring], numpy.float32(0.0)), known

    def _pass(self, count: int) -> None:
        """Forget the next samples."""
        assert self._start is not None
        size = len(self._samples)
        gone = (self._place + numpy.arange(min(count, size))) % size
        self._known[gone] = False
        self._samples[gone] = 0.0
        self._place = (self._place + count) % size
        self._start = (self._start + count) % _WRAP
        self._ahead = max(0, self._ahead - count)
