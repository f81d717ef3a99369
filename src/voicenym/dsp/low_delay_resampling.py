"""Streaming sample rate conversion that waits for a few milliseconds, for live streams.

soxr filters in blocks: from 48 to 16 kHz and back it holds 73 ms. Here each output sample is a sum
of the input samples around its time, weighted by a windowed sinc (Smith, "Digital audio resampling
home page", 2002), and needs 3 ms of what follows it. The transition of the filter is 7.2 to 8 kHz
at 16 kHz, a little wider than soxr's, and 3.4 to 4 kHz at 8 kHz.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy
import torch
from numpy.lib.stride_tricks import sliding_window_view

STOPPED = 0.5
"""Edge of the stopped band, as a share of the lower rate."""
PASSED, ATTENUATION = 0.45, 80.0
"""Edge of the passed band, as a share of the lower rate; attenuation of the stopped one, in dB."""
WIDE_BAND = 16_000
PASSED_OF_TELEPHONES, ATTENUATION_OF_TELEPHONES = 0.425, 60.0
"""The same of rates below 16 kHz: a telephone line passes 3.4 kHz of 8, and its quantisation noise
is 38 dB below speech (ITU-T G.711, G.712).
"""


class LowDelayRateChanger:
    """Streaming resampler of ``[row, time]``, as :class:`voicenym.dsp.resampling.RateChanger`.

    Gives the same samples for any chunking, ``round(n * out / in)`` in all for ``n`` that went in,
    without delay between the two.

    Args:
        rate_in, rate_out: in Hz; the identity where they are equal.
        rows: number of rows.

    Attributes:
        latency: in input samples: after ``n`` of them, the output of the first ``n - latency`` is
            out at least.
        held: output samples that wait for input after them, where whole numbers of both went in
            and out: a block of 10 ms makes the last 3.2 ms of it wait.
    """

    def __init__(self, rate_in: int, rate_out: int, rows: int) -> None:
        self._same, self._rows = rate_in == rate_out, rows
        common = math.gcd(rate_in, rate_out)
        self._up, self._down = rate_out // common, rate_in // common
        self.latency = self.held = 0
        if self._same:
            return
        self._kernels = _kernels(rate_in, rate_out)
        self._side = self._kernels.shape[1] // 2
        self.latency = self._side + -(-rate_in // rate_out) + 1
        self.held = self._side * self._up // self._down
        # samples from _first on; the signal is zero before its beginning
        self._first = 1 - self._side
        self._kept = numpy.zeros((rows, self._side - 1), numpy.float32)
        self._pushed = self._given = 0

    def push(self, block: torch.Tensor) -> torch.Tensor:
        """Samples ``[row, time]`` that the block completes."""
        if self._same:
            return block
        self._pushed += block.shape[1]
        self._kept = numpy.concatenate([self._kept, block.numpy().astype(numpy.float32)], 1)
        # output k needs inputs up to floor(k down / up) + side
        ready = self._pushed - self._side
        return self._run(-(-ready * self._up // self._down) if ready > 0 else 0)

    def flush(self) -> torch.Tensor:
        """What is left; the signal is zero behind its end."""
        if self._same:
            return torch.zeros(self._rows, 0)
        silence = numpy.zeros((self._rows, self._side + 1), numpy.float32)
        self._kept = numpy.concatenate([self._kept, silence], 1)
        return self._run(round(self._pushed * self._up / self._down))

    def _run(self, stop: int) -> torch.Tensor:
        """Outputs up to ``stop``."""
        number = numpy.arange(self._given, max(stop, self._given))
        if not len(number):
            return torch.zeros(self._rows, 0)
        place, phase = numpy.divmod(number * self._down, self._up)
        first = place - (self._side - 1) - self._first
        windows = sliding_window_view(self._kept, 2 * self._side, axis=1)[:, first]
        found = numpy.einsum("rot,ot->ro", windows, self._kernels[phase])
        self._given = int(number[-1]) + 1
        unneeded = self._given * self._down // self._up - (self._side - 1) - self._first
        if unneeded > 0:
            self._kept, self._first = self._kept[:, unneeded:], self._first + unneeded
        return torch.from_numpy(found)


@lru_cache(maxsize=16)  # rates without a common divisor have megabytes of them
def _kernels(rate_in: int, rate_out: int) -> numpy.ndarray:
    """Weights ``[phase, input]`` of the inputs around an output, each of sum one."""
    lower = min(rate_in, rate_out)
    passed, attenuation = PASSED, ATTENUATION
    if lower < WIDE_BAND:
        passed, attenuation = PASSED_OF_TELEPHONES, ATTENUATION_OF_TELEPHONES
    width = 2.0 * math.pi * (STOPPED - passed) * lower / rate_in  # of the transition, in radians
    # length and parameter beta of Kaiser's window (Kaiser and Schafer 1980)
    side = math.ceil((attenuation - 8.0) / (2.285 * width) / 2.0) + 1
    beta = 0.1102 * (attenuation - 8.7)
    up = rate_out // math.gcd(rate_in, rate_out)
    # input j of the window is 1 - side + j - phase / up samples behind the output
    place = numpy.arange(1 - side, side + 1) - numpy.arange(up)[:, None] / up
    cutoff = (passed + STOPPED) * lower / rate_in  # of the sinc, in cycles of two samples
    window = numpy.i0(beta * numpy.sqrt(numpy.clip(1.0 - (place / side) ** 2, 0.0, 1.0)))
    kernels = numpy.sinc(cutoff * place) * window
    return (kernels / kernels.sum(1, keepdims=True)).astype(numpy.float32)
