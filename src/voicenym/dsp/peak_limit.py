"""Limit of peaks by a slow gain, block by block: no sample exceeds it, and no harmonics arise."""

from __future__ import annotations

import torch


class PeakLimit:
    """Gain that falls ahead of a peak and rises after it; 1 where the signal is within the limit.

    The gain that a sample needs is limit / |x|; each sample gets the mean over 2 ``side`` + 1
    samples of the least gain that any sample within ``side`` of them needs. Its own need is within
    reach of all of these, so that the mean is never above it.

    Args:
        rows: of the signal.
        limit: greatest absolute value.
        side: samples before and after.

    Attributes:
        latency: in samples: ``2 * side``.
    """

    def __init__(self, rows: int, limit: float, side: int) -> None:
        self._limit, self._side = limit, side
        self.latency = 2 * side
        # before and after the signal is silence
        self._held = torch.zeros(rows, self.latency)

    def push(self, block: torch.Tensor) -> torch.Tensor:
        """``[row, time]`` in, ``[row, time']`` out, later by :attr:`latency`."""
        self._held = torch.cat([self._held, block], dim=1)
        ready = self._held.shape[1] - 2 * self.latency
        if ready <= 0:
            return block[:, :0]
        width = 2 * self._side + 1
        peaks = torch.nn.functional.max_pool1d(self._held.abs(), width, stride=1)
        gain = self._limit / peaks.clamp_min(self._limit)
        mean = torch.nn.functional.avg_pool1d(gain, width, stride=1)
        middle = self._held[:, self.latency : self.latency + ready]
        out = (middle * mean).clamp(-self._limit, self._limit)  # against rounding
        self._held = self._held[:, ready:]
        return out

    def flush(self) -> torch.Tensor:
        """The remaining samples."""
        return self.push(self._held.new_zeros(len(self._held), self.latency))
