"""First pass: parts are cut in pauses, times are those of the recording, memory is bounded."""

import numpy as np
import pytest
import torch

from voicenym.resynthesis.retelling.phrases_heard import UNCLEAR, Heard, Phrase
from voicenym.resynthesis.retelling.retelling_profile import RATE, WINDOW, RetellingReader


class Counting:
    """A phrase from the first to the last loud sample of each part; keeps the parts' lengths."""

    def __init__(self):
        self.parts = []

    def hear(self, samples):
        self.parts.append(len(samples))
        loud = np.flatnonzero(samples)
        if not len(loud):
            return Heard()
        phrase = Phrase(loud[0] / RATE, (loud[-1] + 1) / RATE, "x")
        return Heard((phrase,), {UNCLEAR: 0.5})


def recording(seconds: float, pauses: list[float]) -> torch.Tensor:
    samples = 0.1 * torch.ones(1, round(seconds * RATE))
    for pause in pauses:
        samples[:, round((pause - 0.3) * RATE) : round((pause + 0.3) * RATE)] = 0.0
    return samples


@pytest.mark.parametrize("block", [5_000, 64_000, 10**7])
def test_long_recordings_are_cut_in_their_pauses(block):
    samples, listener = recording(80.0, [20.0, 40.0, 60.0]), Counting()
    reader = RetellingReader(listener, 1, None)
    for part in samples.split(block, 1):
        reader.push(part)
    (row,) = reader.result().rows
    assert sum(listener.parts) == 80 * RATE
    assert max(listener.parts) <= WINDOW * RATE
    assert [phrase.start for phrase in row.phrases] == pytest.approx(
        [0.0, 20.3, 40.3, 60.3], abs=0.01
    )
    assert [phrase.end for phrase in row.phrases] == pytest.approx(
        [19.7, 39.7, 59.7, 80.0], abs=0.01
    )
    assert row.silenced == {UNCLEAR: 2.0}
    assert row.seconds == 80.0
    assert row.energy == pytest.approx(float(samples.double().square().sum()), rel=1e-4)


def test_rows_end_where_their_recordings_do():
    samples = torch.cat([recording(3.0, []), recording(3.0, [])])
    listener = Counting()
    reader = RetellingReader(listener, 2, [3 * RATE, RATE])
    reader.push(samples)
    found = reader.result()
    assert [row.seconds for row in found.rows] == [3.0, 1.0]
    assert [row.phrases[0].end for row in found.rows] == pytest.approx([3.0, 1.0])


def test_nothing_is_heard_in_nothing():
    reader = RetellingReader(Counting(), 1, None)
    (row,) = reader.result().rows
    assert row.phrases == []
    assert row.seconds == 0.0
