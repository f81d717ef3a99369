"""The option of whether an interval is made."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.errors import ScoreError
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
