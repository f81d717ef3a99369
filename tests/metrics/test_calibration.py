import numpy as np
import pytest
from scipy.stats import norm

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
