"""RTP packets and payloads."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicenym.audio import telephone_codecs
from voicenym.errors import VoicenymError
from voicenym.live.rtp.rtp_packet import RtpPacket, parsed
from voicenym.live.rtp.rtp_payload import payload

words = st.integers(0, 2**32 - 1)


@given(
    kind=st.sampled_from([0, 8, 11, 96, 127]),
    sequence=st.integers(0, 65535),
    timestamp=words,
    ssrc=words,
    data=st.binary(max_size=200),
    marker=st.booleans(),
)
def test_a_packet_survives_the_wire(kind, sequence, timestamp, ssrc, data, marker):
    packet = RtpPacket(kind, sequence, timestamp, ssrc, data, marker)
    assert parsed(packet.packed()) == packet


def test_sources_extension_and_padding_are_skipped():
    plain = RtpPacket(0, 7, 8, 9, b"sound").packed()
    fixed, sound = plain[:12], plain[12:]
    whole = (
        bytes([0x80 | 0x20 | 0x10 | 2]) + fixed[1:]
        + b"\0" * 8  # two contributing sources
        + b"\xbe\xde\x00\x01abcd"  # an extension of one word
        + sound + b"\0\0\x03"
    )  # fmt: skip
    assert parsed(whole) == RtpPacket(0, 7, 8, 9, b"sound")


@given(data=st.binary(max_size=64))
def test_any_bytes_are_a_packet_or_none(data):
    packet = parsed(data)
    assert packet is None or len(packet.payload) <= len(data) - 12


@pytest.mark.parametrize(
    "data",
    [
        b"",
        RtpPacket(0, 1, 2, 3, b"").packed()[:11],
        b"\x00" + RtpPacket(0, 1, 2, 3, b"x").packed()[1:],  # version 0
        b"\x82" + RtpPacket(0, 1, 2, 3, b"x").packed()[1:],  # two sources that are not there
        b"\x90" + RtpPacket(0, 1, 2, 3, b"\0\0\xff\xff").packed()[1:],  # a longer extension
        b"\x90" + RtpPacket(0, 1, 2, 3, b"\0").packed()[1:],
        b"\xa0" + RtpPacket(0, 1, 2, 3, b"xx\x09").packed()[1:],  # more padding than there is
        b"\xa0" + RtpPacket(0, 1, 2, 3, b"xx\x00").packed()[1:],
        b"\x81\xc9" + bytes(30),  # a receiver report
    ],
)
def test_malformed_packets_are_none(data):
    assert parsed(data) is None


@pytest.mark.parametrize(
    ("name", "function"), [("pcma", telephone_codecs.a_law), ("pcmu", telephone_codecs.mu_law)]
)
def test_g711_is_that_of_the_telephone_line(name, function):
    values = numpy.random.default_rng(0).uniform(-1, 1, 5_000).astype(numpy.float32)
    found = payload(name)
    data = found.encode(values)
    assert len(data) == len(values)
    assert numpy.array_equal(found.decode(data), function(values))


def test_payload_types_are_those_of_the_standard():
    assert [(payload(n).payload_type, payload(n).rate) for n in ("pcmu", "pcma")] == [
        (0, 8000),
        (8, 8000),
    ]
    assert payload("l16", 44_100).payload_type == 11
    assert (payload("l16").payload_type, payload("l16").rate) == (96, 16_000)
    assert payload("l16", 48_000, 99).payload_type == 99
    assert payload("l16").encode(numpy.float32([0.5, -1.0, 1.0])) == b"\x40\x00\x80\x00\x7f\xff"
    numpy.testing.assert_array_equal(payload("l16").decode(b"\x40\x00\x80\x00"), [0.5, -1.0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("opus",), "pcmu, pcma or l16"),
        (("pcmu", 16_000), "pcmu has 8000 Hz"),
        (("l16", 16_000, 200), "0 to 127"),
    ],
)
def test_what_is_no_payload_is_refused(given, message):
    with pytest.raises(VoicenymError, match=message):
        payload(*given)
