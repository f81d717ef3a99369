"""Formants and F0 move by their factors; the duration shrinks as the formants rise."""

import numpy as np
import pytest
from scipy.signal import lfilter

from voicenym.dsp.pitch_changes.voice_shift import RATE, shifted


def vowel(f0: float, formant: float, rate: int, seconds: float = 1.0) -> np.ndarray:
    pulses = np.zeros(round(seconds * rate))
    pulses[:: round(rate / f0)] = 1.0
    pole = 0.97 * np.exp(2j * np.pi * formant / rate)
    return lfilter([1.0], [1.0, -2 * pole.real, abs(pole) ** 2], pulses).astype(np.float32) * 0.1


def f0_of(samples: np.ndarray) -> float:
    part = samples[RATE // 4 : 3 * RATE // 4]
    correlation = np.correlate(part, part, "full")[len(part) - 1 :]
    low, high = RATE // 400, RATE // 60
    return RATE / (low + int(correlation[low:high].argmax()))


def formant_of(samples: np.ndarray) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    smooth = np.convolve(spectrum, np.hanning(round(400 * len(samples) / RATE)), "same")
    return float(smooth.argmax()) * RATE / len(samples)


@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000])
@pytest.mark.parametrize(("tract", "pitch"), [(1.0, 1.0), (1.15, 1.5), (0.9, 0.8), (1.1, 1.1)])
def test_factors_are_those_asked_for(rate, tract, pitch):
    source = vowel(120.0, 1200.0, rate)
    own = f0_of(shifted(source, rate, 1.0, 1.0))
    made = shifted(source, rate, tract, pitch)
    assert made.dtype == np.float32
    assert len(made) == pytest.approx(RATE / tract, abs=2)
    assert f0_of(made) / own == pytest.approx(pitch, rel=0.04)
    assert formant_of(made) == pytest.approx(1200.0 * tract, rel=0.08)


def test_nothing_stays_nothing():
    assert shifted(np.zeros(0, np.float32), 22_050, 1.1, 1.5).shape == (0,)
    assert not shifted(np.zeros(8_000, np.float32), 16_000, 1.1, 1.5).any()
