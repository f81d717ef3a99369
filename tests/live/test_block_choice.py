"""The block length that a machine holds."""

from __future__ import annotations

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.live.block_choice import LENGTHS, choose_block

RATE = 16_000


class Timed:
    """Stream on a machine that needs ``fixed + share * length`` seconds for a block."""

    latency = 320

    def __init__(self, clock, fixed, share):
        self.clock, self.fixed, self.share = clock, fixed, share

    def push(self, block):
        self.clock.now += self.fixed + self.share * len(block) / RATE
        return torch.zeros(len(block))


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def chosen(fixed, share, shortest=0.0):
    clock = Clock()
    return choose_block(lambda: Timed(clock, fixed, share), RATE, shortest, clock)


@pytest.mark.parametrize("length", LENGTHS)
def test_the_shortest_block_that_takes_half_of_its_length(length):
    choice = chosen(fixed=0.39 * length, share=0.1)
    assert choice.block == round(length * RATE)
    assert choice.load == pytest.approx(0.49)
    assert sorted(choice.tried) == [round(one * RATE) for one in LENGTHS if one < length]
    assert all(load > 0.5 for load in choice.tried.values())


class Hops(Timed):
    """Stream that gives samples by whole hops."""

    waiting = 0

    def __init__(self, clock, share, hop):
        super().__init__(clock, 0.0, share)
        self.hop = hop

    def push(self, block):
        super().push(block)
        self.waiting += len(block)
        given, self.waiting = self.waiting // self.hop * self.hop, self.waiting % self.hop
        return torch.zeros(given)


@pytest.mark.parametrize("hop", [160, 128, 400])
def test_the_lag_is_that_of_blocks_of_the_chosen_length(hop):
    clock = Clock()
    choice = choose_block(lambda: Hops(clock, 0.1, hop), RATE, clock=clock)
    assert choice.block == 160
    assert choice.lag == max(160 * n % hop for n in range(1, 40))


@pytest.mark.parametrize(("blocks", "seconds"), [(16, 0.05), (8, 0.025), (3, 0.012)])
def test_a_system_that_computes_in_long_steps_needs_samples_to_wait_for_them(blocks, seconds):
    """Steps of several blocks of 10 ms: all computing is in the block that ends one."""
    size = 160 * blocks

    class Steps(Timed):
        waiting = 0

        def push(self, block):
            self.waiting += len(block)
            given, self.waiting = self.waiting // size * size, self.waiting % size
            self.clock.now += seconds * given / size
            return torch.zeros(given)

    clock = Clock()
    choice = choose_block(lambda: Steps(clock, 0.0, 0.0), RATE, clock=clock)
    assert choice.block == 160
    assert choice.load == pytest.approx(100 * seconds / blocks, rel=0.1)
    assert choice.wait == pytest.approx((1.5 * seconds - 0.01) * RATE, abs=1)
    assert choice.lag == size - 160
    assert chosen(0.0, 0.4).wait == 0
    assert chosen(0.0, 0.49).wait == 0


def test_a_tenth_of_slow_steps_is_no_load_and_a_fifth_is():
    class Slow(Timed):
        number = 0

        def __init__(self, clock, every):
            super().__init__(clock, 0.0, 0.1)
            self.every = every

        def push(self, block):
            self.number += 1
            if self.number % self.every == 0:
                self.clock.now += 0.6 * len(block) / RATE
            return super().push(block)

    clock = Clock()
    assert choose_block(lambda: Slow(clock, 12), RATE, clock=clock).load < 0.2
    with pytest.raises(VoicenymError, match="for a second of sound"):
        choose_block(lambda: Slow(clock, 5), RATE, clock=clock)


def test_a_wished_block_is_the_first_that_is_tried():
    assert chosen(0.0, 0.1, shortest=0.03).block == 480
    assert chosen(0.015, 0.1, shortest=0.03).block == 640


@pytest.mark.parametrize(
    ("hop", "block"), [(128, 128), (256, 128), (160, 160), (320, 160), (384, 128)]
)
def test_of_several_lengths_that_of_the_least_delay_is_taken(hop, block):
    clock = Clock()
    found = choose_block(lambda: Hops(clock, 0.1, hop), RATE, clock=clock, others=[0.008])
    assert found.block == block
    assert found.delay == block + found.lag == hop
    assert found.tried == {}


def test_another_length_must_save_a_quarter_of_a_block():
    """Without a lag, a block of 8 ms saves 2 of 10 ms."""
    clock = Clock()
    assert (
        choose_block(lambda: Timed(clock, 0.0, 0.1), RATE, clock=clock, others=[0.008]).block == 160
    )


def test_another_length_must_be_held_and_is_no_wish():
    clock = Clock()

    class Hop(Hops):
        def push(self, block):
            self.clock.now += 0.0045  # 45 % of 10 ms
            return super().push(block)

    assert (
        choose_block(lambda: Hop(clock, 0.0, 128), RATE, clock=clock, others=[0.008]).block == 160
    )
    wished = choose_block(lambda: Hops(clock, 0.1, 128), RATE, 0.01, clock, [0.008])
    assert wished.block == 160


def test_a_machine_that_holds_no_block_gets_a_message():
    with pytest.raises(VoicenymError, match=r"needs 0\.7 s for a second of sound.*-s mcadams"):
        chosen(0.0, 0.7)
