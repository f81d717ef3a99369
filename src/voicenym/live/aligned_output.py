"""Output of a stream, checked, and joined with the channels that pass beside it."""

from __future__ import annotations

import numpy


class AlignedOutput:
    """What a stream gives for what it got, sample by sample.

    Args:
        latency: of the stream, in samples.
        channels: of the blocks ``[time, channel]``.
        hidden: number of the channel that the stream anonymizes; the others pass.
    """

    def __init__(self, latency: int, channels: int, hidden: int) -> None:
        self._latency, self._hidden = latency, hidden
        self._pushed = self._returned = self._void_before = 0
        self._passing = numpy.zeros((0, channels), numpy.float32)

    def void(self, waiting: int) -> None:
        """Silence all that was pushed so far, and the next ``waiting`` samples."""
        self._void_before = self._pushed + waiting

    def join(self, block: numpy.ndarray, out: numpy.ndarray) -> numpy.ndarray | None:
        """The next samples ``[time, channel]``.

        Args:
            block: ``[time, channel]`` of which the hidden channel was pushed.
            out: ``[time]`` that the stream gave.

        Returns:
            ``[time, channel]``; None if ``out`` is no sound of the length that the latency allows.
        """
        self._pushed += len(block)
        start, self._returned = self._returned, self._returned + len(out)
        if out.ndim != 1 or not numpy.all(numpy.abs(out) <= 1.0 + 1e-6):
            return None
        if not self._pushed - self._latency <= self._returned <= self._pushed:
            return None
        self._passing = numpy.concatenate([self._passing, block])
        joined, self._passing = self._passing[: len(out)].copy(), self._passing[len(out) :]
        joined[:, self._hidden] = out
        joined[: max(0, self._void_before - start)] = 0.0
        return joined
