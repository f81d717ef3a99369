"""Alignment of recordings with readings of the same texts."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.training.content.native_codes.reading_alignment import (
    SKIPPED,
    STAY,
    aligned,
    features,
    native_codes,
    quiet,
)


def said(words, seed=0, size=12):
    """Directions of made-up states: each word has its own."""
    table = np.random.default_rng(seed).standard_normal((30, size))
    return features(np.repeat(table[np.asarray(words)], 2, 0), 2)


def test_directions_are_means_without_the_mean():
    states = np.random.default_rng(0).standard_normal((9, 5)) + 3.0
    found = features(states, 2)
    assert found.shape == (4, 5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)
    pooled = (states[0:8:2] + states[1:8:2]) / 2
    centred = pooled - pooled.mean(0)
    np.testing.assert_allclose(found[2], centred[2] / np.linalg.norm(centred[2]))
    assert features(states[:1], 2).shape == (0, 5)


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_stretched_sequence_is_recovered(times):
    text = np.random.default_rng(1).permutation(30)[:20]
    # the mean of a stretched sequence is the same, so that its directions are
    found = aligned(said(np.repeat(text, times)), said(text))
    np.testing.assert_array_equal(found.places, np.repeat(np.arange(20), times))
    assert found.cost == pytest.approx(STAY * 20 * (times - 1) / (20 + 20 * times))


def test_uneven_pace_is_followed_on_either_side():
    rng = np.random.default_rng(2)
    text = rng.permutation(30)
    slow, fast = rng.integers(1, 5, 30), rng.integers(1, 3, 30)
    table = rng.standard_normal((30, 16))
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    recording, reading = np.repeat(text, slow), np.repeat(text, fast)
    found = aligned(table[recording], table[reading])
    np.testing.assert_array_equal(reading[found.places], recording)
    assert (np.diff(found.places) >= 0).all()


def test_the_path_is_the_cheapest_of_all():
    """Against the recursion, place by place."""
    rng = np.random.default_rng(3)
    for rows, columns in ((7, 5), (4, 9), (1, 6), (6, 1), (1, 1)):
        a, b = rng.standard_normal((rows, 4)), rng.standard_normal((columns, 4))
        a /= np.linalg.norm(a, axis=1, keepdims=True)
        b /= np.linalg.norm(b, axis=1, keepdims=True)
        distances = 1.0 - a @ b.T
        total = np.full((rows + 1, columns + 1), np.inf)
        for i in range(rows):
            for j in range(columns):
                d = distances[i, j]
                total[i + 1, j + 1] = min(
                    total[i, j] + d if i or j else d,
                    total[i, j + 1] + STAY + d,
                    total[i + 1, j] + STAY + SKIPPED * d,
                )
        found = aligned(a, b)
        assert found.cost == pytest.approx(total[-1, -1] / (rows + columns))
        assert len(found.places) == rows
        assert (np.diff(found.places) >= 0).all()


def test_a_reading_of_another_text_costs_more():
    rng = np.random.default_rng(4)
    text, other = rng.permutation(30)[:15], rng.permutation(30)[:15]
    noisy = said(np.repeat(text, 2)) + 0.1 * rng.standard_normal((30, 12))
    assert aligned(noisy, said(text)).cost < 0.5 * aligned(noisy, said(other)).cost


def test_nothing_has_no_alignment():
    with pytest.raises(ValueError, match="empty"):
        aligned(np.zeros((0, 4)), np.zeros((3, 4)))


def test_quiet_codes_get_the_code_of_silence():
    rng = np.random.default_rng(5)
    samples = np.concatenate(
        [1e-4 * rng.standard_normal(640), rng.standard_normal(1280), 0.1 * rng.standard_normal(300)]
    )
    silent = quiet(0.1 * samples, 640)
    assert silent.tolist() == [True, False, False, False]
    found = native_codes(np.array([0, 1, 1]), np.array([5, 9]), silent, 3)
    # what the recording has behind the last place repeats it
    assert found.tolist() == [3, 9, 9, 9]
    assert quiet(np.zeros(1_000), 640).tolist() == [False, False]
