"""A telephone switch for tests: a UDP port that sends and takes RTP."""

from __future__ import annotations

import socket

import numpy
from awaited import PATIENCE

from voicenym.live.rtp.rtp_packet import RtpPacket, parsed
from voicenym.live.rtp.rtp_payload import RtpPayload


class Peer:
    """One end of a leg, at 127.0.0.1.

    Args:
        payload: of its packets.
        ssrc: of its stream.

    Attributes:
        address: its port's.
        sent: packets so far.
    """

    def __init__(self, payload: RtpPayload, ssrc: int = 1234) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(PATIENCE)
        self.address = self.socket.getsockname()
        self.payload, self.ssrc = payload, ssrc
        self.sequence, self.timestamp, self.sent = 65_530, 2**32 - 800, 0

    def packet(self, samples: numpy.ndarray) -> bytes:
        """The next packet of its stream."""
        made = RtpPacket(
            self.payload.payload_type, self.sequence, self.timestamp, self.ssrc,
            self.payload.encode(samples),
        ).packed()  # fmt: skip
        self.sequence = (self.sequence + 1) % 2**16
        self.timestamp = (self.timestamp + len(samples)) % 2**32
        self.sent += 1
        return made

    def send(self, data: bytes, port: int) -> None:
        self.socket.sendto(data, ("127.0.0.1", port))

    def heard(self) -> list[RtpPacket]:
        """Packets that wait."""
        self.socket.setblocking(False)
        found = []
        while True:
            try:
                packet = parsed(self.socket.recv(65_536))
            except BlockingIOError:
                return found
            assert packet is not None
            found.append(packet)

    def samples(self) -> numpy.ndarray:
        """Samples of the packets that wait."""
        parts = [self.payload.decode(packet.payload) for packet in self.heard()]
        return numpy.concatenate([numpy.zeros(0, numpy.float32), *parts])

    def close(self) -> None:
        self.socket.close()
