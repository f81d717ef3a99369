import numpy as np
import pytest

from voicenym.metrics import deidentification, gain_of_voice_distinctiveness, similarity_matrix

RNG = np.random.default_rng(0)


def segments(speakers=6, each=5, noise=0.3, people=None):
    people = np.eye(speakers) if people is None else people
    who = np.repeat(np.arange(speakers), each)
    vectors = people[who] + noise * RNG.standard_normal((len(who), people.shape[1])) / 3
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), who.astype(str)


def matrix(a, b, who, **options):
    return similarity_matrix(a @ b.T, who, who, np.eye(len(who), dtype=bool), **options)


def test_distinct_voices_are_alike_to_themselves_alone():
    vectors, who = segments()
    found = matrix(vectors, vectors, who)
    own = np.eye(6, dtype=bool)
    assert found.matrix[own].min() > 0.9
    assert found.matrix[~own].max() < 0.1
    assert found.speakers == tuple("012345")
    np.testing.assert_allclose(found.matrix, found.matrix.T, atol=1e-12)


def test_mean_of_ratios_then_sigmoid_by_hand():
    scores = np.array([[0.0, 2.0, -1.0], [2.0, 0.0, -3.0], [-1.0, -3.0, 0.0]])
    found = similarity_matrix(scores, "aab", "aab", np.eye(3, dtype=bool), calibrate=lambda s: s)
    expected = 1 / (1 + np.exp(-np.array([2.0, -2.0])))
    assert found.matrix[0] == pytest.approx(expected)
    assert np.isnan(found.matrix[1, 1]), "one segment cannot be compared with itself"


def test_calibration_comes_before_the_average():
    """Averaging raw scores first would let one outlier decide; its LLR is bounded."""
    scores = np.array([[0, 1, 0, 0], [1, 0, 0, -1e6], [0, 0, 0, 1], [0, -1e6, 1, 0.0]])
    found = similarity_matrix(scores, "aabb", "aabb", np.eye(4, dtype=bool))
    assert 0.05 < found.matrix[0, 1] < 0.5


def test_original_against_anonymized_is_not_made_symmetric():
    o, who = segments()
    a, _ = segments(people=np.roll(np.eye(6), 1, axis=0))
    found = matrix(o, a, who, calibrate=lambda s: 10 * (s - 0.5))
    assert np.abs(found.matrix - found.matrix.T).max() > 0.5
    assert found.matrix[1, 2] > 0.9, "2's anonymized voice is that of 1"


def test_nothing_changed_gains_and_hides_nothing():
    vectors, who = segments()
    oo = matrix(vectors, vectors, who)
    assert gain_of_voice_distinctiveness(oo, oo).value == 0.0
    assert deidentification(oo, oo).value == 0.0


def test_one_voice_for_all_loses_distinctiveness_and_hides_identity():
    o, who = segments()
    a, _ = segments(people=np.tile([1.0, 0, 0, 0, 0, 0], (6, 1)))
    oo, oa, aa = matrix(o, o, who), matrix(o, a, who), matrix(a, a, who)
    gain = gain_of_voice_distinctiveness(oo, aa)
    assert gain.value < -8
    assert gain.unit == "dB"
    assert gain.interval[0] <= gain.value <= gain.interval[1]
    hidden = deidentification(oo, oa)
    assert hidden.value > 0.75


def test_the_order_of_speakers_does_not_matter():
    vectors, who = segments()
    order = RNG.permutation(len(who))
    first = matrix(vectors, vectors, who)
    other = matrix(vectors[order], vectors[order], who[order])
    np.testing.assert_allclose(other.matrix, first.matrix, atol=1e-12)
