"""Medians over pairs of drawn speakers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from voicenym.reproduction import medians
from voicenym.reproduction.outcome import above


def test_a_weighted_median_is_that_of_repeated_pairs():
    rng = np.random.default_rng(0)
    pairs = np.array(list(itertools.combinations_with_replacement(range(6), 2)))
    values = rng.normal(size=len(pairs))
    found = medians.median(values, pairs)
    assert found.value == np.median(values)
    for _ in range(50):
        times = np.bincount(rng.integers(0, 6, 6), minlength=6)
        repeated = [
            value
            for value, (a, b) in zip(values, pairs, strict=True)
            for _ in range(times[a] * (1 if a == b else times[b]))
        ]
        assert found.again(times.astype(float)) == pytest.approx(np.median(repeated))


def test_no_pair_that_was_drawn_has_no_median():
    found = medians.median(np.array([1.0, 2.0]), np.array([[0, 1], [1, 2]]))
    assert np.isnan(found.again(np.array([3.0, 0.0, 0.0])))


def test_pieces_of_replicates_give_the_same(monkeypatch):
    rng = np.random.default_rng(1)
    found = medians.among(rng.normal(size=(8, 4)), np.arange(8))
    times = rng.integers(0, 3, (20, 8)).astype(float)
    whole = found.all(times)
    monkeypatch.setattr(medians, "AT_ONCE", 1)
    assert found.all(times) == pytest.approx(whole, nan_ok=True)


def test_vectors_near_one_direction_are_more_alike_than_those_of_all():
    rng = np.random.default_rng(2)
    spread = rng.normal(size=(40, 16))
    near = spread + 3.0
    names = np.arange(40)
    gap = medians.less(medians.among(near, names), medians.among(spread, names))
    assert above(gap, 0.0) is True
    itself = medians.among(spread, names)
    assert above(medians.less(itself, itself), 0.0) is None
