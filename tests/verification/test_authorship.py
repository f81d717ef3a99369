"""Authorship by n-grams: known weights, and people who prefer certain words."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.errors import VoicenymError
from voicenym.metrics import eer
from voicenym.verification.authorship import CosineDelta, TfIdf, profiles


def test_profiles_count_items_and_pairs():
    items = [np.array([0, 1, 0, 1]), np.array([], dtype=np.int64)]
    np.testing.assert_array_equal(profiles(items, 1, 3), [[2, 2, 0], [0, 0, 0]])
    pairs = profiles(items, 2, 1009)
    assert sorted(pairs[0][pairs[0] > 0]) == [1, 2]
    assert not pairs[1].any()


def test_a_word_that_everybody_says_has_no_weight():
    counts = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 2.0], [1.0, 0.0, 0.0]])
    back_end = TfIdf.train(counts, ["a", "b", "c"])
    np.testing.assert_allclose(back_end.weight, [0.0, np.log(2.0), np.log(2.0)])
    trials = np.array([[5.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 1.0, 1.0]])
    scores = back_end.score([np.array([[1.0, 1.0, 0.0]])], trials)
    np.testing.assert_allclose(scores, [[0.0, 1.0, np.sqrt(0.5)]])


def test_delta_compares_relative_frequencies():
    rng = np.random.default_rng(0)
    counts = rng.poisson(20.0, size=(50, 10)).astype(float)
    back_end = CosineDelta.train(counts, [""] * 50)
    model = counts[:1]
    scores = back_end.score([model], np.concatenate([3.0 * model, counts[1:4]]))
    assert scores[0, 0] == pytest.approx(1.0)
    assert (scores[0, 1:] < 0.9).all()


def words(speaker: int, take: int, own: float) -> np.ndarray:
    """150 words of a Zipf vocabulary, whose probabilities depend on the speaker."""
    taste = np.exp(own * np.random.default_rng(speaker).normal(size=300))
    chances = taste / np.arange(1, 301)
    rng = np.random.default_rng((3, speaker, take))
    return rng.choice(300, size=150, p=chances / chances.sum())


@pytest.mark.parametrize("kind", [TfIdf, CosineDelta])
def test_finds_people_by_their_words_and_nobody_where_all_speak_alike(kind):
    for own, low, high in ((1.0, 0.0, 20.0), (0.0, 41.0, 59.0)):
        counts = profiles([words(s, t, own) for s in range(70) for t in range(5)], 1, 300)
        back_end = kind.train(counts[200:], [""] * 150)
        test = counts[:200].reshape(40, 5, -1)
        scores = back_end.score(list(test[:, :3]), test[:, 3:].reshape(80, -1))
        target = np.repeat(np.eye(40, dtype=bool), 2, axis=1)
        assert low <= 100.0 * eer(scores[target], scores[~target]).value < high


def test_nothing_recognised_is_refused():
    with pytest.raises(VoicenymError, match="nothing is recognised"):
        CosineDelta.train(np.zeros((4, 5)), ["a"] * 4)
    with pytest.raises(VoicenymError, match="no recordings"):
        TfIdf.train(np.zeros((0, 5)), [])


def test_counts_in_single_precision_give_the_same_scores():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3, size=(30, 200)).astype(np.float64)
    narrow = counts.astype(np.float32)
    one, other = (TfIdf.train(x[8:], [""] * 22) for x in (counts, narrow))
    np.testing.assert_array_equal(
        one.score([counts[:3], counts[3:6]], counts[6:8]),
        other.score([narrow[:3], narrow[3:6]], narrow[6:8]),
    )
