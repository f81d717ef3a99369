"""Fixed level: speech is as loud as a constant, pauses are silent, blocks do not count."""

import numpy as np
import pytest
import torch
from level_blocks import in_blocks, noise

from voicenym.dsp.phrases import Phrases
from voicenym.resynthesis.common.fixed_level import HIGHEST_GAIN, USUAL, FixedLevel, presence
from voicenym.resynthesis.common.output_level import HOP

RATE = 16_000


def through(source, made, size=10**6, late=0):
    return in_blocks(FixedLevel(len(source)), source, made, size, late)


def within(*spans, seconds):
    """Presence of phrases, ``[1, time]``."""
    phrases = Phrases(np.array(spans, dtype=float).reshape(-1, 2), seconds)
    return presence(phrases, 0.0, round(seconds * RATE), RATE)[None]


def rms(signal):
    return float(signal.square().mean().sqrt())


@pytest.mark.parametrize("length", [0, 1, 161, 60_345])
def test_blocks_and_delays_of_any_size_give_the_whole(length):
    source, made = (noise(2, length, 0) > 0.0).float(), 0.1 * noise(2, length, 1)
    whole = through(source, made)
    assert whole.shape[1] == -(-length // HOP) * HOP
    for size, late in ((7_001, 0), (9_000, 3_000)):
        torch.testing.assert_close(through(source, made, size, late), whole, atol=1e-6, rtol=0)


@pytest.mark.parametrize("loud", [0.5 * USUAL, USUAL, 20.0 * USUAL])
def test_speech_has_one_level_and_pauses_are_silent(loud):
    source = within((1.0, 4.0), (5.0, 9.0), seconds=10.0)
    made = 10.0 * loud * noise(1, 10 * RATE, 2)
    found = through(source, made)[0]
    for start, end in ((0.0, 0.9), (4.1, 4.9), (9.1, 10.0)):
        assert not found[round(start * RATE) : round(end * RATE)].any()
    for start, end in ((1.1, 3.9), (5.1, 8.9)):
        part = found[round(start * RATE) : round(end * RATE)]
        assert rms(part) == pytest.approx(USUAL, rel=0.05)


def test_faint_noise_of_the_synthesizer_stays_fainter_than_speech():
    made = 0.1 * USUAL * noise(1, 6 * RATE, 3)
    found = through(within((0.0, 6.0), seconds=6.0), made)
    assert rms(found[:, RATE:-RATE]) == pytest.approx(HIGHEST_GAIN * rms(made), rel=0.05)


def test_phrases_begin_and_end_without_a_step():
    found = through(within((1.0, 3.0), seconds=4.0), torch.full((1, 4 * RATE), USUAL))[0]
    assert float(found.diff().abs().max()) < 0.002 * USUAL


def test_presence_is_that_of_a_part_of_the_recording():
    phrases = Phrases(np.array([[0.5, 1.25], [2.0, 3.0]]), 3.0)
    whole = presence(phrases, 0.0, 3 * RATE, RATE)
    assert float(whole.sum()) == 1.75 * RATE
    for start, count in ((0, 100), (7_000, 20_000), (30_000, 18_000)):
        part = presence(phrases, start / RATE, count, RATE)
        assert part.equal(whole[start : start + count])
    assert not presence(Phrases(np.zeros((0, 2)), 1.0), 0.0, 10, RATE).any()
