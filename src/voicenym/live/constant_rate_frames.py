"""Audio frames of one sample rate and time base, from a source that may change both."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import av
import numpy
import torch

from voicenym.dsp.low_delay_resampling import LowDelayRateChanger
from voicenym.live.frame_anonymizer import FULL_SCALE, RATES

USUAL_RATE = 48_000
"""Of calls, in Hz."""


class ConstantRateFrames:
    """Makes frames of 16 bits in one channel, with rate and time base of the first one.

    Encoders of calls take no other rate than at first. Sound of another rate is converted, some
    milliseconds later; it begins where the sound before it ended, since the clocks of two codecs
    do not tell how much time lies between them.

    Attributes:
        rate: of the frames in Hz; 0 before the first.
    """

    def __init__(self) -> None:
        self.rate = 0
        self._base: Fraction | None = None
        self._kind: tuple[int, Fraction | None] = (0, None)
        self._converter: _ExactRateConverter | None = None
        self._offset = Fraction(0)  # seconds to add to times of the source
        self._end = Fraction(0)  # of the last frame, in seconds

    def frame(self, source: Any, samples: numpy.ndarray) -> av.AudioFrame:
        """The next frame.

        Args:
            source: frame that has rate and time.
            samples: ``[time]`` at its rate; silence where that is none of :data:`RATES`.
        """
        rate, base = int(source.sample_rate), source.time_base
        if rate not in RATES:
            rate = self.rate or USUAL_RATE
        if not self.rate:
            self.rate, self._base, self._kind = rate, base, (rate, base)
        start = None if source.pts is None or base is None else source.pts * Fraction(base)
        if (rate, base) != self._kind:
            self._kind = (rate, base)
            self._converter = None if rate == self.rate else _ExactRateConverter(rate, self.rate)
            self._offset = Fraction(0) if start is None else self._end - start
        if self._converter is not None:
            samples = self._converter.push(samples)
        whole = numpy.clip(numpy.round(samples * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1)
        made = av.AudioFrame.from_ndarray(
            whole.astype(numpy.int16)[None], format="s16", layout="mono"
        )
        made.sample_rate = self.rate
        if start is not None and self._base is not None:
            begin = start + self._offset
            made.time_base, made.pts = self._base, round(begin / self._base)
            self._end = begin + Fraction(len(samples), self.rate)
        return made


class _ExactRateConverter:
    """Rate conversion that gives ``round(n * out / in)`` samples in all for ``n`` at any time."""

    def __init__(self, rate_in: int, rate_out: int) -> None:
        self._in, self._out = rate_in, rate_out
        self._changer = LowDelayRateChanger(rate_in, rate_out, 1)
        waits = self._changer.latency * rate_out // rate_in + 1
        self._ready = numpy.zeros(waits, numpy.float32)
        self._taken = self._given = 0

    def push(self, samples: numpy.ndarray) -> numpy.ndarray:
        """Samples ``[time]`` for as many at the other rate."""
        block = torch.from_numpy(numpy.ascontiguousarray(samples, numpy.float32)[None])
        ready = numpy.concatenate([self._ready, self._changer.push(block)[0].numpy()])
        self._taken += len(samples)
        count = round(Fraction(self._taken * self._out, self._in)) - self._given
        self._given += count
        self._ready = ready[count:]
        return ready[:count]
