"""Streaming sample rate conversion without delay (soxr)."""

from __future__ import annotations

from functools import cache

import numpy
import soxr
import torch

QUALITY = "HQ"


@cache
def _latency(rate_in: int, rate_out: int) -> int:
    """Largest number of input samples that soxr buffers, measured by pushing one at a time."""
    changer = soxr.ResampleStream(rate_in, rate_out, 1, dtype="float32", quality=QUALITY)
    step = max(1, rate_in // 4000)
    given, worst = 0, 0.0
    for pushed in range(step, rate_in // 2, step):
        given += len(changer.resample_chunk(numpy.zeros(step, numpy.float32)))
        worst = max(worst, pushed - given * rate_in / rate_out)
    return int(worst) + 2 * step + 1


class RateChanger:
    """Streaming resampler of ``[row, time]``; the identity for equal rates.

    soxr's stream gives the same samples for any chunking. In total ``round(n * out / in)`` samples
    come out for ``n`` that went in, without delay between the two.

    Attributes:
        latency: in input samples: after ``n`` of them, the output of the first ``n - latency`` is
            out at least.
        held: 0; what soxr holds back between blocks varies.
    """

    def __init__(self, rate_in: int, rate_out: int, rows: int) -> None:
        self._same = rate_in == rate_out
        self._rows = rows
        self.latency = self.held = 0
        if not self._same:
            self.latency = _latency(rate_in, rate_out)
            self._streams = [
                soxr.ResampleStream(rate_in, rate_out, 1, dtype="float32", quality=QUALITY)
                for _ in range(rows)
            ]

    def push(self, block: torch.Tensor) -> torch.Tensor:
        return block if self._same else self._run(block, last=False)

    def flush(self) -> torch.Tensor:
        empty = torch.zeros(self._rows, 0)
        return empty if self._same else self._run(empty, last=True)

    def _run(self, block: torch.Tensor, *, last: bool) -> torch.Tensor:
        rows = [
            stream.resample_chunk(row, last=last)
            for stream, row in zip(self._streams, block.contiguous().numpy(), strict=True)
        ]
        return torch.from_numpy(numpy.stack(rows))
