"""Clusters of one person: known cosines of mean vectors."""

from __future__ import annotations

import numpy as np

from voicenym.diarization.clustering.same_people import ONE_PERSON, same_people


def vectors(*degrees):
    """Unit vectors ``[n, 2]`` in a plane."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_clusters_above_the_limit_are_one_person():
    limit = np.degrees(np.arccos(ONE_PERSON))
    weights = np.full(3, 100.0)
    found = same_people(vectors(0.0, limit - 1.0, 180.0), weights, 20.0, 0.5)
    assert found[0] == found[1] != found[2]
    found = same_people(vectors(0.0, limit + 1.0, 180.0), weights, 20.0, 0.5)
    assert sorted(found.tolist()) == [0, 1, 2]


def test_the_average_counts_and_not_the_nearest():
    """A chain of neighbours is not one person: its ends are too far from each other."""
    found = same_people(vectors(0.0, 40.0, 80.0, 120.0), np.full(4, 100.0), 20.0, 0.5)
    assert len(set(found.tolist())) == 2


def test_who_says_little_joins_the_most_similar_if_they_are_alike():
    weights = np.array([100.0, 100.0, 10.0])
    near = vectors(0.0, 150.0, 55.0)  # cosines of the last: 0.57 and -0.09
    assert same_people(near, weights, 20.0, 0.5).tolist() == [0, 1, 0]
    assert len(set(same_people(near, weights, 5.0, 0.5).tolist())) == 3  # says enough
    assert len(set(same_people(near, weights, 20.0, 0.6).tolist())) == 3  # is not alike


def test_the_smallest_joins_first_and_counts_with_whom_it_joined():
    """Two who say little and are alike are one person who says enough."""
    weights = np.array([100.0, 12.0, 11.0])
    found = same_people(vectors(0.0, 100.0, 155.0), weights, 20.0, 0.5)
    assert found[1] == found[2] != found[0]


def test_nobody_is_nobody():
    assert same_people(np.zeros((0, 2)), np.zeros(0), 20.0, 0.5).tolist() == []
