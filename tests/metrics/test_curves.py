import sys

import numpy as np
import pytest
from scipy.stats import norm

from voicenym.errors import DependencyError
from voicenym.metrics import det, roc


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
