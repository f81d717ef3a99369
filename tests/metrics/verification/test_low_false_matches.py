"""True-match rates at low false-match rates."""

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy.stats import norm

from voicenym.errors import ScoreError
from voicenym.metrics import Speakers
from voicenym.metrics.intervals.binomial import wilson
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.metrics.verification.low_false_matches import (
    TRUE_MATCHES_AT_01,
    TRUE_MATCHES_AT_1,
    true_match_rates,
)


def test_gaussian_scores_give_the_normal_deviates():
    rng = np.random.default_rng(0)
    target, nontarget = rng.normal(2, 1, 20_000), rng.normal(0, 1, 200_000)
    for found in true_match_rates(target, nontarget, replicates=30):
        expected = norm.cdf(2.0 + norm.ppf(found.false_match_rate))
        assert found.value == pytest.approx(expected, abs=0.01)
        assert found.interval[0] < expected < found.interval[1]


def test_equal_scores_are_accepted_together_at_chance():
    found = true_match_rates(np.zeros(10), np.zeros(2000), replicates=3)
    assert [one.value for one in found] == pytest.approx([0.01, 0.001])


def test_a_score_above_all_others_is_a_true_match_at_any_rate():
    found = true_match_rates([5.0, -5.0], np.arange(0.0, 1.0, 0.01), rates=(1e-6,), replicates=3)
    assert found[0].value == pytest.approx(0.5, abs=1e-3)
    with pytest.raises(ScoreError, match="between 0 and 1"):
        true_match_rates([1.0], [0.0], rates=(0.0,))


def by_corners(target, nontarget, rate):
    """TMR by plain counts at each threshold, and the line between both corners around the rate."""
    corners = {}
    for threshold in [*np.unique(np.concatenate([target, nontarget])), np.inf]:
        matches = corners.setdefault(np.mean(nontarget >= threshold), [])
        matches.append(np.mean(target >= threshold))
    if rate in corners:
        return max(corners[rate])
    low = max(one for one in corners if one < rate)
    high = min(one for one in corners if one > rate)
    first, last = max(corners[low]), min(corners[high])
    return first + (last - first) * (rate - low) / (high - low)


@pytest.mark.parametrize("levels", [3, 8, 10_000])
def test_rates_are_those_of_plain_counts_with_and_without_ties(levels):
    rng = np.random.default_rng(levels)
    rates = (0.004, 0.01, 0.05, 0.25, 0.5, 0.8)
    for size in (2, 7, 30, 100):
        target, nontarget = rng.integers(0, levels, size) + levels // 4, rng.integers(0, levels, 40)
        found = true_match_rates(target, nontarget, rates=rates, interval=None)
        for one in found:
            expected = by_corners(target, nontarget, one.false_match_rate)
            assert one.value == pytest.approx(expected, abs=1e-12)


def test_a_step_of_the_roc_is_not_cut_off():
    """Targets 1 and 3, others 0 and 2: from a false-match rate of 0 to 0.5 the ROC is flat."""
    found = true_match_rates([1.0, 3.0], [0.0, 2.0], rates=(0.1, 0.25, 0.49, 0.5), interval=None)
    assert [one.value for one in found] == pytest.approx([0.5, 0.5, 0.5, 1.0])


def test_where_no_target_matches_the_number_of_speakers_limits_what_is_known():
    who = np.repeat(np.arange(10), 3)
    rng = np.random.default_rng(0)
    speakers = Speakers(np.stack([who, who], 1), rng.integers(0, 10, (1200, 2)))
    others = rng.normal(0, 1, 1200)
    for targets, hits in ((-9.0, 0), (9.0, 10)):
        for found in true_match_rates(np.full(30, targets), others, speakers, replicates=50):
            low, high = wilson(hits, 10, 0.95)
            assert found.value == hits / 10
            assert found.interval[0] <= low < high <= found.interval[1]


def test_too_few_trials_have_no_rate():
    rng = np.random.default_rng(0)

    def of(count):
        who = Speakers(np.zeros((5, 2), int), rng.integers(0, 4, (count, 2)))
        return TrialScores(rng.normal(1, 1, 5), rng.normal(0, 1, count), who, replicates=3)

    assert TRUE_MATCHES_AT_1(of(99)) is None
    assert TRUE_MATCHES_AT_1(of(100)).unit == "%"
    assert TRUE_MATCHES_AT_01(of(999)) is None
    assert TRUE_MATCHES_AT_01(of(1000)) is not None
