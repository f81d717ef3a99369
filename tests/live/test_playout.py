"""The queue before an output device."""

from __future__ import annotations

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicenym.live.playout import Playout


def ramp(start, count):
    return numpy.arange(start, start + count, dtype=numpy.float32)[:, None]


@given(
    latency=st.integers(0, 50),
    hops=st.integers(1, 40),
    pushes=st.lists(st.integers(1, 60), min_size=1, max_size=40),
)
def test_no_sample_is_missing_where_pushes_keep_pace(latency, hops, pushes):
    """A stream that gives multiples of its hop, as late as its latency allows."""
    block = max(pushes)
    playout = Playout(1)
    playout.start(latency + hops, block)
    pushed = returned = 0
    out = []
    for count in pushes:
        pushed += count
        ready = max(0, pushed - latency) // hops * hops
        playout.append(ramp(returned + 1, ready - returned), count)
        returned = ready
        if pushed >= block:
            out.append(playout.take(count)[:, 0])
    found = numpy.concatenate(out) if out else numpy.zeros(0)
    sounding = found[found > 0]
    assert playout.dropouts == 0
    assert (sounding == numpy.arange(1, len(sounding) + 1)).all()


def test_missing_samples_are_zeros_and_each_block_of_them_counts():
    playout = Playout(1)
    playout.start(0, 10)
    playout.append(ramp(1, 10), 10)
    assert playout.take(6).ravel().tolist() == [1, 2, 3, 4, 5, 6]
    assert playout.take(6).ravel().tolist() == [7, 8, 9, 10, 0, 0]
    assert not playout.take(6).any()  # it fills again
    playout.append(ramp(11, 4), 4)
    assert not playout.take(4).any()
    playout.append(ramp(15, 6), 6)
    assert playout.take(3).ravel().tolist() == [11, 12, 13]
    assert (playout.blocks, playout.dropouts) == (5, 3)


@given(
    latency=st.integers(0, 60),
    block=st.integers(1, 20),
    prefill=st.integers(1, 60),
    late=st.integers(0, 2),
)
def test_playing_starts_with_the_prefill_where_blocks_do_not_end_there(
    latency, block, prefill, late
):
    """The delay is latency and prefill; zeros ahead of the sound are what is left out."""
    playout = Playout(1)
    playout.start(latency, prefill)
    blocks = -(-prefill // block) + late
    if blocks * block > 3 * prefill:
        return  # dropped as from an input that is faster
    for number in range(blocks):
        playout.append(ramp(1 + number * block, block), block)
    found = playout.take(latency + blocks * block)[:, 0]
    surplus = min(latency, blocks * block - prefill)
    sound = numpy.arange(1, blocks * block + 1)
    assert (found[latency - surplus : latency - surplus + len(sound)] == sound).all()
    assert not found[: latency - surplus].any()
    assert playout.skipped == 0


def test_after_a_dropout_no_sound_is_left_out():
    playout = Playout(1)
    playout.start(5, 12)
    for number in range(2):
        playout.append(ramp(1 + 10 * number, 10), 10)
    assert playout.take(25)[:20, 0].tolist() == list(range(1, 21))
    for number in range(2, 4):
        playout.append(ramp(1 + 10 * number, 10), 10)
    assert playout.take(20)[:, 0].tolist() == list(range(21, 41))
    assert playout.skipped == 0


def test_an_input_that_is_faster_makes_it_drop_the_oldest():
    playout = Playout(1)
    playout.start(0, 10)
    for number in range(4):
        playout.append(ramp(10 * number + 1, 10), 10)
    assert playout.skipped == 30
    assert playout.take(10).ravel().tolist() == list(range(31, 41))


def test_silenced_samples_keep_their_time():
    playout = Playout(2)
    playout.start(0, 4)
    playout.append(numpy.ones((4, 2), numpy.float32), 4)
    playout.silence()
    playout.append(2 * numpy.ones((2, 2), numpy.float32), 2)
    assert playout.take(6)[:, 0].tolist() == [0, 0, 0, 0, 2, 2]


def test_a_cleared_one_gives_zeros():
    playout = Playout(1)
    assert not playout.take(3).any()
    playout.start(0, 2)
    playout.append(ramp(1, 4), 4)
    playout.clear()
    assert not playout.take(3).any()
    assert playout.dropouts == 0


def in_time(playout, blocks, sound, late=()):
    """Blocks of 10 that are pushed and played in turns, those that are late two blocks later;
    returns what was played. ``sound`` gives the samples from a place on.
    """
    heard, pushed, held = [], 0, 0
    for number in range(blocks):
        held += 10
        if number not in late:
            while held:
                playout.append(sound(pushed, 10), 10)
                pushed, held = pushed + 10, held - 10
        for _ in range(2):
            heard.append(playout.take(5)[:, 0])
    return numpy.concatenate(heard)


def delay(playout):
    """Samples from a push to its playing, found by a pulse in silence."""
    silence = numpy.zeros((10, 1), numpy.float32)
    pulse = silence.copy()
    pulse[0] = 1.0
    playout.append(pulse, 10)
    for waited in range(100):
        found = numpy.flatnonzero(playout.take(10)[:, 0] > 0.5)
        if len(found):
            return 10 * waited + found[0]
        playout.append(silence, 10)
    raise AssertionError("the pulse did not come")


def quiet(start, count):
    return numpy.full((count, 1), 0.001, numpy.float32)


def loud(start, count):
    return numpy.full((count, 1), 0.5, numpy.float32)


def test_the_delay_of_a_dropout_is_taken_back_in_quiet_sound_alone():
    def started(patience):
        playout = Playout(1)
        playout.start(0, 14, 4, patience)
        in_time(playout, 4, loud)
        assert not playout.dropouts
        in_time(playout, 3, loud, late=(0, 1))
        assert playout.dropouts
        return playout

    usual = Playout(1)
    usual.start(0, 14, 4, 100)
    in_time(usual, 100, quiet)
    assert usual.skipped == 6, "blocks of 10 begin at 20, and what the reserve needs stays"
    patient, never = started(100), started(0)
    dropouts = patient.dropouts
    in_time(patient, 40, loud)
    assert patient.skipped == 0, "sound is not cut"
    for playout in (patient, never):
        in_time(playout, 40, quiet)
    assert patient.skipped > 0
    assert never.skipped == 0
    assert patient.dropouts == dropouts, "what is taken back was not needed"
    assert delay(patient) == delay(never) - patient.skipped == delay(usual)


def dropouts(minutes, late_every, patience):
    """Times at which a machine runs dry that is late by 30 samples every so many, in quiet sound;
    1,000 samples a second.
    """
    playout = Playout(1)
    playout.start(0, 20, 10, patience)
    times, held, last = [], 0, 0
    for number in range(6_000 * minutes):
        held += 10
        if number % (late_every // 10) not in (late_every // 10 - 1, late_every // 10 - 2):
            while held:
                playout.append(quiet(0, 10), 10)
                held -= 10
        before = playout.dropouts
        playout.take(10)
        if playout.dropouts > before and number - last > 10:
            times.append(number / 100)
        last = number if playout.dropouts > before else last
    return times


@pytest.mark.parametrize("late_every", [3_000, 7_000, 20_000, 60_000])
def test_a_machine_that_is_late_now_and_then_drops_samples_a_few_times(late_every, monkeypatch):
    """The patience exceeds what is between two times after a few doublings."""
    assert len(dropouts(60, late_every, 0)) == 1, "what a dropout leaves is enough"
    assert len(dropouts(60, late_every, 5_000)) <= 1 + max(0, math.log2(late_every / 5_000))
    monkeypatch.setattr("voicenym.live.playout.LONGEST_PATIENCE", 1)
    if late_every > 5_000:
        assert len(dropouts(60, late_every, 5_000)) >= 3_000_000 // late_every, "without doubling"


@given(
    prefill=st.integers(10, 30),
    late=st.sets(st.integers(0, 60), max_size=6),
    patience=st.integers(1, 300),
)
def test_taking_back_delay_loses_quiet_samples_alone(prefill, late, patience):
    def sound(start, count):
        place = numpy.arange(start, start + count)
        return numpy.where(place // 35 % 2, place + 1.0, 0.0).astype(numpy.float32)[:, None]

    playout = Playout(1)
    playout.start(0, prefill, prefill - 10, patience)
    heard = in_time(playout, 80, sound, late)
    sounding = heard[heard > 0]
    assert (numpy.diff(sounding) > 0).all()
    wanted = sound(0, int(sounding.max(initial=0)))[:, 0]
    if playout._margin <= 3 * prefill and len(late) < 2:
        assert (sounding == wanted[wanted > 0]).all()
