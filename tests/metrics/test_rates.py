import numpy as np
import pytest

from voicenym.errors import ScoreError
from voicenym.metrics import (
    miss_match_rate,
    real_time_coefficient,
    signal_to_noise,
    wrong_match_rate,
)


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


def test_noise_of_a_known_gain():
    signal = np.sin(np.arange(1000))
    assert signal_to_noise(signal, 1.01 * signal) == pytest.approx(40.0)
    assert signal_to_noise(signal, signal) == np.inf
    assert signal_to_noise(np.zeros(3), np.ones(3)) == -np.inf
    with pytest.raises(ValueError, match="3 and 4 samples"):
        signal_to_noise(np.zeros(3), np.zeros(4))


def test_real_time():
    assert real_time_coefficient(3.0, 60.0) == 0.05
    with pytest.raises(ValueError, match="positive"):
        real_time_coefficient(1.0, 0.0)
