import math
import os

import numpy
import pytest
import torch

from voicenym.dsp.pitch.online import PitchStream

RATE = 16_000


def pulses(f0, seconds=1.0, rate=RATE):
    n = torch.arange(round(seconds * rate), dtype=torch.float64) / rate
    harmonics = [torch.cos(2 * math.pi * f0 * k * n) / k for k in range(1, int(3500 / f0) + 1)]
    return (0.2 * torch.stack(harmonics).sum(0)).float()[None]


def glide(seconds=3.0, rate=RATE, low=100.0, high=220.0):
    """Vowel-like tone of moving pitch with pauses."""
    n = torch.arange(round(seconds * rate), dtype=torch.float64) / rate
    f0 = low + (high - low) * 0.5 * (1 - torch.cos(2 * math.pi * n / 1.5))
    phase = 2 * math.pi * f0.cumsum(0) / rate
    tone = sum(torch.cos(k * phase) / k for k in range(1, 15))
    gate = (torch.sin(2 * math.pi * n / 0.8) > -0.6).double()
    noise = torch.randn(len(n), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return (0.1 * tone * gate + 0.001 * noise).float()[None]


def track(signal, rate=RATE, sizes=None):
    stream = PitchStream(signal.shape[0], rate)
    blocks = [signal] if sizes is None else signal.split(sizes, dim=1)
    parts = [*(stream.push(block) for block in blocks), stream.flush()]
    return torch.cat([p.f0 for p in parts], 1), torch.cat([p.strength for p in parts], 1)


@pytest.mark.parametrize("rate", [8_000, 11_025, 12_000, 16_000])
@pytest.mark.parametrize("f0", [70.0, 110.0, 180.5, 261.0, 390.0, 430.0])
def test_pulse_trains_and_sines_within_one_percent(f0, rate):
    sine = torch.sin(2 * math.pi * f0 * torch.arange(rate) / rate)[None] * 0.3
    for signal in (pulses(f0, rate=rate), sine):
        found, strength = track(signal, rate)
        assert found.shape[1] == math.ceil(signal.shape[1] / round(0.01 * rate))
        inner = found[0, 5:-5]
        assert (inner > 0).all()
        assert ((inner / f0 - 1).abs() < 0.01).all()
        assert (strength >= 0).all()
        assert (strength <= 1).all()


def test_frame_is_centred_at_its_hop():
    signal = torch.cat([torch.zeros(1, 8000), pulses(150.0, 0.5)], 1)
    found, _ = track(signal)
    onset = int((found[0] > 0).nonzero()[0])
    assert abs(onset - 50) <= 2


@pytest.mark.parametrize("size", [1, 37, 160, 1999])
def test_chunks_equal_whole(size):
    signal = glide(0.8 if size == 1 else 3.0)
    whole, chunks = track(signal), track(signal, sizes=size)
    for one, other in zip(whole, chunks, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


def test_rows_do_not_touch_each_other():
    signal = torch.cat([glide(), glide(low=200.0, high=330.0), torch.zeros(1, 3 * RATE)])
    together = track(signal)[0]
    for row in range(3):
        alone = track(signal[row : row + 1])[0]
        torch.testing.assert_close(together[row : row + 1], alone, rtol=1e-5, atol=1e-5)


def test_latency_is_kept():
    signal = glide(1.0)
    stream = PitchStream(1, RATE)
    given = 0
    for n, block in enumerate(signal.split(10, dim=1), start=1):
        given += stream.push(block).f0.shape[1]
        ready = n * 10 - stream.latency
        assert given >= (ready // stream.hop + 1 if ready >= 0 else 0)


def test_silence_and_noise_are_unvoiced():
    assert (track(torch.zeros(1, RATE))[0] == 0).all()
    noise = torch.randn(1, 2 * RATE, generator=torch.Generator().manual_seed(3)) * 0.1
    assert (track(noise)[0] > 0).float().mean() < 0.03
    assert track(torch.zeros(1, 0))[0].shape == (1, 0)
    assert track(torch.zeros(1, 5))[0].shape == (1, 1)


def agreement(signal, rate=RATE):
    parselmouth = pytest.importorskip("parselmouth")
    praat = parselmouth.Sound(signal[0].double().numpy(), rate).to_pitch(
        time_step=0.01, pitch_floor=60, pitch_ceiling=450
    )
    ours = track(signal, rate)[0][0].numpy()
    theirs = numpy.array([praat.get_value_at_time(0.01 * k) for k in range(len(ours))])
    both = (ours > 0) & (theirs > 0)
    same_voicing = ((ours > 0) == (theirs > 0)).mean()
    return (numpy.abs(ours[both] / theirs[both] - 1) < 0.05).mean(), same_voicing


def test_agrees_with_praat():
    assert agreement(glide())[0] > 0.95


@pytest.mark.skipif("VOICENYM_SPEECH" not in os.environ, reason="needs real speech")
def test_agrees_with_praat_on_real_speech():
    from pathlib import Path

    soundfile = pytest.importorskip("soundfile")
    files = sorted(Path(os.environ["VOICENYM_SPEECH"]).glob("librispeech/*/*.opus"))[:200:10]
    figures = []
    for file in files:
        samples, rate = soundfile.read(file, dtype="float32")
        assert rate in (8_000, 16_000, 24_000, 48_000)
        step = rate // 16_000 if rate >= 16_000 else 1
        signal = torch.from_numpy(samples[::step].copy())[None]
        figures.append(agreement(signal, rate // step))
    assert numpy.mean([f[0] for f in figures]) > 0.9
    assert numpy.mean([f[1] for f in figures]) > 0.85
