"""Sender of RTP as its receiver sees it: validity, loss and jitter (RFC 3550, appendix A)."""

from __future__ import annotations

from enum import Enum

MAX_DROPOUT = 3000
"""Largest jump ahead of sequence numbers within one stream (A.1)."""
MAX_MISORDER = 100
"""Largest step back (A.1)."""
MIN_SEQUENTIAL = 2
"""Packets in sequence after which a source is valid (A.1)."""
_CYCLE = 1 << 16


class Arrival(Enum):
    """What a packet is, by its sequence number."""

    PROBATION = "of a source that is not valid yet"
    FIRST = "of a source that is valid from now on"
    IN_STREAM = "of the stream, in order or not"
    STRAY = "out of all order"
    RESTARTED = "of a sender that began anew"


class RtpSource:
    """Statistics of one sender.

    Args:
        ssrc: of the sender.
        sequence: of its first packet.
        rate: of its timestamps in Hz.

    Attributes:
        jitter: interarrival jitter in samples (A.8).
        received: packets since the source was valid.
    """

    def __init__(self, ssrc: int, sequence: int, rate: int) -> None:
        self.ssrc, self._rate = ssrc, rate
        self._probation = MIN_SEQUENTIAL
        self._highest = (sequence - 1) % _CYCLE
        self._transit: float | None = None
        self._begin(sequence)
        self._highest = (sequence - 1) % _CYCLE

    def _begin(self, sequence: int) -> None:
        """``init_seq`` of A.1."""
        self._base, self._highest, self._cycles = sequence, sequence, 0
        self._bad: int | None = None
        self.received = self._received_before = self._expected_before = 0
        self.jitter = 0.0

    def arrived(self, sequence: int) -> Arrival:
        """Note a packet (``update_seq`` of A.1)."""
        ahead = (sequence - self._highest) % _CYCLE
        if self._probation:
            if ahead != 1:
                self._probation = MIN_SEQUENTIAL - 1
                self._highest = sequence
                return Arrival.PROBATION
            self._probation -= 1
            self._highest = sequence
            if self._probation:
                return Arrival.PROBATION
            self._begin(sequence)
            self.received = 1
            return Arrival.FIRST
        if ahead < MAX_DROPOUT:
            if sequence < self._highest:
                self._cycles += _CYCLE
            self._highest = sequence
        elif ahead <= _CYCLE - MAX_MISORDER:
            if sequence != self._bad:  # two of them in sequence: the sender began anew
                self._bad = (sequence + 1) % _CYCLE
                return Arrival.STRAY
            self._begin(sequence)
            self.received, self._transit = 1, None
            return Arrival.RESTARTED
        self.received += 1
        return Arrival.IN_STREAM

    def passed(self, sequence: int) -> None:
        """Note a packet of the stream without sound of ours, such as comfort noise: all packets of
        a sender have one order of numbers. One out of all order says nothing.
        """
        if not self._probation and (
            not MAX_DROPOUT <= (sequence - self._highest) % _CYCLE <= _CYCLE - MAX_MISORDER
        ):
            self.arrived(sequence)

    def timed(self, timestamp: int, now: float) -> None:
        """Note when a packet of this timestamp arrived, in seconds (A.8)."""
        transit = now * self._rate - timestamp
        if self._transit is not None:
            change = abs(transit - self._transit)
            if change < _CYCLE:  # timestamps that wrap are no jitter
                self.jitter += (change - self.jitter) / 16.0
        self._transit = transit

    @property
    def extended_highest(self) -> int:
        """Highest sequence number with its cycles, 32 bits."""
        return (self._cycles + self._highest) & 0xFFFFFFFF

    @property
    def lost(self) -> int:
        """Packets expected less those received; duplicates make it negative (A.3)."""
        return self._cycles + self._highest - self._base + 1 - self.received

    def fraction_lost(self) -> int:
        """Share of packets lost since the last call, of 256 (A.3)."""
        expected = self._cycles + self._highest - self._base + 1
        since = expected - self._expected_before
        received = self.received - self._received_before
        self._expected_before, self._received_before = expected, self.received
        missing = since - received
        return 0 if since <= 0 or missing <= 0 else min(255, (missing << 8) // since)
