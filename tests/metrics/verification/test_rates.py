from statistics import NormalDist

import numpy as np
import pytest

from voicenym.errors import ScoreError
from voicenym.metrics import Speakers, eer, miss_match_rate, wrong_match_rate
from voicenym.metrics.intervals.binomial import unanimous, wilson


def test_rates_at_a_threshold_by_hand():
    assert miss_match_rate([0.1, 0.2, 0.25, 0.9], 0.25).value == 0.5
    assert wrong_match_rate([0.1, 0.2, 0.25, 0.9], 0.25).value == 0.5
    assert miss_match_rate([1.0], 0.5).value == 0.0


def test_wilsons_interval_by_hand():
    """10 of 100 at 95 %: 0.0552 to 0.1744 (Wilson 1927)."""
    low, high = miss_match_rate(np.repeat([0.0, 1.0], [10, 90]), 0.5).interval
    assert (low, high) == pytest.approx((0.0552, 0.1744), abs=1e-4)
    low, high = wrong_match_rate(np.zeros(5), 0.5).interval
    assert low == 0.0
    assert high > 0.3, "five trials prove little"


def test_nan_is_named():
    with pytest.raises(ScoreError, match="target score 1 is NaN"):
        miss_match_rate([0.0, np.nan], 0.5)
    with pytest.raises(ScoreError, match="non-target score 0 is NaN"):
        wrong_match_rate([np.nan], 0.5)
    with pytest.raises(ScoreError, match="do not fit 2 trials"):
        miss_match_rate([0.0, 1.0], 0.5, speakers=["a"])


def test_wilsons_limits_are_where_the_rate_is_z_errors_away():
    """What the interval is defined by: (p - limit)^2 = z^2 limit (1 - limit) / n."""
    for hits, trials in ((1, 7), (30, 90), (499, 500)):
        found = miss_match_rate(np.repeat([0.0, 1.0], [hits, trials - hits]), 0.5, level=0.9)
        for limit in found.interval:
            distance = (found.value - limit) ** 2
            assert distance == pytest.approx(1.6448536**2 * limit * (1 - limit) / trials)


def test_a_score_at_the_threshold_is_a_match():
    assert miss_match_rate([0.25], 0.25).value == 0.0
    assert wrong_match_rate([0.25], 0.25).value == 1.0


def test_at_the_threshold_of_equal_errors_both_rates_are_the_eer():
    rng = np.random.default_rng(0)
    target, nontarget = rng.normal(2, 1, 500), rng.normal(0, 1, 5000)
    found = eer(target, nontarget)
    assert miss_match_rate(target, found.threshold).value == pytest.approx(found.value, abs=2e-3)
    assert wrong_match_rate(nontarget, found.threshold).value == pytest.approx(
        found.value, abs=2e-3
    )


def test_speakers_who_are_all_missed_or_all_matched_widen_the_interval():
    """100 trials of each of 10 speakers say as little as 10 trials do."""
    scores = np.repeat([0.0, 1.0], 500)
    who = np.repeat(np.arange(10), 100)
    low, high = miss_match_rate(scores, 0.5, speakers=who).interval
    assert (low, high) == pytest.approx((0.2, 0.8), abs=0.1)
    mixed = miss_match_rate(scores, 0.5, speakers=np.tile(np.arange(10), 100))
    assert mixed.interval == pytest.approx(wilson(5, 10, 0.95)), "all draws are alike"
    assert mixed.method == "bootstrap over speakers"


def test_all_or_none_have_the_width_of_as_few_trials_as_there_are_speakers():
    who = np.repeat(np.arange(10), 100)
    found = miss_match_rate(np.ones(1000), 0.5, speakers=who)
    assert (found.value, *found.interval) == pytest.approx((0.0, *wilson(0, 10, 0.95)))
    found = wrong_match_rate(np.ones(1000), 0.5, level=0.9, speakers=who)
    assert (found.value, *found.interval) == pytest.approx((1.0, *wilson(10, 10, 0.9)))
    few = np.stack([who % 3, who], axis=1)
    found = wrong_match_rate(np.zeros(1000), 0.5, speakers=few)
    assert found.interval == pytest.approx(wilson(0, 3, 0.95))


def test_a_share_of_all_or_none_keeps_what_a_bootstrap_adds():
    low, high = wilson(0, 20, 0.95)
    assert unanimous(0.0, (0.0, 0.01), 20) == (low, high)
    assert unanimous(0.0, (0.0, 0.9), 20) == (low, 0.9)
    assert unanimous(0.3, (0.3, 0.31), 20) == (0.3, 0.31)
    assert unanimous(0.3, (0.3, 0.3), 20) == wilson(6, 20, 0.95), "whose draws are all alike"
    assert unanimous(1.0, (1.0, 1.0), 0) == (1.0, 1.0)
    assert np.isnan(unanimous(1.0, (np.nan, np.nan), 20)).all()


def test_shares_of_two_to_four_speakers_have_intervals_as_wide_as_so_few_allow():
    """A bootstrap of two speakers has one draw with trials of both kinds, and so no width."""
    assert unanimous(0.5, (0.5, 0.5), 2) == pytest.approx(wilson(1, 2, 0.95))
    assert unanimous(0.4, (0.1, 0.41), 4) == (0.1, pytest.approx(wilson(1.6, 4, 0.95)[1]))
    assert unanimous(0.4, (0.39, 0.41), 5) == (0.39, 0.41)
    assert np.isnan(unanimous(0.5, (np.nan, np.nan), 2)).all()


@pytest.mark.parametrize("sizes", [[2], [3], [2, 2], [4]])
def test_equal_error_rates_of_few_speakers_hold_the_truth(sizes):
    """Gaussian scores one deviation apart, in groups of people who are tried against each other."""
    rng, truth = np.random.default_rng(0), NormalDist().cdf(-0.5)
    first = np.cumsum([0, *sizes[:-1]])
    groups = [range(begin, begin + size) for begin, size in zip(first, sizes, strict=True)]
    own = np.array([(i, i) for group in groups for i in group for _ in range(6)])
    others = np.array(
        [(i, j) for group in groups for i in group for j in group if i != j for _ in range(6)]
    )
    held = 0
    for _ in range(60):
        target, nontarget = rng.normal(1.0, 1.0, len(own)), rng.normal(0.0, 1.0, len(others))
        low, high = eer(target, nontarget, Speakers(own, others), replicates=100).interval
        held += low <= truth <= high
    assert held >= 57


@pytest.mark.parametrize("truth", [0.02, 0.05, 0.97])
def test_intervals_of_few_speakers_hold_rare_and_frequent_hits(truth):
    """All trials of a speaker are alike, so that most samples of 20 speakers have none or all."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(20), 4)
    held = 0
    for _ in range(60):
        hits = np.repeat(rng.random(20) < truth, 4)
        low, high = wrong_match_rate(hits.astype(float), 0.5, speakers=who, replicates=99).interval
        held += low <= truth <= high
    assert held >= 0.85 * 60


def test_both_sides_of_a_trial_are_drawn():
    """Against the same draws over trials one by one."""
    rng = np.random.default_rng(1)
    scores, pairs = rng.random(300), rng.integers(0, 6, (300, 2))
    shares = []
    draws = np.random.default_rng(0)
    for _ in range(50):
        times = np.bincount(draws.integers(0, 6, 6), minlength=6)
        weight = [times[a] if a == b else times[a] * times[b] for a, b in pairs]
        shares.append(np.average(scores >= 0.5, weights=weight))
    found = wrong_match_rate(scores, 0.5, level=1.0, speakers=pairs, replicates=50)
    assert found.interval == pytest.approx((min(shares), max(shares)))
    assert found.value == pytest.approx((scores >= 0.5).mean())


@pytest.mark.parametrize("threshold", [float("nan"), None, "0.5", np.array([0.1, 0.2])])
def test_a_threshold_is_one_number(threshold):
    """No score lies below NaN, so that nothing would be missed."""
    for rate in (miss_match_rate, wrong_match_rate):
        with pytest.raises(ScoreError, match="a threshold is one number"):
            rate([0.1, 0.9], threshold)
    assert wrong_match_rate([0.1, 0.9], float("inf")).value == 0.0
