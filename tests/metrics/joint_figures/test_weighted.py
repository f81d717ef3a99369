"""Weighted means over parts: the published tables, and intervals with shared speakers."""

import numpy as np
import pytest

from voicenym.errors import ScoreError
from voicenym.metrics import (
    Similarity,
    Speakers,
    eer,
    gain_of_voice_distinctiveness,
    weighted_eer,
    weighted_gain,
    weighted_ratio,
)
from voicenym.metrics.intervals.binomial import FEW_ERRORS, wilson
from voicenym.metrics.joint_figures.weighted import weighted_mean
from voicenym.metrics.verification.eer import equal_error


def part(seed, speakers, first=0, distance=2.0):
    """Scores of a model and four trials a speaker, and who speaks."""
    rng = np.random.default_rng(seed)
    model, trial = np.arange(speakers), np.repeat(np.arange(speakers), 4)
    same = model[:, None] == trial
    pairs = np.stack(np.broadcast_arrays(model[:, None], trial), axis=-1) + first
    scores = rng.standard_normal(same.shape) + distance * same
    return scores[same], scores[~same], Speakers(pairs[same], pairs[~same])


def rate(percent, count=10_000):
    """Scores whose equal error rate is known: so many of either class on the wrong side."""
    wrong = round(count * percent / 100)
    scores = np.concatenate([np.full(wrong, -1.0), np.full(count - wrong, 1.0)])
    return scores, -scores, Speakers(np.zeros((count, 2), int), np.zeros((count, 2), int))


@pytest.mark.parametrize(
    ("rates", "published"),
    [  # Miao et al. 2023, tables V and VII: selection, development set; B2, test set (table XIV)
        ((47.44, 46.72, 52.11, 48.04, 47.97, 45.30), 48.23),
        ((11.65, 4.96, 7.52, 6.79, 7.55, 7.12), 7.75),
        ((7.12, 1.11, 16.92, 7.69, 10.98, 4.80), 7.77),
    ],
)
def test_published_means_come_back(rates, published):
    found = weighted_eer(list(map(rate, rates)), (0.25, 0.25, 0.2, 0.2, 0.05, 0.05), replicates=1)
    assert 100 * np.array(found.parts) == pytest.approx(rates)
    assert 100 * found.value == pytest.approx(published, abs=0.006)


def test_one_part_is_its_equal_error_rate_and_interval():
    t, n, who = part(0, 15)
    found, plain = weighted_eer([(t, n, who)], [3.0]), eer(t, n, who)
    assert found.value == plain.value
    assert found.interval == pytest.approx(plain.interval, abs=0.02)
    assert found.weights == (1.0,)


def test_a_part_that_is_missing_leaves_its_weight_to_the_others():
    parts = [part(0, 10, distance=1.0), part(1, 10, 10, 3.0)]
    found = weighted_eer(parts, [0.25, 0.05], replicates=2)
    a, b = (eer(t, n).value for t, n, _ in parts)
    assert found.value == pytest.approx((5 * a + b) / 6)


def test_parts_of_the_same_speakers_vary_together():
    """Of twice the same trials the mean is no surer than of one; of other people it is."""
    one = part(0, 15, distance=1.0)
    again = (one[0], one[1], Speakers(one[2].target + 15, one[2].nontarget + 15))
    width = [
        np.diff(weighted_eer(parts, [1] * len(parts), replicates=400).interval)[0]
        for parts in ([one], [one, one], [one, again])
    ]
    assert width[1] == pytest.approx(width[0])
    assert width[2] < 0.9 * width[0]


def test_a_mean_of_parts_without_errors_or_of_two_speakers_has_a_width():
    """Whose bootstrap draws are all alike: limits of a sum of independent estimates."""
    t, n, who = part(0, 10, distance=50.0)
    apart = weighted_eer(
        [(t, n, who), (t, n, Speakers(who.target + 10, who.nontarget + 10))], [3, 1]
    )
    high = wilson(0, 10, 0.95)[1]
    assert apart.value == 0.0
    assert apart.interval == (0.0, pytest.approx(high * np.hypot(0.75, 0.25)))
    two = [([1.0, 0.0], [0.0, 1.0], Speakers(np.array([[i, i], [i + 1, i + 1]]),
            np.array([[i, i + 1], [i + 1, i]]))) for i in (0, 2)]  # fmt: skip
    low, high = weighted_eer(two, [1, 1], replicates=20).interval
    reach = np.sqrt(0.5) * (0.5 - wilson(1, 2, 0.95)[0])
    assert (low, high) == pytest.approx((0.5 - reach, 0.5 + reach))
    near = [part(1, 12, distance=0.3), part(2, 12, first=12, distance=0.3)]
    whole = weighted_eer(near, [1, 1], replicates=50)
    drawn = [equal_error(*one) for one in near]
    assert min(one.value * one.trials for one in drawn) > FEW_ERRORS
    assert whole.interval == weighted_mean(drawn, [1, 1], replicates=50).interval, (
        "of more speakers, with many errors, the bootstrap's"
    )


def test_ratios_and_gains_are_weighed_alike():
    errors = [([2, 1, 0], [10, 5, 0], "abe"), ([3, 3], [10, 10], "cd")]
    found = weighted_ratio(errors, [1, 1], unit="%", replicates=50)
    assert found.value == pytest.approx((0.2 + 0.3) / 2)
    assert found.parts == pytest.approx((0.2, 0.3))
    assert found.interval[0] <= found.value <= found.interval[1]
    assert found.unit == "%"
    rng = np.random.default_rng(0)
    matrices = [
        tuple(Similarity(rng.uniform(size=(4, 4)), tuple("abcd")) for _ in "oa") for _ in range(2)
    ]
    gains = [gain_of_voice_distinctiveness(*pair, replicates=2).value for pair in matrices]
    found = weighted_gain(matrices, [0.25, 0.75], replicates=50)
    assert found.value == pytest.approx(0.25 * gains[0] + 0.75 * gains[1])
    assert found.unit == "dB"


def test_what_does_not_fit_is_named():
    with pytest.raises(ScoreError, match="positive weights"):
        weighted_eer([part(0, 5)], [0.0])
    with pytest.raises(ScoreError, match="0 parts"):
        weighted_eer([], [])
    t, n, who = part(0, 5)
    with pytest.raises(ScoreError, match="target score 0 is NaN"):
        weighted_eer([(np.full_like(t, np.nan), n, who)], [1.0])
    with pytest.raises(ScoreError, match="do not fit"):
        weighted_eer([(t[1:], n, who)], [1.0])
