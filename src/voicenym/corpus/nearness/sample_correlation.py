"""Correlation of a whole recording with its output, sample by sample, in one pass."""

from __future__ import annotations

import math

import numpy as np
import torch

LEAST_RMS = 1e-4
"""Standard deviation of a channel below which it counts as silence, which all systems keep."""


class SampleCorrelation:
    """Pearson's correlation of input and output without a shift; no blocks are kept but those of
    the side that is ahead.

    It complements :class:`voicenym.corpus.nearness.signal_similarity.SignalSimilarity`, which looks
    at segments of speech and so sees little of short and of steady sounds.

    Args:
        channels: of both.

    Attributes:
        found: correlation by channel after :meth:`finish`; NaN for silence.
    """

    def __init__(self, channels: int) -> None:
        self._ahead: list[list[np.ndarray]] = [[], []]
        self._sums = np.zeros((5, channels))
        self._count = 0
        self.found: list[float] = [math.nan] * channels

    def push_input(self, block: np.ndarray | torch.Tensor) -> None:
        """``[channel, time]`` of the input."""
        self._push(0, block)

    def push_output(self, block: np.ndarray | torch.Tensor) -> None:
        """``[channel, time]`` of the output."""
        self._push(1, block)

    def finish(self) -> None:
        """Computes the correlations; what only one side has is left out."""
        count = max(1, self._count)
        for channel, (x, y, xy, xx, yy) in enumerate(self._sums.T.tolist()):
            product, *energies = xy - x * y / count, xx - x * x / count, yy - y * y / count
            if min(energies) > LEAST_RMS**2 * count:  # a constant has none but of rounding
                self.found[channel] = product / math.sqrt(energies[0] * energies[1])

    def _push(self, side: int, block: np.ndarray | torch.Tensor) -> None:
        own, other = self._ahead[side], self._ahead[1 - side]
        own.append(np.asarray(block))
        while own and other:
            size = min(own[0].shape[1], other[0].shape[1])
            x, y = (part[0][:, :size].astype(np.float64) for part in (own, other))
            self._sums += [one.sum(1) for one in (x, y, x * y, x * x, y * y)]
            self._count += size
            for part in (own, other):
                part[0] = part[0][:, size:]
                if not part[0].shape[1]:
                    part.pop(0)
