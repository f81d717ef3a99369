import sys

import numpy as np
import pytest
from scipy.stats import norm

from voicenym.errors import DependencyError
from voicenym.metrics import Speakers, det, roc, roc_band


def test_rates_run_from_accepting_all_to_accepting_none():
    curve = roc([1.0, 2.0], [0.0, 1.0])
    assert curve.thresholds.tolist() == [0.0, 1.0, 2.0, np.inf]
    assert curve.miss.tolist() == [0.0, 0.0, 0.5, 1.0]
    assert curve.alarm.tolist() == [1.0, 0.5, 0.0, 0.0]


def test_det_of_gaussians_is_a_line_of_their_slope():
    quantiles = (np.arange(50_000) + 0.5) / 50_000
    curve = det(2.0 * norm.ppf(quantiles) + 3.0, norm.ppf(quantiles))
    middle = (abs(curve.alarm) < 2) & (abs(curve.miss) < 2)
    slope, offset = np.polyfit(curve.alarm[middle], curve.miss[middle], 1)
    # miss = Phi((x - 3) / 2) and alarm = Phi(-x), so miss' = -(alarm' + 3) / 2
    assert slope == pytest.approx(-0.5, abs=1e-3)
    assert offset == pytest.approx(-1.5, abs=1e-3)
    assert np.isfinite(curve.miss).all()


def test_det_is_clipped_where_a_rate_is_0_or_1():
    curve = det([1.0], [0.0])
    assert curve.miss == pytest.approx([norm.ppf(1e-5), norm.ppf(1e-5), norm.ppf(1 - 1e-5)])
    assert curve.alarm == pytest.approx(curve.miss[::-1])


def test_without_scipy_the_cure_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(DependencyError, match=r"voicenym\[evaluate\]"):
        det([1.0], [0.0])


def test_a_band_holds_the_curve_and_is_wider_where_speakers_recur():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(15), 12)
    speakers = Speakers(np.stack([who, who], 1), np.stack([who, (who + 1) % 15], 1))
    offset = rng.normal(0, 1, 15)[who]
    t, n = rng.normal(2, 1, who.size) + offset, rng.normal(0, 1, who.size) + offset
    alarm = [0.05, 0.2, 0.5]
    misses = [(t < np.quantile(n, 1 - a)).mean() for a in alarm]
    plain = roc_band(t, n, alarm=alarm, replicates=200)
    wide = roc_band(t, n, speakers, alarm=alarm, replicates=200)
    for band in (plain, wide):
        assert (band.low <= misses).all()
        assert (misses <= band.high).all()
    assert (wide.high - wide.low > plain.high - plain.low).all()


def test_a_band_of_one_trial_and_of_separated_classes():
    assert roc_band([1.0], [0.0], replicates=5).high.max() == 0.0
    found = roc_band([3.0, 4.0], [0.0, 1.0], replicates=20)
    assert found.low.max() == found.high.max() == 0.0
    assert (np.diff(found.alarm) > 0).all()
    reversed_ = roc_band([0.0, 1.0], [3.0, 4.0], alarm=[0.5], replicates=20)
    assert reversed_.high.tolist() == [1.0]
