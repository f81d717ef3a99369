"""Validity, loss and jitter of a sender, and the reports on it."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicenym.live.rtp import rtcp
from voicenym.live.rtp.rtcp import HeardReport, SentSoFar
from voicenym.live.rtp.rtp_source import Arrival, RtpSource

RATE = 8_000


def valid(first=100):
    source = RtpSource(1, first, RATE)
    assert source.arrived(first) is Arrival.PROBATION
    assert source.arrived((first + 1) % 65_536) is Arrival.FIRST
    return source


@given(first=st.integers(0, 65_535), count=st.integers(1, 300), drop=st.sets(st.integers(1, 299)))
def test_losses_are_counted_over_the_wrap_of_numbers(first, count, drop):
    source = valid(first)
    sent = [n for n in range(1, count + 1) if n not in drop]
    for n in sent:
        assert source.arrived((first + 1 + n) % 65_536) is Arrival.IN_STREAM
    last = sent[-1] if sent else 0
    assert source.lost == last - len(sent)
    wraps = (first + 1 + last) // 65_536 - (first + 1) // 65_536
    assert source.extended_highest == wraps * 65_536 + (first + 1 + last) % 65_536
    missing = last + 1 - (len(sent) + 1)
    assert source.fraction_lost() == missing * 256 // (last + 1)
    assert source.fraction_lost() == 0, "since the last call"


def test_reordered_packets_are_of_the_stream_and_not_lost():
    source = valid(10)
    for n in (14, 12, 13, 15):
        assert source.arrived(n) is Arrival.IN_STREAM
    assert source.lost == 0


def test_a_source_is_valid_after_two_packets_in_sequence():
    source = RtpSource(1, 5, RATE)
    found = [source.arrived(n) for n in (5, 90, 7, 8)]
    assert found == [Arrival.PROBATION] * 3 + [Arrival.FIRST]


def test_a_far_jump_is_stray_once_and_a_new_start_twice():
    source = valid(10)
    assert source.arrived(20_000) is Arrival.STRAY
    assert source.arrived(12) is Arrival.IN_STREAM
    assert source.arrived(30_000) is Arrival.STRAY
    assert source.arrived(30_001) is Arrival.RESTARTED
    assert (source.received, source.lost) == (1, 0)


def test_jitter_is_the_smoothed_change_of_the_transit_time():
    source = valid()
    for n in range(50):
        source.timed(160 * n, 0.02 * n)
    assert source.jitter == pytest.approx(0.0, abs=1e-6)
    late = [0.010 * (n % 2) for n in range(400)]
    for n, by in enumerate(late):
        source.timed(160 * (50 + n), 0.02 * (50 + n) + by)
    assert source.jitter == pytest.approx(80.0, rel=0.01)  # 10 ms at 8 kHz
    before = source.jitter
    source.timed(5, 0.02 * 450)  # timestamps wrapped or jumped
    assert abs(source.jitter - before) < 8_000


def test_reports_hold_what_is_known_of_both_ways():
    source = valid(65_530)
    for n in (65_532, 65_533, 1):
        source.arrived(n)
    sent = SentSoFar(0xAABBCCDD, 12.5, 4_000, 625, 100_000)
    data = rtcp.report(sent, source, "name", HeardReport(0x01020304, 12.0))
    assert len(data) % 4 == 0
    words = struct.unpack_from("!13I", data)
    assert words[0] == 0x81C8000C  # version 2, one block, sender report, 13 words
    assert words[1:7] == (0xAABBCCDD, 12, 2**31, 4_000, 625, 100_000)
    assert words[7] == 1
    lost = 4  # of 65531 to 65537, which is 1 in the next cycle: 7 packets, 4 of which came
    assert words[8] & 0xFFFFFF == source.lost == 7 - 4 == lost - 1
    assert words[9] == 65_536 + 1
    assert words[11:13] == (0x01020304, 32_768)
    assert data[52:56] == b"\x81\xca\x00\x03"
    assert data[60:66] == b"\x01\x04name"


def test_a_report_and_a_goodbye_are_understood_by_their_receiver():
    sent = SentSoFar(77, 3.25, 1, 2, 3)
    found = rtcp.heard(rtcp.goodbye(sent, rtcp.random_name()), 9.0, HeardReport())
    assert found == HeardReport(3 << 16 | 1 << 14, 9.0, (77,))


@given(data=st.binary(max_size=80))
def test_any_bytes_are_a_report_or_none(data):
    before = HeardReport()
    for packet in (data, b"\x80\xc9\x00\x01abcd" + data):
        found = rtcp.heard(packet, 9.0, before)
        assert found is None or found.at in (before.at, 9.0)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x80", b"\x80\xca\x00\x00", b"\x80\xc8\x00\x01abcd", b"\x80\xc9\x00\x05abcd"],
)
def test_malformed_reports_are_none(data):
    assert rtcp.heard(data, 0.0, HeardReport()) is None


def test_intervals_and_names_are_drawn():
    drawn = {rtcp.interval() for _ in range(50)}
    assert len(drawn) > 40
    assert min(drawn) >= 2.5 / 1.22
    assert max(drawn) <= 7.5 / 1.21
    assert rtcp.random_name() != rtcp.random_name()
