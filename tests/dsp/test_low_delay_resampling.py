"""Rate conversion of live streams: blocks, band, delay."""

import math

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from voicenym.dsp.low_delay_resampling import LowDelayRateChanger
from voicenym.dsp.resampling import RateChanger

PAIRS = [
    (48_000, 16_000),
    (16_000, 48_000),
    (44_100, 16_000),
    (16_000, 44_100),
    (22_050, 16_000),
    (8_000, 16_000),
    (16_000, 8_000),
    (96_000, 16_000),
]
TELEPHONE = 8_000
LEAST_DB = {TELEPHONE: 60.0}


def changed(signal: torch.Tensor, rate_in: int, rate_out: int) -> torch.Tensor:
    changer = LowDelayRateChanger(rate_in, rate_out, len(signal))
    return torch.cat([changer.push(signal), changer.flush()], 1)


def tone(hertz: float, rate: int, seconds: float = 1.0) -> torch.Tensor:
    time = torch.arange(round(seconds * rate), dtype=torch.float64) / rate
    return torch.sin(2.0 * math.pi * hertz * time)[None].float()


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
@given(cuts=st.lists(st.integers(0, 900), max_size=8), seed=st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_blocks_of_any_size_give_the_same_samples(rate_in, rate_out, cuts, seed):
    signal = torch.randn(2, 2000, generator=torch.Generator().manual_seed(seed))
    changer, parts, start = LowDelayRateChanger(rate_in, rate_out, 2), [], 0
    for cut in [*cuts, 2000]:
        parts.append(changer.push(signal[:, start : start + cut]))
        start = min(2000, start + cut)
        given = sum(part.shape[1] for part in parts)
        assert given * rate_in / rate_out >= start - changer.latency
    found = torch.cat([*parts, changer.flush()], 1)
    assert found.shape[1] == round(2000 * rate_out / rate_in)
    assert torch.equal(found, changed(signal, rate_in, rate_out))


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.998])
def test_tones_of_the_passed_band_keep_level_and_phase(rate_in, rate_out, share):
    lower = min(rate_in, rate_out)
    hertz = share * (3_400.0 if lower == TELEPHONE else 0.45 * lower)
    found, wanted = changed(tone(hertz, rate_in), rate_in, rate_out), tone(hertz, rate_out)
    middle = slice(rate_out // 10, -rate_out // 10)
    error = (found - wanted)[0, middle].double().square().mean()
    assert 10.0 * math.log10(float(error) / 0.5 + 1e-30) < 5.0 - LEAST_DB.get(lower, 80.0)


@pytest.mark.parametrize(
    ("rate_in", "rate_out"), [(48_000, 16_000), (44_100, 16_000), (16_000, 8_000)]
)
@pytest.mark.parametrize("share", [0.5, 0.525, 0.6, 0.75, 0.95, 1.2])
def test_nothing_above_the_band_is_folded_into_it(rate_in, rate_out, share):
    found = changed(tone(share * rate_out, rate_in), rate_in, rate_out)[0, 1600:-1600]
    level = 10.0 * math.log10(float(found.double().square().mean()) / 0.5 + 1e-30)
    assert level < -LEAST_DB.get(rate_out, 80.0)


@pytest.mark.parametrize(
    ("rate_in", "rate_out"), [(16_000, 48_000), (16_000, 44_100), (8_000, 16_000)]
)
def test_no_images_above_the_band(rate_in, rate_out):
    found = changed(tone(3_000.0, rate_in), rate_in, rate_out)[0, 1600:-1600].double()
    spectrum = torch.fft.rfft(found * torch.hann_window(len(found), dtype=torch.float64)).abs()
    hertz = torch.arange(len(spectrum)) * rate_out / len(found)
    image = float(spectrum[hertz > rate_in / 2].max() / spectrum.max())
    assert 20.0 * math.log10(image) < -LEAST_DB.get(rate_in, 80.0)


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_it_waits_for_a_tenth_of_what_soxr_waits_for(rate_in, rate_out):
    ours, soxr = (kind(rate_in, rate_out, 1) for kind in (LowDelayRateChanger, RateChanger))
    assert 10 * ours.latency < soxr.latency + rate_in // 1000


def test_speech_is_that_of_soxr_below_7_khz():
    time = torch.arange(48_000) / 48_000
    noise = torch.randn(1, 48_000, generator=torch.Generator().manual_seed(3))
    speech = noise * (0.5 + 0.5 * torch.sin(2.0 * math.pi * 4.0 * time))
    soxr = RateChanger(48_000, 16_000, 1)
    wanted = torch.cat([soxr.push(speech), soxr.flush()], 1)[0].double()
    found = changed(speech, 48_000, 16_000)[0].double()
    band = round(7_000 * len(found) / 16_000)
    difference = numpy.fft.rfft(found - wanted)[:band]
    power = numpy.square(numpy.abs(numpy.fft.rfft(wanted)[:band])).sum()
    assert 10.0 * math.log10(numpy.square(numpy.abs(difference)).sum() / power) < -60.0


def test_equal_rates_change_nothing():
    signal = torch.randn(1, 100)
    changer = LowDelayRateChanger(16_000, 16_000, 1)
    assert torch.equal(changer.push(signal), signal)
    assert changer.latency == 0
    assert changer.flush().shape == (1, 0)


def test_a_constant_stays_constant():
    found = changed(torch.ones(1, 20_000), 44_100, 16_000)[0, 200:-200]
    assert float((found - 1.0).abs().max()) < 1e-5
