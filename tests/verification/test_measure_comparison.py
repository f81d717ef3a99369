"""Comparison of measures with gaps, outliers and measures that do not vary."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.errors import VoicenymError
from voicenym.verification.measure_comparison import MeasureComparison


def people(seed: int = 0):
    rng = np.random.default_rng(seed)
    speakers = np.repeat(np.arange(40), 4)
    return 3.0 * rng.normal(size=(40, 5))[speakers] + rng.normal(size=(160, 5)), speakers


def test_scale_and_offset_of_a_measure_do_not_matter():
    x, speakers = people()
    other = x * [1.0, 1e3, 1e-3, 5.0, 2.0] + [0.0, 7.0, 1.0, -1e3, 3.0]
    found = [
        MeasureComparison.train(each[8:], speakers[8:]).score([each[:3]], each[[3, 7]])
        for each in (x, other)
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)
    assert found[0][0, 0] > 0.0 > found[0][0, 1]


def test_a_measure_that_nobody_has_and_one_that_does_not_vary_change_nothing():
    x, speakers = people()
    more = np.column_stack([x, np.full(160, np.nan), np.full(160, 4.0)])
    found = [
        MeasureComparison.train(each[8:], speakers[8:]).score([each[:3]], each[[3, 7]])
        for each in (x, more)
    ]
    np.testing.assert_allclose(found[0], found[1])


def test_a_gap_counts_as_the_usual_value_and_an_outlier_is_limited():
    x, speakers = people()
    trained = MeasureComparison.train(x[8:], speakers[8:])
    gap, wild = x[[3]].copy(), x[[3]].copy()
    gap[0, 2], wild[0, 2] = np.nan, 1e9
    usual = x[[3]].copy()
    usual[0, 2] = trained.mean[2]
    np.testing.assert_allclose(trained.score([x[:3]], gap), trained.score([x[:3]], usual))
    assert np.abs(trained.score([x[:3]], wild)).max() < 100.0


def test_nothing_measured_is_refused():
    with pytest.raises(VoicenymError, match="nothing can be measured"):
        MeasureComparison.train(np.full((8, 3), np.nan), ["a", "b"] * 4)
    with pytest.raises(VoicenymError, match="do not vary"):
        MeasureComparison.train(np.ones((8, 3)), ["a", "b"] * 4)
