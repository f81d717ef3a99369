"""Linkability by clustering: perfect groups, none, and the index against a count of pairs."""

import itertools

import numpy as np
import pytest

pytest.importorskip("scipy")

from voicenym.errors import ScoreError
from voicenym.metrics.metric_inputs import VoiceVectors
from voicenym.metrics.voices.clustering import CLUSTERS, _index, _pairs, link


def voices(noise, people=12, each=6, seed=0):
    rng = np.random.default_rng(seed)
    own = np.repeat(rng.standard_normal((people, 24)), each, axis=0)
    found = own + noise * rng.standard_normal((people * each, 24))
    names = np.repeat(np.arange(people), each).astype(str)
    return found / np.linalg.norm(found, axis=1, keepdims=True), names


def test_distinct_voices_are_linked_and_voices_of_no_speaker_are_not():
    apart = link(*voices(0.05), replicates=20)
    assert apart.value == pytest.approx(1.0)
    assert np.isnan(apart.interval).all(), "no draw differs, which says nothing of other recordings"
    blurred = link(*voices(2.0), replicates=20)
    assert 0.05 < blurred.value < 0.8
    assert blurred.interval[0] <= blurred.value <= blurred.interval[1]
    none = [link(*voices(1e6, seed=s), replicates=2).value for s in range(20)]
    assert abs(np.mean(none)) < 0.03


def test_the_index_is_that_of_counted_pairs():
    speakers, clusters = np.array([0, 0, 0, 1, 1, 2, 2, 2]), np.array([1, 1, 2, 2, 2, 3, 3, 1])
    a = b = c = d = 0
    for i, j in itertools.combinations(range(8), 2):
        same, joined = speakers[i] == speakers[j], clusters[i] == clusters[j]
        a, b, c, d = a + (same and joined), b + (same and not joined), c + (joined and not same), d
        d += not same and not joined
    expected = 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))
    pairs = _pairs(speakers, clusters, 3)
    assert _index(pairs, np.ones(3)) == pytest.approx(expected)
    shuffled = np.random.default_rng(0)
    found = [_index(_pairs(speakers, shuffled.permutation(clusters), 3), np.ones(3))
             for _ in range(3000)]  # fmt: skip
    assert np.mean(found) == pytest.approx(0.0, abs=0.02), "clusters by lot are at 0 on average"


def test_nothing_to_cluster():
    with pytest.raises(ScoreError, match="two speakers"):
        link(np.eye(2), np.array(["a", "a"]))
    assert CLUSTERS(VoiceVectors(np.eye(2), np.eye(2), np.array(["a", "b"]))) is None
