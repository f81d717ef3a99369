"""Loopback chirp: the delay of a line, found by cross-correlation."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from collections.abc import Callable

PERIOD = 1.0
"""Seconds from one chirp to the next: the longest delay that can be found."""
CHIRP = 0.1
"""Length of a chirp in seconds."""
CLEAR = 0.5
"""Normalised correlation from which a chirp counts as heard."""


def chirp(rate: int) -> numpy.ndarray:
    """Linear sweep from 300 Hz to 0.4 of the rate, at most 6 kHz: ``[time]`` float32."""
    count = round(CHIRP * rate)
    frequency = numpy.linspace(300.0, min(6000.0, 0.4 * rate), count)
    phase = 2.0 * numpy.pi * numpy.cumsum(frequency) / rate
    return (0.3 * numpy.hanning(count) * numpy.sin(phase)).astype(numpy.float32)


def found_delay(heard: numpy.ndarray, sent: numpy.ndarray) -> int | None:
    """Samples by which ``sent`` lies behind the start of ``heard``; None if it is not in it.

    Args:
        heard: ``[time]``, longer than ``sent``.
        sent: ``[time]``.
    """
    size = 1 << (len(heard) + len(sent)).bit_length()
    spectrum = numpy.fft.rfft(heard, size) * numpy.fft.rfft(sent, size).conj()
    lags = len(heard) - len(sent) + 1
    products = numpy.fft.irfft(spectrum, size)[:lags]
    energy = numpy.cumsum(numpy.concatenate([[0.0], numpy.square(heard, dtype=numpy.float64)]))
    local = energy[len(sent) :] - energy[:lags]
    floor = 1e-9 * float(numpy.dot(sent, sent))
    clarity = numpy.abs(products) / numpy.sqrt((local + floor) * float(numpy.dot(sent, sent)))
    best = int(numpy.argmax(clarity))
    return best if clarity[best] >= CLEAR else None


class LoopbackProbe:
    """Plays chirps into a line instead of what a session gives, and finds them in that.

    The session gets the line's sound twice, to be hidden and to pass. The passing copy is delayed
    exactly as the hidden one, so the delay found is that of both devices, blocks, queues and
    system together. Nothing of the input goes out.

    Args:
        take: the session's output, ``[count, channel]``, of which the last channel passes.
        rate: sample rate in Hz.

    Attributes:
        delays: found ones, in seconds.
        missed: chirps that were not found.
    """

    def __init__(self, take: Callable[[int], numpy.ndarray], rate: int) -> None:
        self.delays: list[float] = []
        self.missed = 0
        self._take, self._rate = take, rate
        self._chirp = chirp(rate)
        self._period = round(PERIOD * rate)
        self._played = 0
        self._windows: deque[numpy.ndarray] = deque()
        self._parts: list[numpy.ndarray] = []
        self._kept = 0
        signal = numpy.zeros(self._period, numpy.float32)
        signal[: len(self._chirp)] = self._chirp
        self._signal = signal

    def outgoing(self, count: int) -> numpy.ndarray:
        """The next samples to play, ``[count, 1]``; called by the output device."""
        heard = self._take(count)[:, -1]
        places = (self._played + numpy.arange(count)) % self._period
        self._played += count
        self._parts.append(heard)
        self._kept += count
        if self._kept >= self._period + len(self._chirp):
            joined = numpy.concatenate(self._parts)
            self._windows.append(joined[: self._period + len(self._chirp)])
            self._parts = [joined[self._period :]]
            self._kept = len(self._parts[0])
        return self._signal[places, None]

    def evaluate(self) -> None:
        """Find the chirps of the periods that have passed."""
        while self._windows:
            delay = found_delay(self._windows.popleft(), self._chirp)
            if delay is None:
                self.missed += 1
            else:
                self.delays.append(delay / self._rate)
