"""Loudness after ITU-R BS.1770-4."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.dsp.loudness import coefficients, gain_to, integrated_loudness


def sine(rate, seconds=3.0, frequency=997.0, level=1.0):
    return level * np.sin(2 * np.pi * frequency * np.arange(round(seconds * rate)) / rate)


def test_the_recommendations_own_test():
    """0 dBFS at 997 Hz in one channel reads -3.01 LKFS; in two it is 3.01 more."""
    assert integrated_loudness(sine(48_000), 48_000) == pytest.approx(-3.01, abs=0.005)
    assert integrated_loudness([sine(48_000)] * 2, 48_000) == pytest.approx(0.0, abs=0.005)


def test_the_filters_are_the_tabulated_ones_at_48_khz():
    (shelf, a), (_, b) = coefficients(48_000)
    assert shelf == pytest.approx([1.53512485958697, -2.69169618940638, 1.19839281085285])
    assert a == pytest.approx([1.0, -1.69065929318241, 0.73248077421585])
    assert b == pytest.approx([1.0, -1.99004745483398, 0.99007225036621])


def test_filtering_by_frequencies_is_filtering_by_samples():
    from scipy.signal import lfilter

    from voicenym.dsp.loudness import k_weighted

    noise = np.random.default_rng(0).standard_normal((2, 20_000))
    expected = noise
    for above, below in coefficients(16_000):
        expected = lfilter(above, below, expected)
    assert np.abs(k_weighted(noise, 16_000) - expected).max() < 1e-9


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 44_100, 96_000])
def test_other_rates_agree(rate):
    assert integrated_loudness(sine(rate), rate) == pytest.approx(-3.01, abs=0.05)


def test_pauses_are_gated():
    """Tech 3341, test 3: -36, -23 and -36 LUFS in stereo read -23."""
    parts = [sine(48_000, s, 1000.0, 10 ** (d / 20)) for s, d in ((4, -36), (20, -23), (4, -36))]
    assert integrated_loudness([np.concatenate(parts)] * 2, 48_000) == pytest.approx(-23, abs=0.1)


def test_a_gain_reaches_its_target():
    sound = sine(16_000, 0.2, 300.0, 0.1)  # shorter than a block
    loud = integrated_loudness(sound, 16_000)
    assert integrated_loudness(gain_to(-30.0, loud) * sound, 16_000) == pytest.approx(-30.0)


@pytest.mark.parametrize("damage", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("seconds", [0.2, 2.0])
def test_the_loudness_of_samples_that_are_no_numbers_is_unknown(damage, seconds):
    """It would else be that of silence."""
    sound = sine(16_000, seconds, 300.0, 0.1)
    sound[100] = damage
    assert np.isnan(integrated_loudness(sound, 16_000))
    assert np.isnan(integrated_loudness([sine(16_000, seconds, 300.0, 0.1), sound], 16_000))


def test_more_channels_than_have_weights_are_refused():
    with pytest.raises(ValueError, match="at most 5 channels, not 6"):
        integrated_loudness(np.ones((6, 16_000)), 16_000)


def test_silence_has_no_loudness():
    assert integrated_loudness(np.zeros(16_000), 16_000) == -np.inf
    assert integrated_loudness(np.zeros(0), 16_000) == -np.inf
