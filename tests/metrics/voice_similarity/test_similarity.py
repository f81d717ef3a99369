from dataclasses import replace

import numpy as np
import pytest

from voicenym.errors import ScoreError
from voicenym.metrics import (
    deidentification,
    gain_of_voice_distinctiveness,
    similarity_between,
    similarity_matrix,
    similarity_within,
)
from voicenym.metrics.metric_inputs import VoiceVectors
from voicenym.metrics.trials.pav import llr
from voicenym.metrics.voice_similarity.similarity import Similarity, dominance, similarity_matrices
from voicenym.metrics.voices.voice_distinctiveness import AA_OWN, DEIDENTIFICATION, GAIN, OA_OTHERS

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


def plain(scores, row, column, itself):
    """The definition, by sorting and by loops; None where there is nothing to calibrate by."""
    names = sorted({*row, *column})
    same = row[:, None] == column
    used = ~itself
    once = used
    if len(row) == len(column) and (row == column).all() and np.array_equal(scores, scores.T):
        once = used & np.triu(np.ones(scores.shape, bool))
    if not (once & same).any() or not (once & ~same).any():
        return None
    target, nontarget = llr(scores[once & same], scores[once & ~same], laplace=True)
    known = dict(zip(scores[once & same], target, strict=True))
    known |= dict(zip(scores[once & ~same], nontarget, strict=True))
    matrix = np.full((len(names), len(names)), np.nan)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            pairs = np.argwhere((row == a)[:, None] & (column == b) & used)
            if len(pairs):
                mean = np.mean([known[scores[k, n]] for k, n in pairs])
                matrix[i, j] = 1 / (1 + np.exp(-mean))
    return matrix


@pytest.mark.parametrize("seed", range(40))
def test_counting_in_bins_is_exactly_pav_of_sorted_scores(seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(2, 30, 2)
    row, column = (rng.integers(0, 5, n).astype(str) for n in (rows, columns))
    scores = rng.standard_normal((rows, columns)) + 2 * (row[:, None] == column)
    itself = rng.random(scores.shape) < 0.05
    if seed % 2:
        column, scores = row, rng.standard_normal((rows, rows)) + (row[:, None] == row)
        scores, itself = scores + scores.T, np.eye(rows, dtype=bool)
    if seed % 3 == 0:
        scores = scores.round(seed % 2)  # ties
    if seed % 5 == 0:
        scores[0, 0] = 1e12  # all others fall into one cell
    if seed % 7 == 0:
        scores[1, 1], scores[0, 1], scores[1, 0] = -np.inf, np.inf, np.inf
    if seed % 11 == 0:
        scores[:] = 3.0
    expected = plain(scores, row, column, itself)
    found = similarity_matrix(scores, row, column, itself).matrix
    if expected is None:
        assert np.isnan(found).all()
    else:
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("noise", [0.5, 3.0, 30.0])
def test_counting_in_bins_is_exact_for_many_trials(noise):
    """As many as several strips of rows hold, of voices that are clear, blurred and not there."""
    vectors, who = segments(12, 40, noise=noise)
    scores = vectors @ vectors.T
    later = np.triu(np.ones(scores.shape, bool), 1)
    same = who[:, None] == who
    ratios = np.zeros(scores.shape)
    ratios[later & same], ratios[later & ~same] = llr(
        scores[later & same], scores[later & ~same], laplace=True
    )
    ratios += ratios.T
    itself = np.eye(len(who), dtype=bool)
    expected = similarity_matrix(scores, who, who, itself, lambda s: ratios).matrix
    found = similarity_matrix(scores, who, who, itself).matrix
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_speakers_with_one_segment_are_named():
    vectors, who = segments()
    who = np.where(np.arange(len(who)) == 0, "9", who)
    found = similarity_matrices(vectors, vectors, who)
    assert found.oo.alone == found.oa.alone == ("9",)
    assert np.isnan(found.oo.matrix[-1, -1])
    assert np.isfinite(found.oo.matrix[-1, :-1]).all()
    gain = gain_of_voice_distinctiveness(found.oo, found.aa)
    assert gain.alone == ("9",)
    assert gain.value == 0.0
    only = similarity_matrices(vectors[:3], vectors[:3], "abc").oo
    assert only.alone == ("a", "b", "c")
    assert np.isnan(only.matrix).all(), "nothing to calibrate by"


def test_unrelated_voices_hide_identity_and_keep_distinctiveness():
    o, who = segments(20, 12, people=RNG.standard_normal((20, 400)))
    a, _ = segments(20, 12, people=RNG.standard_normal((20, 400)))
    found = similarity_matrices(o, a, who)
    hidden = deidentification(found.oo, found.oa)
    assert hidden.value > 0.9
    assert hidden.interval[0] <= hidden.value <= hidden.interval[1]
    gain = gain_of_voice_distinctiveness(found.oo, found.aa)
    assert gain.value == pytest.approx(0.0, abs=0.2)


def test_one_calibration_for_all_matrices_shows_voices_that_came_together():
    """Calibrated by themselves, voices hardly apart look distinct if they can be ordered."""
    o, who = segments(8, 10)
    people = np.full((8, 8), 3.0) + np.eye(8)
    a, _ = segments(8, 10, people=people, noise=0.3)
    each, one = (similarity_matrices(o, a, who, calibration=c) for c in ("matrix", "original"))
    np.testing.assert_array_equal(each.oo.matrix, one.oo.matrix)
    assert gain_of_voice_distinctiveness(each.oo, each.aa).value > -2
    assert gain_of_voice_distinctiveness(one.oo, one.aa).value < -10
    own = similarity_matrices(o, a, who, calibration=lambda s: 8 * (s - 0.5))
    np.testing.assert_allclose(
        own.oa.matrix, matrix(o, a, who, calibrate=lambda s: 8 * s - 4).matrix
    )
    with pytest.raises(ValueError, match="matrix, original or a function"):
        similarity_matrices(o, a, who, calibration="each")


def test_compat_mirrors_half_of_the_pairs_by_hand():
    scores = np.array([[9.0, 1.0, 2.0], [5.0, 9.0, 3.0], [6.0, 7.0, 9.0]])  # original, anonymized

    def score(x, y):
        return scores if x[0, 0] != y[0, 0] else scores + scores.T

    o, a = np.zeros((3, 1)), np.ones((3, 1))
    options = {"score": score, "calibration": lambda s: s}

    def sigmoid(x):
        return pytest.approx(1 / (1 + np.exp(-x)))

    full = similarity_matrices(o, a, "aab", **options).oa.matrix
    assert full[0, 0] == sigmoid((1 + 5) / 2)
    assert (full[0, 1], full[1, 0]) == (sigmoid((2 + 3) / 2), sigmoid((6 + 7) / 2))
    half = similarity_matrices(o, a, "aab", compat=True, **options).oa.matrix
    assert half[0, 0] == sigmoid(1)
    assert half[0, 1] == half[1, 0] == sigmoid((2 + 3) / 2)


def test_the_order_of_speakers_does_not_matter_for_figures():
    o, who = segments()
    a, _ = segments(noise=1.0)
    order = RNG.permutation(len(who))
    first = similarity_matrices(o, a, who)
    other = similarity_matrices(o[order], a[order], who[order])
    for name in ("oo", "oa", "aa"):
        np.testing.assert_allclose(getattr(other, name).matrix, getattr(first, name).matrix)
    assert deidentification(other.oo, other.oa).value == pytest.approx(
        deidentification(first.oo, first.oa).value
    )


def test_no_voice_that_stands_out_is_minus_infinity():
    clear = Similarity(np.array([[0.9, 0.1], [0.1, 0.9]]), ("a", "b"))
    flat = Similarity(np.full((2, 2), 0.5), ("a", "b"))
    assert gain_of_voice_distinctiveness(clear, flat).value == -np.inf
    assert deidentification(clear, flat).value == 1.0
    assert np.isnan(gain_of_voice_distinctiveness(flat, clear).value)
    assert np.isnan(deidentification(flat, clear).value)


def testdominance_of_drawn_speakers_is_that_of_the_drawn_matrix():
    m = RNG.random((7, 7))
    m[2, 2] = np.nan
    drawn = RNG.integers(0, 7, (20, 7))
    times = np.stack([np.bincount(d, minlength=7) for d in drawn]).astype(float)
    for pick, found in zip(drawn, dominance(m, times), strict=True):
        part, different = m[np.ix_(pick, pick)], pick[:, None] != pick
        expected = abs(np.nanmean(np.diagonal(part)) - part[different].mean())
        assert found == pytest.approx(expected)


def test_interval_narrows_with_more_speakers():
    def width(speakers):
        o, who = segments(speakers, 8, people=np.random.default_rng(1).random((speakers, 30)))
        a, _ = segments(speakers, 8, people=np.random.default_rng(2).random((speakers, 30)))
        found = similarity_matrices(o, a, who)
        low, high = deidentification(found.oo, found.oa).interval
        return high - low

    assert width(40) < 0.7 * width(8)


def test_what_does_not_fit_is_named():
    scores = np.zeros((3, 3))
    with pytest.raises(ScoreError, match="do not fit scores"):
        similarity_matrix(scores, "ab", "abc")
    scores[1, 2] = np.nan
    with pytest.raises(ScoreError, match="segments 1 and 2 is NaN"):
        similarity_matrix(scores, "aab", "aab")
    with pytest.raises(ScoreError, match="0 and 0 is NaN"):
        similarity_matrices(np.zeros((3, 2)), np.ones((3, 2)), "aab")
    with pytest.raises(ScoreError, match="do not fit vectors"):
        similarity_matrices(np.zeros((3, 2)), np.ones((4, 2)), "aab")
    with pytest.raises(ScoreError, match="same speakers"):
        deidentification(
            Similarity(np.eye(2), ("a", "b")),
            Similarity(np.eye(2), ("a", "c")),
        )


def test_means_of_blocks_vary_with_the_speakers():
    rng = np.random.default_rng(0)
    matrix = rng.uniform(size=(9, 9))
    matrix[2, 2] = np.nan
    found = Similarity(matrix, tuple("abcdefghi"))
    own, others = similarity_within(found), similarity_between(found)
    assert own.value == pytest.approx(np.nanmean(np.diagonal(matrix)))
    assert others.value == pytest.approx(matrix[~np.eye(9, dtype=bool)].mean())
    assert own.alone == ("c",)
    for figure in (own, others):
        low, high = figure.interval
        assert low < figure.value < high
    few = Similarity(matrix[:4, :4], tuple("abcd"))
    for found in (
        similarity_within(few),
        similarity_between(few),
        gain_of_voice_distinctiveness(few, few),
        deidentification(few, few),
    ):
        assert np.isnan(found.interval).all(), "of four speakers a bootstrap shows too little"
    even = Similarity(np.full((5, 5), 0.3), tuple("abcde"))
    assert similarity_within(even).interval == pytest.approx((0.3, 0.3))


def test_figures_of_matrices_have_the_intervals_of_the_reports():
    """Their bootstrap kept the calibration, and was half as wide."""
    rng = np.random.default_rng(3)
    names = np.repeat([f"s{i}" for i in range(8)], 4)
    before, after = (
        np.repeat(scale * rng.normal(size=(8, 6)), 4, axis=0) + rng.normal(size=(32, 6))
        for scale in (1.5, 0.7)
    )
    before, after = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (before, after))
    found, voices = similarity_matrices(before, after, names), VoiceVectors(before, after, names)
    for metric, figure in (
        (GAIN, gain_of_voice_distinctiveness(found.oo, found.aa)),
        (DEIDENTIFICATION, deidentification(found.oo, found.oa)),
        (AA_OWN, similarity_within(found.aa)),
        (OA_OTHERS, similarity_between(found.oa)),
    ):
        expected = metric.measure(voices)
        assert figure.value == pytest.approx(expected.value)
        assert figure.interval == pytest.approx(expected.interval)
    alone = replace(found.oo, others=None), replace(found.aa, others=None)
    narrow = gain_of_voice_distinctiveness(*alone).interval
    wide = gain_of_voice_distinctiveness(found.oo, found.aa).interval
    assert narrow[1] - narrow[0] < wide[1] - wide[0]
