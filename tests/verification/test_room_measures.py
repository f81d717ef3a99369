"""Room and channel measures with known values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import butter, lfilter, sosfilt

from voicenym.verification.room_measures import NAMES, measure

RATE = 16_000


def bursts(seconds: float = 3.0, seed: int = 0) -> np.ndarray:
    """Noise in bursts of 150 ms, 3 a second: speech without a room."""
    time = np.arange(round(seconds * RATE)) / RATE
    rng = np.random.default_rng(seed)
    return 0.1 * ((time * 3.0) % 1.0 < 0.45) * rng.normal(size=len(time))


def named(samples):
    return dict(zip(NAMES, measure([samples.astype(np.float32)])[0], strict=True))


def noise(level: float, seconds: float = 3.0) -> np.ndarray:
    rng = np.random.default_rng(9)
    return 0.1 * 10.0 ** (level / 20.0) * rng.normal(size=round(seconds * RATE))


def test_the_noise_of_pauses_is_that_which_was_added():
    for level in (-40.0, -25.0):
        row = named(bursts() + noise(level))
        bands = [value for name, value in row.items() if name.startswith("noise at")]
        assert np.median(bands) == pytest.approx(level, abs=2.5)
        assert row["level of pauses, dB from speech"] == pytest.approx(level, abs=2.5)
        assert row["share of digital silence"] == 0.0
    assert named(bursts())["share of digital silence"] > 0.3


def test_a_narrow_noise_is_found_in_its_band():
    whistle = sosfilt(butter(4, (900, 1100), "bandpass", fs=RATE, output="sos"), noise(-20.0))
    row = named(bursts() + noise(-60.0) + whistle)
    bands = {name: value for name, value in row.items() if name.startswith("noise at")}
    assert max(bands, key=bands.__getitem__) == "noise at 850 to 1200 Hz, dB from speech"


def test_hum_is_that_of_the_mains():
    time = np.arange(3 * RATE) / RATE
    for mains, other in ((50, 60), (60, 50)):
        hum = sum(0.003 * np.sin(2 * np.pi * mains * k * time) for k in range(1, 5))
        row = named(bursts() + noise(-50.0) + hum)
        assert row[f"hum at {mains} Hz, dB"] > row[f"hum at {other} Hz, dB"] + 6.0


def test_a_reverberant_room_decays_slowly():
    rng = np.random.default_rng(3)
    slopes, moves = [], []
    for reverberation in (0.2, 0.6):  # seconds to -60 dB
        tail = np.arange(round(0.5 * RATE)) / RATE
        response = np.r_[
            1.0, 0.05 * rng.normal(size=len(tail)) * 10.0 ** (-3 * tail / reverberation)
        ]
        row = named(lfilter(response, [1.0], bursts()) + noise(-70.0))
        slopes.append(row["usual decay at 1500 to 4000 Hz, log dB/s"])
        moves.append(row["slow by fast modulation at 1500 to 4000 Hz, log"])
    assert slopes[0] > slopes[1] + 0.3
    assert moves[0] != moves[1]


def test_a_telephone_line_ends_at_its_limits():
    line = butter(8, (300, 3400), "bandpass", fs=RATE, output="sos")
    wide = named(bursts() + noise(-50.0))
    narrow = named(sosfilt(line, bursts() + noise(-50.0)))
    assert narrow["upper limit of the band, kHz"] < 5.5 < wide["upper limit of the band, kHz"]
    assert narrow["lower limit of the band, log Hz"] > wide["lower limit of the band, log Hz"] + 0.5
    assert narrow["fall from 3 to 5 kHz, dB"] > wide["fall from 3 to 5 kHz, dB"] + 10.0


def test_no_gain_changes_it():
    speech = (bursts() + noise(-30.0)).astype(np.float32)
    np.testing.assert_allclose(measure([speech]), measure([0.5 * speech]), atol=0.15)


def test_silence_and_a_snippet_are_not_measured():
    assert np.isnan(measure([np.zeros(RATE, np.float32), bursts(0.3).astype(np.float32)])).all()
    assert np.isfinite(measure([(bursts() + noise(-30.0)).astype(np.float32)])).all()
