"""The jitter buffer: order, loss, lateness, drift."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicenym.live.rtp.jitter_buffer import LATE_IN_A_ROW, JitterBuffer

PACKET, DEPTH, MOST, SIZE = 20, 60, 140, 400


def sound(number):
    """Samples of a packet; each sample of the timeline has a value of its own."""
    return numpy.arange(number * PACKET, (number + 1) * PACKET, dtype=numpy.float32) + 1


def buffer():
    return JitterBuffer(DEPTH, MOST, SIZE)


@given(
    first=st.sampled_from([0, 17, 2**32 - 50, 2**31 - 30]),
    shifts=st.lists(st.integers(0, 2), min_size=5, max_size=40),
    lost=st.sets(st.integers(1, 39)),
)
def test_packets_in_any_order_within_the_depth_come_out_in_time(first, shifts, lost):
    """Packet ``n`` arrives at tick ``n + shift``; what is lost is zeros, and nothing is old."""
    held = buffer()
    arriving = {}
    for n, shift in enumerate(shifts):
        if n not in lost:
            arriving.setdefault(n + (shift if n else 0), []).append(n)
    out = []
    for tick in range(len(shifts) + 3):
        for n in reversed(arriving.get(tick, [])):
            held.put((first + n * PACKET) % 2**32, sound(n))
        out.append(held.take(PACKET))
    wanted = [numpy.zeros(DEPTH)]
    wanted += [numpy.zeros(PACKET) if n in lost else sound(n) for n in range(len(shifts))]
    assert numpy.array_equal(numpy.concatenate(out), numpy.concatenate(wanted))
    assert held.late == held.skipped == held.jumps == 0


def test_nothing_comes_before_the_first_packet_and_after_the_last():
    held = buffer()
    assert not held.take(PACKET).any()
    held.put(1_000, sound(0))
    out = numpy.concatenate([held.take(PACKET) for _ in range(60)])
    assert numpy.array_equal(out[DEPTH : DEPTH + PACKET], sound(0))
    assert numpy.count_nonzero(out) == PACKET, "a ring that turns repeats nothing"


def test_duplicates_and_overlaps_change_nothing():
    held = buffer()
    held.put(0, sound(0))
    held.put(0, -sound(0))
    held.put(10, -sound(0))
    out = numpy.concatenate([held.take(PACKET) for _ in range(5)])[DEPTH:]
    assert numpy.array_equal(out[:PACKET], sound(0))
    assert numpy.array_equal(out[PACKET : PACKET + 10], -sound(0)[10:])
    assert held.doubled == 1


def test_late_packets_are_dropped_until_the_clock_of_the_sender_has_changed():
    held = buffer()
    held.put(0, sound(0))
    for _ in range(10):
        held.take(PACKET)
    for n in range(1, LATE_IN_A_ROW):
        held.put(n * PACKET, sound(n))
        assert not held.take(PACKET).any()
    assert held.late == LATE_IN_A_ROW - 1
    held.put(LATE_IN_A_ROW * PACKET, sound(LATE_IN_A_ROW))
    assert held.jumps == 1
    out = numpy.concatenate([held.take(PACKET) for _ in range(4)])
    assert numpy.array_equal(out[DEPTH:], sound(LATE_IN_A_ROW))


def test_the_front_of_a_packet_that_is_partly_late_is_cut():
    held = buffer()
    held.put(0, sound(0))
    held.take(DEPTH + 30)
    held.put(20, sound(1))
    assert numpy.array_equal(held.take(10), sound(1)[10:])


@pytest.mark.parametrize("jump", [10_000, -10_000, 2**31, SIZE - DEPTH])
def test_a_jump_of_timestamps_begins_a_new_timeline(jump):
    held = buffer()
    held.put(50_000, sound(0))
    held.put((50_000 + jump) % 2**32, sound(1))
    out = numpy.concatenate([held.take(PACKET) for _ in range(30)])
    assert held.jumps == 1
    assert numpy.array_equal(out[DEPTH : DEPTH + PACKET], sound(1))
    assert numpy.count_nonzero(out) == PACKET, "nothing of before the jump"


def test_a_faster_sender_is_caught_up_with_and_the_delay_is_bounded():
    held = buffer()
    n = 0
    for tick in range(400):
        for _ in range(1 + (tick % 4 == 0)):  # five packets in four ticks
            held.put(n * PACKET, sound(n))
            n += 1
        out = held.take(PACKET)
        assert held.waiting <= MOST + 2 * PACKET
        assert out.max() <= n * PACKET
        if tick > 4:
            assert out.any()
    assert held.skipped > 0
    assert held.late == 0


def test_a_packet_longer_than_the_ring_is_cut():
    held = buffer()
    held.put(0, numpy.ones(10 * SIZE, numpy.float32))
    assert held.waiting <= SIZE


def test_a_cleared_buffer_knows_nothing():
    held = buffer()
    held.put(0, sound(0))
    held.clear()
    assert not numpy.concatenate([held.take(PACKET) for _ in range(30)]).any()


def test_sizes_must_rise():
    with pytest.raises(ValueError, match="rise"):
        JitterBuffer(10, 5, 100)
