"""Paired bootstrap: shared effects of speakers cancel in the difference of two systems."""

import numpy as np
import pytest

from voicenym.metrics import Speakers, eer, eer_difference
from voicenym.metrics.intervals.bootstrap_draws import Drawn, replicate
from voicenym.metrics.joint_figures.paired import differences, two_sided
from voicenym.metrics.verification.eer import equal_error

WHO = np.arange(24)
TRIALS = np.repeat(WHO, 6)
SAME = WHO[:, None] == TRIALS
PAIRS = np.stack(np.broadcast_arrays(WHO[:, None], TRIALS), axis=-1)
SPEAKERS = Speakers(PAIRS[SAME], PAIRS[~SAME])


def systems(rng, gap):
    """Two systems; some people, and some trials, are found more easily in both."""
    person, trial = 0.8 * rng.standard_normal(24), 0.7 * rng.standard_normal(SAME.shape)
    for extra in (0.0, gap):
        own = rng.standard_normal(SAME.shape) + SAME * (1.0 + extra + person[TRIALS])
        scores = own + trial
        yield scores[SAME], scores[~SAME], SPEAKERS


def chances(gap, count=60):
    rng = np.random.default_rng(0)
    paired, apart = [], []
    for seed in range(count):
        figures = [equal_error(*system) for system in systems(rng, gap)]
        draws = replicate(figures, 100, seed)
        value = figures[1].value - figures[0].value
        paired.append(two_sided(value, float((draws[1] - draws[0]).std(ddof=1))))
        apart.append(two_sided(value, float(np.hypot(*draws.std(1, ddof=1)))))
    return np.array(paired), np.array(apart)


def test_systems_that_are_alike_seldom_seem_to_differ():
    paired, _ = chances(0.0)
    assert 0.0 <= (paired < 0.05).mean() <= 0.12
    assert (paired < 0.5).mean() > 0.25, "and not never, either"


def test_pairs_see_differences_that_unpaired_figures_hide():
    paired, apart = chances(0.6)
    assert (paired < 0.05).mean() > 0.6
    assert (paired < 0.05).mean() > 2 * (apart < 0.05).mean()


def test_a_difference_is_that_of_the_rates_with_its_interval():
    first, second = systems(np.random.default_rng(1), 2.0)
    found = eer_difference(first, second, replicates=200)
    assert found.value == eer(*second[:2]).value - eer(*first[:2]).value
    assert found.interval[0] < found.value < found.interval[1] < 0.0
    assert found.p < 0.001
    back = eer_difference(second, first, replicates=200)
    assert (back.value, back.p) == (-found.value, pytest.approx(found.p))
    same = eer_difference(first, first, replicates=20)
    assert (same.value, same.interval, same.p) == (0.0, (0.0, 0.0), 1.0)


def test_two_systems_without_errors_may_still_differ():
    """Their draws are all alike: of no width, the difference looked certain to the last digit."""
    first, second = systems(np.random.default_rng(1), 2.0)
    apart = [(target + 50.0, nontarget, who) for target, nontarget, who in (first, second)]
    found = eer_difference(*apart, replicates=50)
    high = eer(*apart[0]).interval[1]
    assert (found.value, found.p) == (0.0, 1.0)
    assert found.interval == pytest.approx((-high, high))
    assert high > 0.05
    reversed_scores = (-apart[0][0], apart[0][1], apart[0][2])
    assert eer_difference(apart[0], reversed_scores, replicates=50).p < 0.001


def test_each_pair_of_many_has_its_difference_and_what_is_not_known_is_not():
    figures = [equal_error(*system) for system in systems(np.random.default_rng(2), 1.0)]
    nothing = Drawn(np.nan, WHO, lambda times: np.nan)
    found = differences([*figures, nothing], unit="%", replicates=20)
    assert set(found) == {(0, 1), (0, 2), (1, 2)}
    assert found[0, 1].unit == "%"
    assert np.isnan(found[0, 2].p)
    assert np.isfinite(found[0, 1].p)
