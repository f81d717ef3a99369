import numpy as np
import pytest
from scipy.stats import norm

from voicenym.errors import ScoreError
from voicenym.metrics import Affine, cllr, min_cllr


def test_gaussians_have_a_slope_and_offset_in_closed_form():
    """N(m, s) against N(0, s): LLR = (m / s^2) x - m^2 / (2 s^2)."""
    quantiles = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    found = Affine.fit(2 * quantiles + 3, 2 * quantiles)
    assert found.slope == pytest.approx(0.75, rel=5e-3)
    assert found.offset == pytest.approx(-1.125, rel=5e-3)


def test_the_number_of_trials_of_a_class_does_not_matter():
    quantiles = norm.ppf((np.arange(2000) + 0.5) / 2000)
    even = Affine.fit(quantiles + 1, quantiles)
    skewed = Affine.fit(quantiles + 1, np.repeat(quantiles, 7))
    assert (even.slope, even.offset) == pytest.approx((skewed.slope, skewed.offset), rel=1e-6)


def test_calibrated_scores_cost_little_more_than_the_least():
    rng = np.random.default_rng(0)
    target, nontarget = 40 * rng.normal(1.5, 1, 3000) + 7, 40 * rng.normal(0, 1, 3000) + 7
    fit = Affine.fit(target, nontarget)
    cost = cllr(fit(target), fit(nontarget), replicates=2).value
    assert cost < min_cllr(target, nontarget, replicates=2).value + 0.02
    assert cost < cllr(target, nontarget, replicates=2).value


@pytest.mark.parametrize(
    ("target", "nontarget"), [([5.0, 6.0], [1.0, 2.0]), ([1e6], [-1e6]), ([1.0], [1.0])]
)
def test_separated_or_equal_classes_do_not_overflow(target, nontarget):
    fit = Affine.fit(target, nontarget)
    assert np.isfinite([fit.slope, fit.offset]).all()
    assert fit.slope >= 0


@pytest.mark.parametrize("prior", [0.05, 0.5, 0.9])
def test_no_line_near_the_found_one_has_less_cross_entropy_at_the_prior(prior):
    rng = np.random.default_rng(1)
    target, nontarget = rng.laplace(1, 2, 200), rng.laplace(0, 1, 500)
    odds = np.log(prior / (1 - prior))

    def cost(slope, offset):
        t, n = slope * target + offset + odds, slope * nontarget + offset + odds
        return prior * np.logaddexp(0, -t).mean() + (1 - prior) * np.logaddexp(0, n).mean()

    found = Affine.fit(target, nontarget, prior)
    least = cost(found.slope, found.offset)
    for slope, offset in [(0.02, 0.0), (-0.02, 0.0), (0.0, 0.02), (0.0, -0.02), (0.02, -0.02)]:
        assert least < cost(found.slope + slope, found.offset + offset)


def test_the_scale_of_scores_does_not_matter():
    rng = np.random.default_rng(0)
    target, nontarget = rng.normal(1, 1, 300), rng.normal(0, 1, 300)
    plain = Affine.fit(target, nontarget)(target)
    moved = Affine.fit(1e5 * target - 3e6, 1e5 * nontarget - 3e6)(1e5 * target - 3e6)
    assert moved == pytest.approx(plain, abs=1e-6)


def test_scores_that_point_the_wrong_way_are_turned():
    fit = Affine.fit([0.0, 1.0, 2.0], [1.5, 2.5, 3.5])
    assert fit.slope < 0


def test_tied_scores_say_nothing():
    fit = Affine.fit(np.full(3, 0.1), np.full(7, 0.1), prior=0.2)
    assert fit([0.1]) == pytest.approx([0.0], abs=1e-6)


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.1, 1.2, np.nan])
def test_a_prior_that_is_none(prior):
    with pytest.raises(ScoreError, match="between 0 and 1"):
        Affine.fit([1.0], [0.0], prior)


def test_infinite_scores_have_no_line():
    with pytest.raises(ScoreError, match="1 of 3 scores are infinite"):
        Affine.fit([np.inf, 1.0], [0.0])
