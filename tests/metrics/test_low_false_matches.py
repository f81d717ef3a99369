"""True-match rates at low false-match rates."""

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy.stats import norm

from voicenym.errors import ScoreError
from voicenym.metrics import Speakers
from voicenym.metrics.low_false_matches import (
    TRUE_MATCHES_AT_01,
    TRUE_MATCHES_AT_1,
    true_match_rates,
)
from voicenym.metrics.metric_inputs import TrialScores


def test_gaussian_scores_give_the_normal_deviates():
    rng = np.random.default_rng(0)
    target, nontarget = rng.normal(2, 1, 20_000), rng.normal(0, 1, 200_000)
    for found in true_match_rates(target, nontarget, replicates=30):
        expected = norm.cdf(2.0 + norm.ppf(found.false_match_rate))
        assert found.value == pytest.approx(expected, abs=0.01)
        assert found.interval[0] < expected < found.interval[1]


def test_equal_scores_are_accepted_together_at_chance():
    found = true_match_rates(np.zeros(10), np.zeros(2000), replicates=3)
    assert [one.value for one in found] == pytest.approx([0.01, 0.001])


def test_a_score_above_all_others_is_a_true_match_at_any_rate():
    found = true_match_rates([5.0, -5.0], np.arange(0.0, 1.0, 0.01), rates=(1e-6,), replicates=3)
    assert found[0].value == pytest.approx(0.5, abs=1e-3)
    with pytest.raises(ScoreError, match="between 0 and 1"):
        true_match_rates([1.0], [0.0], rates=(0.0,))


def test_too_few_trials_have_no_rate():
    rng = np.random.default_rng(0)

    def of(count):
        who = Speakers(np.zeros((5, 2), int), rng.integers(0, 4, (count, 2)))
        return TrialScores(rng.normal(1, 1, 5), rng.normal(0, 1, count), who, replicates=3)

    assert TRUE_MATCHES_AT_1(of(99)) is None
    assert TRUE_MATCHES_AT_1(of(100)).unit == "%"
    assert TRUE_MATCHES_AT_01(of(999)) is None
    assert TRUE_MATCHES_AT_01(of(1000)) is not None
