"""A pipe whose system is once too slow: silence, the whole length, and an error at the end."""

from __future__ import annotations

import io

import numpy
import pytest
import torch

import voicenym
from voicenym.errors import AudioError
from voicenym.live.live_engine import LiveEngine
from voicenym.live.pipe_session import run_pipe

RATE, BLOCK, COUNT = 16_000, 320, 16_000


class Slow:
    """A stream whose block of a number comes a second of the clock late."""

    def __init__(self, late):
        key = voicenym.Key(bytes(32)).pseudonym("anna")
        self.inner = voicenym.load("mcadams").stream(key, RATE)
        self.latency, self.late, self.now, self.pushed = self.inner.latency, late, 0.0, 0

    def push(self, block):
        self.pushed += 1
        if self.pushed == self.late:
            self.now += 1.0
        return self.inner.push(block)

    def flush(self):
        return self.inner.flush()


@pytest.mark.parametrize("late", [20, COUNT // BLOCK])
def test_an_overload_leaves_silence_of_the_whole_length_and_is_an_error(late):
    stream = Slow(late)
    engine = LiveEngine(lambda: stream, RATE, BLOCK, 0, clock=lambda: stream.now)
    samples = (8_000 * torch.sin(torch.arange(COUNT) / 9)).numpy().astype("<i2")
    target = io.BytesIO()
    with pytest.raises(AudioError, match="1 fault left silence"):
        run_pipe(engine, io.BytesIO(samples.tobytes()), target, "s16le", lambda text: None)
    out = numpy.frombuffer(target.getvalue(), "<i2")
    assert len(out) == COUNT + stream.latency
    assert not out[late * BLOCK :].any()
