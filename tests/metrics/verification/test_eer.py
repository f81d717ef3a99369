"""EER against closed forms, with ties, and on misleading scores."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from voicenym.errors import DependencyError, ScoreError
from voicenym.metrics import Speakers, cllr, eer, linkability, min_cllr, rocch_eer, zebra
from voicenym.metrics.intervals.binomial import wilson
from voicenym.metrics.trials.pav import llr
from voicenym.metrics.trials.sorted_trials import SortedTrials
from voicenym.metrics.verification.eer import limits

RNG = np.random.default_rng(0)
FEW = {"replicates": 3}


def gaussian(distance, size=20_000):
    """Scores of two Gaussians at exact quantiles, so that nothing is left to chance."""
    quantiles = (np.arange(size) + 0.5) / size
    return norm.ppf(quantiles) + distance, norm.ppf(quantiles)


@pytest.mark.parametrize("distance", [0.0, 0.5, 1.0, 2.0, 4.0])
def test_gaussians_of_equal_variance_have_the_analytic_rate(distance):
    target, nontarget = gaussian(distance)
    found = eer(target, nontarget)
    assert found.value == pytest.approx(norm.cdf(-distance / 2), abs=2e-4)
    hull = rocch_eer(target, nontarget, replicates=1)
    assert hull.value == pytest.approx(norm.cdf(-distance / 2), abs=2e-4)
    assert found.threshold == pytest.approx(distance / 2, abs=2e-2)


def test_separated_identical_and_reversed_scores():
    low, high = np.arange(10.0), np.arange(20.0, 30.0)
    assert eer(high, low).value == 0.0
    assert eer(low, low).value == pytest.approx(0.5)
    assert eer(low, high).value == pytest.approx(1.0)
    assert rocch_eer(low, high, **FEW).value == pytest.approx(0.5), "it never points the wrong way"


def test_no_errors_of_few_speakers_are_compatible_with_some():
    who = np.repeat(np.arange(8), 5)
    speakers = Speakers(np.stack([who, who], 1), np.stack([who, (who + 1) % 8], 1))
    found = eer(np.ones(40), np.zeros(40), speakers, replicates=20)
    assert (found.value, found.interval) == (0.0, wilson(0, 8, 0.95))
    found = eer(np.ones(40), np.zeros(12))
    assert (found.value, found.interval) == (0.0, wilson(0, 12, 0.95)), "independent trials"


def test_one_error_of_many_trials_is_compatible_with_more():
    """Between the interval of no errors, and that of a binomial share of as many trials."""
    people = np.repeat(np.arange(40), 5)
    who = Speakers(np.stack([people] * 2, 1), np.stack([people, (people + 1) % 40], 1))
    target, nontarget = np.linspace(1.0, 2.0, 200), np.linspace(-1.0, 0.0, 200)
    none = eer(target, nontarget, who, replicates=50)
    target[0] = -0.5
    one = eer(target, nontarget, who, replicates=200)
    assert 0.0 < one.value < 0.01
    assert one.value + 0.01 < one.interval[1] < none.interval[1]
    assert one.interval[0] < one.value
    apart = eer(target, nontarget)
    assert apart.interval[1] > one.value + 0.01


def test_equal_and_reversed_scores_are_no_protection():
    people = np.arange(8)
    who = Speakers(np.stack([people] * 2, 1), np.stack([people, (people + 1) % 8], 1))
    equal = SortedTrials(np.zeros(8), np.zeros(8), who)
    found = eer(equal, replicates=20)
    assert found.value == 0.5
    assert found.interval == pytest.approx(wilson(4, 8, 0.95))
    assert rocch_eer(equal, replicates=20).interval[0] == pytest.approx(wilson(4, 8, 0.95)[0])
    assert "no evidence of protection" in limits(found, equal)[0]
    for figure in (linkability, zebra, min_cllr, cllr):
        assert np.isnan(figure(equal, replicates=20).interval).all()
    turned = SortedTrials(np.arange(8.0), np.arange(10.0, 18.0), who)
    assert "errs in 0.0 % of cases, not in 100.0 %" in limits(eer(turned), turned)[0]
    apart = SortedTrials(np.arange(10.0, 18.0), np.arange(8.0), who)
    assert limits(eer(apart), apart) == ()


def test_tied_scores_are_chance_and_not_separation():
    assert eer(np.zeros(5), np.zeros(9)).value == pytest.approx(0.5)
    assert rocch_eer(np.zeros(5), np.zeros(9), **FEW).value == pytest.approx(0.5)


def test_rounded_scores_lie_near_those_that_are_not():
    target, nontarget = RNG.normal(1, 1, 5000), RNG.normal(0, 1, 5000)
    rounded = eer(np.round(target, 1), np.round(nontarget, 1)).value
    assert rounded == pytest.approx(eer(target, nontarget).value, abs=0.005)


def test_one_trial_of_each_kind_and_infinities():
    assert eer([1.0], [0.0]).value == 0.0
    assert eer([0.0], [1.0]).value == 1.0
    assert eer([np.inf, 1.0], [-np.inf, 0.0]).value == 0.0
    assert eer([np.inf, -np.inf], [np.inf, -np.inf]).value == pytest.approx(0.5)


def test_what_is_no_score_is_named():
    with pytest.raises(ScoreError, match=r"target score 2 is NaN \(1 of 3"):
        eer([0.0, 1.0, np.nan], [0.0])
    with pytest.raises(ScoreError, match="no non-target scores"):
        eer([0.0], [])


scores = st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=40)


@given(scores, scores)
def test_monotone_maps_and_exchanged_classes(target, nontarget):
    t, n = np.array(target), np.array(nontarget)
    value = eer(t, n).value
    assert 0.0 <= value <= 1.0
    assert eer(np.exp(t / 7) * 3 - 1, np.exp(n / 7) * 3 - 1).value == pytest.approx(value)
    assert eer(-n, -t).value == pytest.approx(value)
    assert rocch_eer(t, n, **FEW).value <= min(value, 0.5) + 1e-12


@given(scores, scores)
def test_the_hull_is_the_best_of_all_mixed_decisions(target, nontarget):
    """By brute force: the lowest crossing of any segment between two points of the ROC."""
    t, n = np.array(target), np.array(nontarget)
    thresholds = np.append(np.unique(np.concatenate([t, n])), np.inf)
    points = [((n >= x).mean(), (t < x).mean()) for x in thresholds]
    best = 1.0
    for a1, m1 in points:
        for a2, m2 in points:
            before, after = a1 - m1, a2 - m2
            if before == after == 0:
                best = min(best, m1)
            elif before >= 0 >= after:
                share = before / (before - after)
                best = min(best, m1 + share * (m2 - m1))
    assert rocch_eer(t, n, **FEW).value == pytest.approx(best)


def test_interval_of_independent_trials_is_the_published_formula():
    target, nontarget = gaussian(2.0, 500)
    found = eer(target, nontarget, level=0.95)
    p = found.value
    half = 1.959964 * np.sqrt(p * (1 - p) / 2000 + p * (1 - p) / 2000)
    assert found.interval == pytest.approx((p - half, p + half), abs=1e-6)
    assert "Bengio" in found.method


def test_without_scipy_the_hull_names_the_cure_and_the_rate_does_without(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    assert eer([1.0], [0.0]).value == 0.0
    with pytest.raises(DependencyError, match=r"voicenym\[evaluate\]"):
        rocch_eer([1.0], [0.0])


def test_the_hull_has_an_interval_over_speakers_that_is_wider_than_over_trials():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(12), 15)
    speakers = Speakers(np.stack([who, who], 1), np.stack([who, (who + 1) % 12], 1))
    offset = rng.normal(0, 1, 12)[who]
    t, n = rng.normal(2, 1, who.size) + offset, rng.normal(0, 1, who.size) + offset
    found, plain = rocch_eer(t, n, speakers, replicates=200), rocch_eer(t, n, replicates=200)
    assert found.value == plain.value
    assert found.interval[0] <= found.value <= found.interval[1]
    assert np.diff(found.interval) > np.diff(plain.interval)
    assert found.unit == "share"


def test_the_hull_s_rate_is_the_largest_bayes_error_of_scores_calibrated_by_pav():
    """Brümmer and de Villiers 2013: max over priors of min over decisions of the error rate."""
    rng = np.random.default_rng(3)
    target, nontarget = rng.normal(1, 1, 60).round(1), rng.normal(0, 1.5, 90).round(1)
    t, n = llr(target, nontarget)
    errors = [
        p * np.mean(t <= -logit) + (1 - p) * np.mean(n > -logit)
        for p in np.linspace(0.001, 0.999, 4001)
        for logit in [np.log(p / (1 - p))]
    ]
    assert rocch_eer(target, nontarget, **FEW).value == pytest.approx(max(errors), abs=5e-4)
    assert max(errors) < eer(target, nontarget).value
