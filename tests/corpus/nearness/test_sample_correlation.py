"""Correlation of samples: closed forms, any blocks, short steady sounds that stay as they are."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicenym.anonymizer import load
from voicenym.corpus.nearness.near_original import NearOriginalCheck
from voicenym.corpus.nearness.sample_correlation import SampleCorrelation
from voicenym.errors import AudioError

NOISE = 0.1 * np.random.default_rng(0).standard_normal((2, 4000)).astype("f4")


def correlation(one, other, cuts=((), ())):
    compared = SampleCorrelation(2)
    for push, sound, places in zip(
        (compared.push_input, compared.push_output), (one, other), cuts, strict=True
    ):
        for a, b in pairwise([0, *sorted(places), sound.shape[1]]):
            push(sound[:, a:b])
    compared.finish()
    return compared.found


@given(st.tuples(*[st.lists(st.integers(0, 4000), max_size=5)] * 2), st.floats(-1, 1))
def test_it_is_that_of_numpy_for_any_blocks(cuts, part):
    other = part * NOISE + (1 - abs(part)) * NOISE[::-1]
    found = correlation(NOISE, other, cuts)
    for channel in range(2):
        x, y = NOISE[channel].astype(float), other[channel].astype(float)
        expected = np.corrcoef(x, y)[0, 1]
        assert found[channel] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", [0.0, 0.1, 1.0])
def test_silence_and_constants_have_none(level):
    silent = np.full((2, 10_000), level, np.float32)
    assert all(map(math.isnan, correlation(silent, silent)))
    assert all(map(math.isnan, correlation(NOISE, np.zeros_like(NOISE))))


@pytest.mark.parametrize("sign", [1, -0.5])
@pytest.mark.parametrize("seconds", [0.1, 0.6])
def test_a_short_buzz_that_stays_as_it_is_is_refused(seconds, sign):
    """Segments of speech see nothing of it."""
    time = np.arange(round(16_000 * seconds)) / 16_000
    buzz = 0.1 * np.sign(np.sin(2 * math.pi * 110 * time))[None].astype("f4")
    check = NearOriginalCheck(load("mcadams"), "buzz.wav", 16_000, 1)
    check.push_input(buzz)
    check.push_output(sign * buzz)
    with pytest.raises(AudioError, match=r"buzz.wav: .* nearly the input"):
        check.finish()
