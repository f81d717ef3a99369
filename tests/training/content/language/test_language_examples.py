"""Examples of the training of language scores: joined speech, noise and tones."""

from __future__ import annotations

import numpy as np

from voicenym.training.content.language.language_examples import joined, no_speech


def test_recordings_are_joined_to_examples_of_equal_length():
    parts = [np.full(16_000, float(i), np.float32) for i in range(7)]
    found = list(joined(parts, 3.0, 5))
    assert [len(x) / 16_000 for x in found] == [3.0, 3.0, 1.0]
    assert found[1][0] == 3.0
    assert len(list(joined(parts, 3.0, 1))) == 1
    assert list(joined(parts[:1], 10.0, 5)) == [], "less than a quarter"


def test_noise_and_tones_are_finite_and_differ():
    made = list(no_speech(4, 1.0, 0))
    assert all(np.isfinite(x).all() and 0.04 < np.abs(x).max() <= 0.5 for x in made)
    assert all(x.shape == (16_000,) for x in made)
    assert not np.array_equal(made[0], made[2])
