"""Telephone codecs against the specifications of ITU-T and ETSI."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile
import soxr
from scipy.signal import butter, sosfiltfilt

from voicenym.audio import telephone_codecs
from voicenym.audio.telephone_codecs import CODECS, RATE
from voicenym.errors import DependencyError

LEVELS = {
    # decoder outputs of ITU-T G.711, tables 1 and 2, as shares of full scale
    "g711": {
        value / 4096
        for q in range(16)
        for value in [2 * q + 1, *((2 * q + 33) * 2 ** (s - 1) for s in range(1, 8))]
    },
    "g711-mulaw": {((2 * q + 33) * 2**s - 33) / 8192 for q in range(16) for s in range(8)},
}
COMPANDING = {"g711": 1 + np.log(87.6), "g711-mulaw": np.log(1 + 255)}


def available(name):
    try:
        CODECS[name][1](np.zeros(800, dtype=np.float32))
    except DependencyError as error:
        pytest.skip(str(error))
    return CODECS[name][1]


@pytest.fixture(scope="module")
def speech(sample):
    samples, rate = soundfile.read(sample, dtype="float32")
    return soxr.resample(samples, rate, RATE)


def ratio(signal, found):
    """Signal-to-noise ratio in dB."""
    return 10 * np.log10(np.sum(signal**2) / np.sum((found - signal) ** 2))


@pytest.mark.parametrize("name", LEVELS)
def test_outputs_of_g711_are_the_256_values_of_the_standard(name):
    signal = np.linspace(-1.0, 1.0, 60_001)
    found = CODECS[name][1](signal)
    values = set(np.abs(found).tolist())
    assert values == LEVELS[name]
    levels = np.array(sorted({*LEVELS[name], *(-x for x in LEVELS[name])}))
    # the nearest value, but for the half step that 16 bits round
    nearest = levels[np.abs(signal[:, None] - levels).argmin(1)]
    error, best = np.abs(found - signal), np.abs(nearest - signal)
    assert (error <= best + 2.0 / 4096).mean() > 0.99


@pytest.mark.parametrize("name", LEVELS)
def test_g711_has_the_ratio_of_its_companding_at_any_level(name):
    """6.02 n + 4.77 - 20 log10(companding) dB with n = 8 bits (Jayant and Noll 1984, 5.3).

    That is of a smooth curve; the straight segments of the standard vary around it.
    """
    tone = np.sin(2 * np.pi * 1020.3 * np.arange(8000) / RATE)
    signals = [10 ** (level / 20) * tone for level in np.arange(-30.0, -3.0, 0.5)]
    found = [ratio(signal, CODECS[name][1](signal)) for signal in signals]
    expected = 6.02 * 8 + 4.77 - 20 * np.log10(COMPANDING[name])
    assert np.mean(found) == pytest.approx(expected, abs=1.0)
    assert min(found) > 33.0, "the mask of ITU-T G.712 for sines down to -30 dBm0"


@pytest.mark.parametrize("name", CODECS)
def test_speech_comes_out_as_long_as_it_went_in_and_in_time(name, speech):
    codec = available(name)
    for length in (801, 16_000, len(speech)):
        found = codec(speech[:length])
        assert (found.shape, found.dtype) == ((length,), np.float32)
        assert np.abs(found).max() <= 1.0
    band = butter(4, [300, 3400], "band", fs=RATE, output="sos")
    before, after = sosfiltfilt(band, speech), sosfiltfilt(band, found)
    lags = range(-100, 101)
    inner = slice(100, -100)
    fits = [np.dot(before[inner], np.roll(after, -lag)[inner]) for lag in lags]
    assert lags[int(np.argmax(fits))] == 0
    assert np.corrcoef(before, after)[0, 1] > 0.85


def test_fewer_bits_are_worse(speech):
    band = butter(4, [300, 3400], "band", fs=RATE, output="sos")
    found = [
        ratio(sosfiltfilt(band, speech), sosfiltfilt(band, available(name)(speech)))
        for name in ("g711", "gsm", "amr", "amr-4.75")
    ]
    assert found == sorted(found, reverse=True)


def test_without_an_encoder_the_cure_is_named(monkeypatch):
    import av

    def missing(name, mode):
        raise av.codec.codec.UnknownCodecError(name)

    monkeypatch.setattr(av.CodecContext, "create", missing, raising=False)
    with pytest.raises(DependencyError, match=r"has no AMR-NB.*choose the line gsm"):
        telephone_codecs.amr(np.zeros(160, dtype=np.float32))
