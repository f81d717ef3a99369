import numpy as np
import pytest

from voicenym.errors import ScoreError
from voicenym.metrics import miss_match_rate, wrong_match_rate


def test_rates_at_a_threshold_by_hand():
    assert miss_match_rate([0.1, 0.2, 0.25, 0.9], 0.25).value == 0.5
    assert wrong_match_rate([0.1, 0.2, 0.25, 0.9], 0.25).value == 0.5
    assert miss_match_rate([1.0], 0.5).value == 0.0


def test_wilsons_interval_by_hand():
    """10 of 100 at 95 %: 0.0552 to 0.1744 (Wilson 1927)."""
    low, high = miss_match_rate(np.repeat([0.0, 1.0], [10, 90]), 0.5).interval
    assert (low, high) == pytest.approx((0.0552, 0.1744), abs=1e-4)
    low, high = wrong_match_rate(np.zeros(5), 0.5).interval
    assert low == 0.0
    assert high > 0.3, "five trials prove little"


def test_nan_is_named():
    with pytest.raises(ScoreError, match="target score 1 is NaN"):
        miss_match_rate([0.0, np.nan], 0.5)


def test_wilsons_limits_are_where_the_rate_is_z_errors_away():
    """What the interval is defined by: (p - limit)^2 = z^2 limit (1 - limit) / n."""
    for hits, trials in ((1, 7), (30, 90), (499, 500)):
        found = miss_match_rate(np.repeat([0.0, 1.0], [hits, trials - hits]), 0.5, level=0.9)
        for limit in found.interval:
            distance = (found.value - limit) ** 2
            assert distance == pytest.approx(1.6448536**2 * limit * (1 - limit) / trials)


def test_a_score_at_the_threshold_is_a_match():
    assert miss_match_rate([0.25], 0.25).value == 0.0
    assert wrong_match_rate([0.25], 0.25).value == 1.0
