"""Reports beside an RTP stream: of sender and receiver, CNAME, goodbye (RFC 3550, section 6)."""

from __future__ import annotations

import secrets
import struct
from dataclasses import dataclass

from voicenym.live.rtp.rtp_packet import VERSION
from voicenym.live.rtp.rtp_source import RtpSource

SENDER, RECEIVER, DESCRIPTION, BYE = 200, 201, 202, 203
_CNAME = 1
_LEAST_SECONDS = 5.0
_COMPENSATION = 1.21828
"""``e - 3/2``, by which the timer's reconsideration shortens intervals (6.3.1)."""


def interval() -> float:
    """Seconds to the next report of a session of two: 0.5 to 1.5 times five, drawn (6.3.1)."""
    return _LEAST_SECONDS * (0.5 + secrets.randbelow(10**6) / 10**6) / _COMPENSATION


def random_name() -> str:
    """A CNAME that names nobody and lasts for a session (RFC 7022, 4.2)."""
    return secrets.token_urlsafe(12)


@dataclass(frozen=True)
class SentSoFar:
    """What a sender reports of itself.

    Args:
        ssrc: its own.
        elapsed: seconds of the session; the report's time stamp, so that the clock of the machine
            stays unknown.
        timestamp: of RTP at that time.
        packets, octets: sent, octets of payload.
    """

    ssrc: int
    elapsed: float
    timestamp: int
    packets: int
    octets: int


def report(sent: SentSoFar, source: RtpSource | None, name: str, heard: HeardReport) -> bytes:
    """Compound packet of a sender report, with one block of the source, and a CNAME."""
    blocks = b"" if source is None else _block(source, sent.elapsed, heard)
    body = struct.pack(
        "!IIIIII",
        sent.ssrc,
        int(sent.elapsed) & 0xFFFFFFFF,
        int(sent.elapsed % 1.0 * 2**32) & 0xFFFFFFFF,
        sent.timestamp & 0xFFFFFFFF,
        sent.packets & 0xFFFFFFFF,
        sent.octets & 0xFFFFFFFF,
    )
    return _packet(SENDER, len(blocks) // 24, body + blocks) + _described(sent.ssrc, name)


def goodbye(sent: SentSoFar, name: str) -> bytes:
    """Compound packet of a sender report and BYE."""
    return report(sent, None, name, HeardReport()) + _packet(BYE, 1, struct.pack("!I", sent.ssrc))


@dataclass(frozen=True)
class HeardReport:
    """What the peer reported last.

    Args:
        last: middle 32 bits of the NTP time stamp of its sender report, 0 for none.
        at: seconds of our session when it came.
        left: SSRCs that said goodbye.
    """

    last: int = 0
    at: float = 0.0
    left: tuple[int, ...] = ()


def heard(data: bytes, now: float, before: HeardReport) -> HeardReport | None:
    """What a compound packet says; None if it is malformed (A.2).

    Args:
        data: datagram.
        now: seconds of our session.
        before: what was known.
    """
    last, at = before.last, before.at
    left: list[int] = []
    place = 0
    while place < len(data):
        if place + 4 > len(data):
            return None
        first, kind, words = struct.unpack_from("!BBH", data, place)
        end = place + 4 * (words + 1)
        allowed = (SENDER, RECEIVER) if place == 0 else range(200, 224)
        if first >> 6 != VERSION or kind not in allowed or end > len(data):
            return None
        body = data[place + 4 : end]
        if kind == SENDER:
            if len(body) < 24:
                return None
            last, at = int.from_bytes(body[6:10], "big"), now
        elif kind == BYE:
            count = first & 0x1F
            if len(body) < 4 * count:
                return None
            left += struct.unpack_from(f"!{count}I", body)
        place = end
    return HeardReport(last, at, tuple(left)) if data else None


def _block(source: RtpSource, now: float, heard: HeardReport) -> bytes:
    lost = max(-(1 << 23), min((1 << 23) - 1, source.lost)) & 0xFFFFFF
    since = int((now - heard.at) * 65_536) if heard.last else 0
    return struct.pack(
        "!IIIIII",
        source.ssrc,
        source.fraction_lost() << 24 | lost,
        source.extended_highest,
        int(source.jitter) & 0xFFFFFFFF,
        heard.last,
        since & 0xFFFFFFFF,
    )


def _described(ssrc: int, name: str) -> bytes:
    text = name.encode("ascii")
    chunk = struct.pack("!IBB", ssrc, _CNAME, len(text)) + text
    chunk += b"\0" * (4 - len(chunk) % 4)  # at least one ends the list
    return _packet(DESCRIPTION, 1, chunk)


def _packet(kind: int, count: int, body: bytes) -> bytes:
    return struct.pack("!BBH", VERSION << 6 | count, kind, len(body) // 4) + body
