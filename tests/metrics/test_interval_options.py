"""The option of whether an interval is made."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from voicenym.errors import ScoreError
from voicenym.metrics.interval_options import few_speakers_factor, student_quantile
from voicenym.metrics.verification.cllr import cllr, min_cllr
from voicenym.metrics.verification.eer import eer, rocch_eer
from voicenym.metrics.verification.linkability import linkability
from voicenym.metrics.verification.low_false_matches import true_match_rates
from voicenym.metrics.verification.zebra import zebra

TARGET, NONTARGET = np.linspace(0.0, 2.0, 21), np.linspace(-1.0, 1.0, 21)
METRICS = [eer, rocch_eer, cllr, min_cllr, linkability, true_match_rates, zebra]


@pytest.mark.parametrize("interval", ["95", 95, 0.95, "none", "Auto", "", True, False])
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_an_interval_of_another_name_is_refused(metric, interval):
    """A level that is given in its place would else count as "auto"."""
    with pytest.raises(ScoreError, match=r'"auto".* or None.* not .*level=0\.95'):
        metric(TARGET, NONTARGET, interval=interval, replicates=9)


@pytest.mark.parametrize("degrees", [4, 9, 40, 1000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_quantiles_of_students_distribution_are_scipys(level, degrees):
    expected = t.ppf(0.5 + level / 2.0, degrees)
    tolerance = 0.03 if (level, degrees) == (0.99, 4) else 0.005
    assert student_quantile(level, degrees) == pytest.approx(expected, rel=tolerance)


def test_few_speakers_widen_an_interval_and_many_do_not():
    expected = np.sqrt(10 / 9) * t.ppf(0.975, 9) / 1.959964
    assert few_speakers_factor(10, 0.95) == pytest.approx(expected, rel=1e-3)
    assert few_speakers_factor(10**6, 0.95) == pytest.approx(1.0, abs=1e-5)
    assert few_speakers_factor(1, 0.95) == few_speakers_factor(10, 1.0) == 1.0
