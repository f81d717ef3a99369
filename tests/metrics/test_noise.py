import numpy as np
import pytest

from voicenym.metrics import real_time_coefficient, signal_to_noise


@pytest.mark.parametrize("gain", [0.5, 0.9, 1.01, 3.0])
def test_noise_of_a_known_gain(gain):
    signal = np.sin(np.arange(1000))
    assert signal_to_noise(signal, gain * signal) == pytest.approx(-20 * np.log10(abs(1 - gain)))


def test_noise_of_a_known_power():
    rng = np.random.default_rng(0)
    signal, noise = rng.standard_normal((2, 200_000))
    assert signal_to_noise(signal, signal + 0.1 * noise) == pytest.approx(20.0, abs=0.05)


def test_the_level_of_both_does_not_matter():
    x, y = np.random.default_rng(1).standard_normal((2, 50))
    assert signal_to_noise(7 * x, 7 * y) == pytest.approx(signal_to_noise(x, y))


def test_nothing_changed_and_nothing_there():
    assert signal_to_noise(np.ones(3), np.ones(3)) == np.inf
    assert signal_to_noise(np.zeros(3), np.zeros(3)) == np.inf
    assert signal_to_noise(np.zeros(3), np.ones(3)) == -np.inf


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="3 and 4 samples"):
        signal_to_noise(np.zeros(3), np.zeros(4))


def test_real_time():
    assert real_time_coefficient(3.0, 60.0) == 0.05
    with pytest.raises(ValueError, match="positive"):
        real_time_coefficient(1.0, 0.0)
