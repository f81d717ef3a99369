"""De-noisers on signals with known results."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.attack.denoisers import (
    RATE,
    band_pass,
    denoisers,
    mean,
    median,
    mp3,
    quantize,
    squeeze,
)

SECONDS = 2.0


def sine(hertz: float, seconds: float = SECONDS) -> np.ndarray:
    t = np.arange(round(seconds * RATE)) / RATE
    return (0.5 * np.sin(2.0 * np.pi * hertz * t)).astype(np.float32)


def voice(seconds: float = SECONDS) -> np.ndarray:
    """Like speech: gliding harmonics that fall by 6 dB an octave, in syllables."""
    t = np.arange(round(seconds * RATE)) / RATE
    phase = np.cumsum(120.0 + 20.0 * np.sin(2.0 * np.pi * 0.7 * t)) / RATE
    tone = sum(np.sin(2.0 * np.pi * k * phase) / k for k in range(1, 40))
    return (0.2 * tone * np.sin(2.0 * np.pi * 2.0 * t) ** 2).astype(np.float32)


def middle(x: np.ndarray) -> np.ndarray:
    return x[len(x) // 4 : -len(x) // 4]


def gain_db(denoise, hertz: float) -> float:
    x = sine(hertz)
    return 10.0 * np.log10(np.mean(middle(denoise(x)) ** 2) / np.mean(middle(x) ** 2) + 1e-12)


def snr_db(x: np.ndarray, y: np.ndarray) -> float:
    return 10.0 * np.log10(np.mean(x**2) / np.mean((x - y) ** 2))


def lag(x: np.ndarray, y: np.ndarray) -> int:
    """Samples by which y comes later."""
    n = 2 * len(x)
    correlation = np.fft.irfft(np.fft.rfft(y, n) * np.fft.rfft(x, n).conj(), n)
    return (int(correlation.argmax()) + len(x)) % n - len(x)


@pytest.mark.parametrize("name", sorted(denoisers()))
@pytest.mark.parametrize("length", [0, 1, 2, 3, 575, 576, 577, 1_151, 16_001])
def test_lengths_and_types_are_kept(name, length):
    x = voice()[10_000 : 10_000 + length]
    y = denoisers()[name](x.copy())
    assert y.shape == x.shape
    assert y.dtype == np.float32
    assert np.isfinite(y).all()


@pytest.mark.parametrize("name", sorted(denoisers()))
def test_nothing_moves_in_time_and_the_input_stays(name):
    x = np.random.default_rng(1).normal(size=RATE)
    x = (0.1 * np.convolve(x, np.hanning(9), "same")).astype(np.float32)
    before = x.copy()
    assert lag(x, denoisers()[name](x)) == 0
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("mean", 12),
        ("median", 12),
        ("band-pass", 25),
        ("quantize", 20),
        ("squeeze", 25),
        ("mp3", 12),
    ],
)
def test_speech_stays_speech(name, least):
    x = voice()
    assert snr_db(x, denoisers()[name](x)) > least


@pytest.mark.parametrize("name", sorted(denoisers()))
def test_silence_stays_silent(name):
    assert np.abs(denoisers()[name](np.zeros(5_000, np.float32))).max() < 1e-6


def test_mean_spreads_an_impulse():
    x = np.zeros(7, np.float32)
    x[3] = 3.0
    np.testing.assert_allclose(mean(x), [0, 0, 1, 1, 1, 0, 0], atol=1e-6)
    # (1 + 2 cos w) / 3, zero at a third of the sample rate
    wanted = 20.0 * np.log10((1.0 + 2.0 * np.cos(2.0 * np.pi * 3_000.0 / RATE)) / 3.0)
    assert gain_db(mean, 3_000.0) == pytest.approx(wanted, abs=0.01)
    assert gain_db(mean, RATE / 3) < -80.0


def test_median_takes_out_an_impulse_and_keeps_a_step():
    x = np.array([0, 0, 9, 0, 0, 5, 5, 5], np.float32)
    assert median(x).tolist() == [0, 0, 0, 0, 0, 5, 5, 5]
    y = np.random.default_rng(2).normal(size=500).astype(np.float32)
    wide = np.pad(y, 1, mode="edge")
    np.testing.assert_array_equal(median(y), np.median([wide[:-2], wide[1:-1], wide[2:]], axis=0))


@pytest.mark.parametrize("hertz", [100.0, 1_000.0, 4_000.0, 7_400.0])
def test_band_pass_passes_its_band(hertz):
    assert gain_db(band_pass, hertz) == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize("hertz", [5.0, 15.0, 7_540.0, 7_900.0])
def test_band_pass_stops_the_rest(hertz):
    assert gain_db(band_pass, hertz) < -45.0


@pytest.mark.parametrize("hertz", [50.0, 7_500.0])
def test_band_pass_is_6_db_down_at_its_edges(hertz):
    assert gain_db(band_pass, hertz) == pytest.approx(-6.0, abs=0.3)


def test_quantize_has_256_levels():
    ramp = np.linspace(-1.2, 1.2, 50_001).astype(np.float32)
    y = quantize(ramp)
    assert len(np.unique(y)) == 256
    assert y.min() == -1.0
    assert y.max() == 127 / 128
    inside = np.abs(ramp) < 0.99
    assert np.abs(y - ramp)[inside].max() <= 0.5 / 128 + 1e-6
    # power of a ramp over that of an error that is uniform over one step
    assert snr_db(ramp[inside], y[inside]) == pytest.approx(
        10.0 * np.log10(0.99**2 / 3.0 * 12.0 * 128**2), abs=0.1
    )


@pytest.mark.parametrize("hertz", [100.0, 3_000.0, 5_500.0])
def test_squeeze_passes_low_frequencies_unmoved(hertz):
    x = sine(hertz)
    assert snr_db(middle(x), middle(squeeze(x))) > 40.0


@pytest.mark.parametrize("hertz", [6_600.0, 7_500.0])
def test_squeeze_stops_what_the_lower_rate_cannot_hold(hertz):
    assert gain_db(squeeze, hertz) < -60.0


def test_mp3_is_lossy_aligned_and_better_with_more_bits():
    x = voice()
    rates = [snr_db(x, mp3(x, rate)) for rate in (16_000, 32_000, 64_000, 128_000)]
    assert rates == sorted(rates)
    assert rates[0] > 3.0
    assert rates[-1] > 20.0
    assert snr_db(x[1:], mp3(x, 128_000)[:-1]) < rates[-1] - 10.0
    np.testing.assert_array_equal(mp3(x), mp3(x))


def test_mp3_keeps_the_first_and_last_samples():
    x = sine(440.0)
    y = mp3(x, 128_000)
    assert snr_db(x[:800], y[:800]) > 10.0
    assert snr_db(x[-800:], y[-800:]) > 10.0
