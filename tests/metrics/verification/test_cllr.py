import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from voicenym.evaluation.reported_metrics import measure
from voicenym.metrics import Speakers, cllr, min_cllr
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.metrics.verification.cllr import COST, MIN_COST, least_cost

scores = st.lists(st.integers(-8, 8).map(float), min_size=1, max_size=25)
FEW = {"replicates": 3}


def gaussian_llr(distance, size=40_000):
    """LLRs of Gaussians a ``distance`` apart, at exact quantiles: N(+-d^2/2, d^2)."""
    quantiles = norm.ppf((np.arange(size) + 0.5) / size) * distance
    return quantiles + distance**2 / 2, quantiles - distance**2 / 2


@pytest.mark.parametrize("distance", [0.3, 1.0, 2.5])
def test_gaussian_ratios_have_the_analytic_cost(distance):
    def cost(x):
        return norm.pdf(x, distance**2 / 2, distance) * np.logaddexp(0, -x) / np.log(2)

    expected, _ = quad(cost, -40, 60)  # both classes cost the same by symmetry
    target, nontarget = gaussian_llr(distance)
    assert cllr(target, nontarget, **FEW).value == pytest.approx(expected, abs=1e-4)
    assert min_cllr(target, nontarget, **FEW).value == pytest.approx(expected, abs=2e-3)


def test_separated_useless_and_misleading():
    assert min_cllr([5.0, 6.0], [1.0, 2.0], **FEW).value == 0.0
    assert cllr([0.0], [0.0], **FEW).value == 1.0
    assert cllr([np.inf], [-np.inf], **FEW).value == 0.0
    assert cllr([-np.inf, 1.0], [0.0], **FEW).value == np.inf
    assert min_cllr([1.0, 2.0], [5.0, 6.0], **FEW).value == pytest.approx(1.0)
    assert min_cllr(np.ones(3), np.ones(4), **FEW).value == pytest.approx(1.0)


@given(scores, scores)
def test_calibration_never_costs_and_monotone_maps_change_nothing(target, nontarget):
    t, n = np.array(target), np.array(nontarget)
    least = min_cllr(t, n, **FEW).value
    assert -1e-12 <= least <= min(1.0, cllr(t, n, **FEW).value) + 1e-12
    assert min_cllr(np.exp(t / 3), np.exp(n / 3), **FEW).value == pytest.approx(least)


def test_interval_holds_the_value():
    target, nontarget = gaussian_llr(1.5, 300)
    found = min_cllr(target, nontarget, replicates=100)
    assert found.interval[0] <= found.value <= found.interval[1]
    assert found.unit == "bit"


def test_two_ratios_by_hand():
    """Odds of 3 for the target, of 1/7 for the non-target: (log2 4/3 + log2 8/7) / 2."""
    found = cllr([np.log(3)], [-np.log(7)], **FEW).value
    assert found == pytest.approx((np.log2(4 / 3) + np.log2(8 / 7)) / 2)


def test_an_interval_over_speakers_is_wider_than_one_over_trials():
    """Each speaker's trials move together, so that there are fewer of them than it seems."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(12), 40)
    target = 1.0 + rng.normal(0, 1, 12)[who] + rng.normal(0, 0.3, who.size)
    other = (who + 1) % 12
    nontarget = rng.normal(0, 1, 12)[who] + rng.normal(0, 0.3, who.size)
    speakers = Speakers(np.stack([who, who], axis=1), np.stack([who, other], axis=1))
    wide = min_cllr(target, nontarget, speakers, replicates=200)
    narrow = min_cllr(target, nontarget, replicates=200)
    assert wide.value == narrow.value
    assert np.diff(wide.interval)[0] > 1.5 * np.diff(narrow.interval)[0]


def test_the_reported_cost_exceeds_that_after_calibration_by_what_calibration_loses():
    """LLRs of two Gaussians are calibrated as they are; three times as large they mislead."""
    rng = np.random.default_rng(0)
    target, nontarget = rng.normal(2, 2, 4000), rng.normal(-2, 2, 4000)
    people = np.repeat(np.arange(40), 100)
    who = Speakers(np.stack([people, people], 1), np.stack([people, people + 1], 1))
    ratios, inflated = (
        TrialScores(scale * target, scale * nontarget, who, replicates=20) for scale in (1.0, 3.0)
    )
    assert COST(ratios).value == pytest.approx(MIN_COST(ratios).value, abs=0.01)
    assert COST(inflated).value > MIN_COST(inflated).value + 0.1
    figure = COST(inflated)
    assert figure.low <= figure.value <= figure.high
    assert figure.unit == "bit"
    assert measure(inflated)["C_llr"] == figure


def test_the_least_cost_of_drawn_speakers_is_that_of_repeated_trials():
    """Three speakers, of whom one was drawn twice and one not at all."""
    rng = np.random.default_rng(3)
    pairs = [(a, b) for a in range(3) for b in range(3) for _ in range(4)]
    same = np.array([a == b for a, b in pairs])
    scores = rng.normal(size=len(pairs)) + same
    who = np.array(pairs)
    found = least_cost(scores[same], scores[~same], Speakers(who[same], who[~same]))
    assert found.value == min_cllr(scores[same], scores[~same], interval=None).value
    times = np.array([2, 0, 1])
    weights = [int(times[a] * (1 if a == b else times[b])) for a, b in pairs]
    again, kind = np.repeat(scores, weights), np.repeat(same, weights)
    expected = min_cllr(again[kind], again[~kind], interval=None).value
    assert found.again(times.astype(float)) == pytest.approx(expected)
    assert math.isnan(found.again(np.array([0.0, 3.0, 0.0])))
