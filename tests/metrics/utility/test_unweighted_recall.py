"""UAR against hand counts, and its interval against the closed form of independent speakers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from voicenym.errors import ScoreError
from voicenym.metrics.metric_inputs import GuessedAccents, GuessedEmotions
from voicenym.metrics.utility.unweighted_recall import ACCENT, EMOTION, recall, unweighted_recall


def test_each_class_counts_alike():
    labels = ["a"] * 98 + ["b"] * 2
    assert unweighted_recall(labels, ["a"] * 100) == 0.5, "accuracy would be 0.98"
    assert unweighted_recall(labels, labels) == 1.0
    assert unweighted_recall(["a", "b", "c", "c"], ["a", "a", "c", "d"]) == pytest.approx(0.5)
    # a class that is guessed and never true is none
    assert unweighted_recall(["a", "a"], ["a", "z"]) == 0.5
    with pytest.raises(ScoreError, match="0 guesses of 1"):
        unweighted_recall(["a"], [])


def test_a_class_of_which_nobody_is_drawn_does_not_count():
    drawn = recall(["a", "b", "b"], ["a", "a", "b"], ["ann", "bob", "cay"])
    assert drawn.value == pytest.approx(0.75)
    assert drawn.again(np.array([1.0, 0.0, 2.0])) == 1.0
    assert drawn.again(np.array([0.0, 2.0, 1.0])) == pytest.approx(1.0 / 3.0)
    assert math.isnan(drawn.again(np.zeros(3)))


def test_the_interval_is_over_speakers():
    rng = np.random.default_rng(0)
    speakers = np.repeat(np.arange(80), 10)
    labels = np.where(np.arange(800) % 2, "a", "b")
    good = np.repeat(rng.random(80) < 0.7, 10)  # speakers are right always, or never
    guesses = np.where(good, labels, "z")
    data = GuessedEmotions(labels.tolist(), guesses.tolist(), [str(s) for s in speakers])
    found = EMOTION(data)
    share = good.mean()
    error = 100.0 * 1.96 * math.sqrt(share * (1.0 - share) / 80)
    assert found.value == pytest.approx(100.0 * share)
    assert found.high - found.low == pytest.approx(2.0 * error, rel=0.15)
    assert found.unit == "%"
    one = ACCENT(GuessedAccents(["a", "b"], ["a", "a"], ["s", "s"]))
    assert (one.value, one.low) == (50.0, None)
