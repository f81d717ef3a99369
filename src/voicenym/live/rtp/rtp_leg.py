"""Leg of a call: RTP from one peer and to it, over one UDP port."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy

from voicenym.errors import VoicenymError
from voicenym.live.rtp import rtcp, rtp_packet
from voicenym.live.rtp.jitter_buffer import JitterBuffer
from voicenym.live.rtp.rtcp import HeardReport, SentSoFar
from voicenym.live.rtp.rtp_packet import RtpPacket
from voicenym.live.rtp.rtp_payload import RtpPayload
from voicenym.live.rtp.rtp_source import Arrival, RtpSource

LOOPBACK = "127.0.0.1"
LONGEST_DATAGRAM = 65_536
MOST_AT_ONCE = 256
"""Datagrams that are read at once, so that a flood does not keep the sender waiting."""
_MOST_ERRORS = 8
RING_SECONDS = 1.0
"""Length of the jitter buffer's ring; a packet farther ahead begins a new timeline."""
SPARE_SECONDS = 0.1
"""Time beyond twice the depth that may wait in the jitter buffer."""


@dataclass
class LegCounters:
    """Datagrams of one leg, by what became of them.

    Attributes:
        received: RTP packets of the valid source.
        probation: of a source that is not valid yet.
        strangers: datagrams of other addresses than the peer's.
        malformed: those that are no RTP of this payload.
        other: packets of other payload types (comfort noise, tones), and without payload.
        stray: packets out of all order.
        looped: our own packets, sent back.
        unsent: packets that the system did not take.
        streams: sources that became valid, and senders that began anew.
    """

    received: int = 0
    probation: int = 0
    strangers: int = 0
    malformed: int = 0
    other: int = 0
    stray: int = 0
    looped: int = 0
    unsent: int = 0
    streams: int = 0


@dataclass(frozen=True)
class LegAddress:
    """Where a leg listens, and its only peer.

    Args:
        host, port: own address; port 0 for any free even one.
        peer_host: name or IP address of the peer.
        peer_port: None for that of the peer's first valid stream.
        options: of the command that gave them, for messages.
    """

    host: str
    port: int
    peer_host: str
    peer_port: int | None = None
    options: tuple[str, str] = ("--rtp", "--rtp-peer")


class RtpLeg:
    """Receives the peer's stream into a jitter buffer, and sends packets to it.

    RTP is symmetrical (RFC 4961): packets go out of the port that they come in at. Reports (RTCP)
    use the next port. Datagrams of other addresses are dropped, whatever they hold.

    Args:
        address: own and the peer's.
        payload: of both directions.
        depth: of the jitter buffer in samples.
        clock: seconds, rising.

    Attributes:
        counters: of datagrams.
        buffer: of samples.

    Raises:
        VoicenymError: the port is taken, or the peer's name is unknown.
    """

    def __init__(
        self,
        address: LegAddress,
        payload: RtpPayload,
        depth: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.payload, self._clock = payload, clock
        self.counters = LegCounters()
        rate = payload.rate
        self.buffer = JitterBuffer(
            depth, 2 * depth + round(SPARE_SECONDS * rate), 2 * depth + round(RING_SECONDS * rate)
        )
        family, self._peer_host = _resolved(address)
        self._peer_port = address.peer_port
        self.socket, self._reports, self.port = _bound(family, address)
        self._began = clock()
        self._heard_at: float | None = None
        self._source: RtpSource | None = None
        self._candidate: tuple[int, RtpSource] | None = None  # with its port
        self._heard = HeardReport()
        self._name = rtcp.random_name()
        self._ssrc = secrets.randbits(32)
        self._sequence, self._timestamp = secrets.randbits(16), secrets.randbits(32)
        self._packets = self._octets = 0
        self._collided = False
        self._report_at = self._began + rtcp.interval() / 2

    def close(self) -> None:
        """Say goodbye and close the ports."""
        with suppress(OSError):
            if self._packets:
                self._send_report(rtcp.goodbye(self._sent(), self._name))
        self.socket.close()
        self._reports.close()

    # Receiving

    def receive(self) -> bool:
        """Read what has come; True if a new stream began."""
        fresh = False
        for _ in range(MOST_AT_ONCE):
            found = _datagram(self.socket)
            if found is None:
                break
            data, host, port = found
            if host != self._peer_host or self._peer_port not in (None, port):
                self.counters.strangers += 1
                continue
            packet = rtp_packet.parsed(data)
            if packet is None:
                self.counters.malformed += 1
            elif packet.payload_type != self.payload.payload_type or not packet.payload:
                self.counters.other += 1
                if self._source is not None and packet.ssrc == self._source.ssrc:
                    self._source.passed(packet.sequence)
                    self._heard_at = self._clock()
            elif len(packet.payload) % self.payload.width:
                self.counters.malformed += 1
            elif packet.ssrc == self._ssrc:
                self._collision()
            else:
                fresh |= self._accept(packet, port)
        self._receive_reports()
        return fresh

    def drain(self) -> None:
        """Drop what came before the session."""
        while _datagram(self.socket) or _datagram(self._reports):
            pass

    def quiet_for(self) -> float:
        """Seconds since the last packet of the stream, or since the start."""
        return self._clock() - (self._began if self._heard_at is None else self._heard_at)

    @property
    def source(self) -> RtpSource | None:
        """Statistics of the peer's stream; None before it is valid."""
        return self._source

    def take(self, count: int) -> numpy.ndarray:
        """The next samples ``[count]`` of the peer; zeros where packets are missing."""
        return self.buffer.take(count)

    def _accept(self, packet: RtpPacket, port: int) -> bool:
        """Note a packet of the peer; True if it begins a new stream."""
        now = self._clock()
        source = self._source
        if source is None or packet.ssrc != source.ssrc:
            known = self._candidate
            if known is None or known[1].ssrc != packet.ssrc or known[0] != port:
                known = (port, RtpSource(packet.ssrc, packet.sequence, self.payload.rate))
            self._candidate = known
            source = known[1]
        arrival = source.arrived(packet.sequence)
        if arrival is Arrival.PROBATION:
            self.counters.probation += 1
            return False
        if arrival is Arrival.STRAY:
            self.counters.stray += 1
            return False
        fresh = arrival is not Arrival.IN_STREAM
        if fresh:
            self.counters.streams += 1
            self._source, self._candidate, self._peer_port = source, None, port
            self.buffer.clear()
        self.counters.received += 1
        source.timed(packet.timestamp, now)
        self.buffer.put(packet.timestamp, self.payload.decode(packet.payload))
        self._heard_at = now
        return fresh

    def _collision(self) -> None:
        """The peer's SSRC is ours: another one once (RFC 3550, 8.2); then it is a loop."""
        self.counters.looped += 1
        if not self._collided:
            self._collided = True
            with suppress(OSError):
                self._send_report(rtcp.goodbye(self._sent(), self._name))
            self._ssrc = secrets.randbits(32)
            self._packets = self._octets = 0

    def _receive_reports(self) -> None:
        for _ in range(MOST_AT_ONCE):
            found = _datagram(self._reports)
            if found is None:
                return
            data, host, port = found
            if host != self._peer_host or self._peer_port not in (None, port - 1):
                self.counters.strangers += 1
                continue
            heard = rtcp.heard(data, self._clock() - self._began, self._heard)
            if heard is None:
                self.counters.malformed += 1
                continue
            self._heard = heard
            if self._source is not None and self._source.ssrc in heard.left:
                self._source = None
                self.buffer.clear()

    # Sending

    def send(self, samples: numpy.ndarray) -> None:
        """Send a packet of samples ``[time]``, and reports when they are due."""
        payload = self.payload.encode(samples)
        packet = RtpPacket(
            self.payload.payload_type, self._sequence, self._timestamp, self._ssrc, payload
        )
        self._sequence = (self._sequence + 1) & 0xFFFF
        self._timestamp = (self._timestamp + len(samples)) & 0xFFFFFFFF
        if self._peer_port is None:
            return  # not known yet
        try:
            self.socket.sendto(packet.packed(), (self._peer_host, self._peer_port))
        except OSError:
            self.counters.unsent += 1
            return
        self._packets += 1
        self._octets += len(payload)
        if self._clock() >= self._report_at:
            self._report_at = self._clock() + rtcp.interval()
            with suppress(OSError):
                self._send_report(rtcp.report(self._sent(), self._source, self._name, self._heard))

    def _sent(self) -> SentSoFar:
        elapsed = self._clock() - self._began
        return SentSoFar(self._ssrc, elapsed, self._timestamp, self._packets, self._octets)

    def _send_report(self, data: bytes) -> None:
        if self._peer_port is not None and self._peer_port < 65_535:
            self._reports.sendto(data, (self._peer_host, self._peer_port + 1))


def _datagram(own: socket.socket) -> tuple[bytes, str, int] | None:
    """The next datagram with its sender's address and port; None if none waits."""
    for _ in range(_MOST_ERRORS):
        try:
            data, address = own.recvfrom(LONGEST_DATAGRAM)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:  # such as a peer's port that is closed: ICMP comes back
            continue
        return data, _plain(address[0]), address[1]
    return None


def _plain(host: str) -> str:
    """An IP address in one way of writing, without the name of an interface."""
    return str(ipaddress.ip_address(host.partition("%")[0]))


def _resolved(address: LegAddress) -> tuple[int, str]:
    """Family and IP address of the peer.

    Raises:
        VoicenymError: its name is unknown.
    """
    try:
        found = socket.getaddrinfo(
            address.peer_host, address.peer_port or 0, type=socket.SOCK_DGRAM
        )
    except OSError as error:
        raise VoicenymError(
            f"{address.options[1]} {address.peer_host}: {error.strerror or error}; give the IP "
            "address of the switch"
        ) from None
    return found[0][0], _plain(str(found[0][4][0]))


def _bound(family: int, address: LegAddress) -> tuple[socket.socket, socket.socket, int]:
    """Sockets of RTP and of its reports, on neighbouring ports, and the first port.

    Raises:
        VoicenymError: they cannot be had.
    """
    host = address.host
    if family == socket.AF_INET6 and host == LOOPBACK:
        host = "::1"
    why = "no free ports"
    for _ in range(64 if address.port == 0 else 1):
        port = address.port or 2 * (5_000 + secrets.randbelow(27_000))
        made = []
        try:
            for one in (port, port + 1):
                made.append(socket.socket(family, socket.SOCK_DGRAM))
                made[-1].setblocking(False)
                made[-1].bind((host, one))
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error)
            for own in made:
                own.close()
            continue
        return made[0], made[1], port
    raise VoicenymError(
        f"{address.options[0]} {host}:{address.port}: {why}; RTP needs this UDP port and the next "
        "one, at an address of this machine"
    )
