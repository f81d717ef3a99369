import math

import numpy
import pytest
import torch

from voicenym.dsp.pitch.online import PitchStream
from voicenym.dsp.pitch_changes import psola
from voicenym.dsp.pitch_changes.psola import Psola, Retuning

RATE = 16_000


def voice(seconds=2.0, low=100.0, high=150.0, rate=RATE):
    """A pulse train of moving pitch through two formants, with pauses of soft noise."""
    n = torch.arange(round(seconds * rate), dtype=torch.float64) / rate
    f0 = low + (high - low) * 0.5 * (1 - torch.cos(2 * math.pi * n))
    phase = 2 * math.pi * f0.cumsum(0) / rate
    signal = torch.zeros_like(phase)
    for k in range(1, 30):
        hertz = k * f0
        gain = 1 / (1 + ((hertz - 600) / 120) ** 2) + 0.4 / (1 + ((hertz - 1500) / 150) ** 2)
        signal += torch.where(hertz < 0.45 * rate, (gain + 0.02) * torch.cos(k * phase), 0.0)
    gate = ((n % 0.9) < 0.7).double()
    noise = torch.randn(len(n), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return (0.1 * signal * gate + 0.002 * noise).float()[None]


def run(signal, retunings, size=None, rate=RATE):
    psola = Psola(rate, retunings)
    blocks = [signal] if size is None else signal.split(size, dim=1)
    return torch.cat([*(psola.push(block) for block in blocks), psola.flush()], dim=1)


def track(signal, rate=RATE):
    stream = PitchStream(signal.shape[0], rate)
    return torch.cat([stream.push(signal).f0, stream.flush().f0], dim=1)


@pytest.mark.parametrize("rate", [8_000, 11_025, 16_000])
@pytest.mark.parametrize("ratio", [0.7, 0.9, 1.2, 1.45])
def test_pitch_moves_by_the_ratio(ratio, rate):
    signal = voice(rate=rate)
    out = run(signal, [Retuning(120.0, 120.0 * ratio)], rate=rate)
    assert out.shape == signal.shape
    before, after = track(signal, rate), track(out, rate)
    both = (before > 0) & (after > 0)
    assert both.sum() > 0.7 * (before > 0).sum()
    assert float((after[both] / before[both]).median()) == pytest.approx(ratio, rel=0.02)


def test_unchanged_pitch_is_nearly_the_identity():
    signal = voice()
    out = run(signal, [Retuning(120.0, 120.0)])
    error = float((out - signal).square().mean() / signal.square().mean())
    assert error < 1e-4


def test_the_deviation_of_f0_is_scaled_by_the_spread():
    signal = voice()
    out = run(signal, [Retuning(125.0, 125.0, spread=0.5)])
    before, after = track(signal), track(out)
    both = (before > 0) & (after > 0)
    assert float((after[both] / 125).log().std() / (before[both] / 125).log().std()) == (
        pytest.approx(0.5, abs=0.1)
    )


@pytest.mark.parametrize("size", [97, 1600, 20_000])
def test_chunks_equal_whole(size):
    signal = torch.cat([voice(), voice(low=180, high=260)])
    retunings = [Retuning(120.0, 160.0), Retuning(210.0, 150.0, spread=1.2)]
    whole = run(signal, retunings)
    torch.testing.assert_close(run(signal, retunings, size), whole, rtol=0, atol=1e-6)
    alone = run(signal[1:], retunings[1:])
    torch.testing.assert_close(whole[1:], alone, rtol=0, atol=1e-6)


def test_latency_is_kept():
    signal = voice(low=65.0, high=90.0)
    psola = Psola(RATE, [Retuning(75.0, 60.0)])
    given = 0
    for n, block in enumerate(signal.split(160, dim=1), start=1):
        given += psola.push(block).shape[1]
        assert given >= 160 * n - psola.latency


@pytest.mark.parametrize("tempo", [0.8, 1.25])
def test_the_tempo_changes_the_length_and_not_the_share_of_voiced_frames(tempo):
    signal = voice()
    out = run(signal, [Retuning(120.0, 140.0, tempo=tempo)], size=3000)
    assert out.shape[1] == round(signal.shape[1] / tempo)
    assert (track(out) > 0).float().mean() == pytest.approx(
        float((track(signal) > 0).float().mean()), abs=0.08
    )


def test_silence_and_shortness():
    assert (run(torch.zeros(1, RATE), [Retuning(120.0, 160.0)]) == 0).all()
    for length in (0, 1, 100):
        out = run(torch.full((1, length), 0.1), [Retuning(120.0, 160.0)])
        assert out.shape == (1, length)


def test_a_long_block_is_not_copied_for_every_second_of_it(monkeypatch):
    rate, copies = 8_000, []
    concatenate = numpy.concatenate
    stream = Psola(rate, [Retuning(120.0, 140.0)])

    def counted(parts):
        if len(parts[0]) > rate:
            copies.append(len(parts[0]))
        return concatenate(parts)

    monkeypatch.setattr(psola.numpy, "concatenate", counted)
    stream.push(torch.zeros(1, 60 * rate))
    assert len(copies) < 10
