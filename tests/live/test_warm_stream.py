"""Streams that run another one first, in the thread that computes."""

import threading

import torch

from voicenym.live.warm_stream import buzz, warmed

RATE = 16_000


class Counted:
    """A stream that keeps what it gets, and the thread that gave it."""

    def __init__(self, made):
        self.blocks, self.threads = [], set()
        made.append(self)

    def push(self, block):
        self.blocks.append(len(block))
        self.threads.add(threading.get_ident())
        return block


def test_the_first_stream_comes_after_another_that_had_a_second_of_sound():
    made = []
    make = warmed(lambda: Counted(made), RATE, 160)
    first, second = make(), make()
    other, *rest = made
    assert rest == [first, second]
    assert first.blocks == second.blocks == []
    assert set(other.blocks) == {160}
    assert sum(other.blocks) == RATE
    assert other.threads == {threading.get_ident()}


def test_the_sound_is_voiced_and_has_the_level_of_speech():
    sound = buzz(RATE, RATE)
    spectrum = torch.fft.rfft(sound).abs()
    assert int(spectrum.argmax()) == 120
    assert 0.01 < float(sound.square().mean().sqrt()) < 0.1
    assert float(sound.abs().max()) < 0.5
