"""RTP packets (RFC 3550, section 5.1): bytes of a datagram to fields, and back."""

from __future__ import annotations

import struct
from dataclasses import dataclass

VERSION = 2
HEADER = struct.Struct("!BBHII")
_RTCP_TYPES = range(72, 77)
"""Payload types that would make an RTP packet look like one of RTCP (RFC 5761, section 4)."""


@dataclass(frozen=True)
class RtpPacket:
    """One packet.

    Args:
        payload_type: 0 to 127.
        sequence: 16 bits.
        timestamp: of the first sample, 32 bits, in samples.
        ssrc: of the sender, 32 bits.
        payload: without padding.
        marker: the marker bit.
    """

    payload_type: int
    sequence: int
    timestamp: int
    ssrc: int
    payload: bytes
    marker: bool = False

    def packed(self) -> bytes:
        """The datagram, without contributing sources, extension and padding."""
        return (
            HEADER.pack(
                VERSION << 6,
                self.marker << 7 | self.payload_type,
                self.sequence & 0xFFFF,
                self.timestamp & 0xFFFFFFFF,
                self.ssrc & 0xFFFFFFFF,
            )
            + self.payload
        )


def parsed(data: bytes) -> RtpPacket | None:
    """The packet in a datagram; None if it is malformed (the checks of RFC 3550, A.1).

    Contributing sources, header extension and padding are skipped.
    """
    if len(data) < HEADER.size:
        return None
    first, second, sequence, timestamp, ssrc = HEADER.unpack_from(data)
    kind = second & 0x7F
    if first >> 6 != VERSION or kind in _RTCP_TYPES:
        return None
    start, end = HEADER.size + 4 * (first & 0x0F), len(data)
    if first & 0x10:  # an extension follows
        if start + 4 > end:
            return None
        start += 4 + 4 * int.from_bytes(data[start + 2 : start + 4], "big")
    if start > end:
        return None
    if first & 0x20:  # the last octet counts those of the padding, itself included
        padding = data[-1]
        if not 0 < padding <= end - start:
            return None
        end -= padding
    return RtpPacket(kind, sequence, timestamp, ssrc, data[start:end], bool(second & 0x80))
