"""Limit of peaks: bound, identity below it, blocks, and no new band."""

from __future__ import annotations

import math

import pytest
import torch

from voicenym.dsp.peak_limit import PeakLimit


def limited(signal, size=None, limit=0.5, side=48):
    limiter = PeakLimit(len(signal), limit, side)
    parts = [limiter.push(part) for part in signal.split(size or signal.shape[1], dim=1)]
    return torch.cat([*parts, limiter.flush()], dim=1)


def test_no_sample_exceeds_the_limit_and_a_small_signal_stays():
    noise = torch.randn(2, 9_600, generator=torch.Generator().manual_seed(0))
    found = limited(noise)
    assert found.shape == noise.shape
    assert found.abs().max() <= 0.5
    assert found.abs().max() > 0.45
    small = 0.1 * noise.clamp(-4.0, 4.0)
    torch.testing.assert_close(limited(small), small)


@pytest.mark.parametrize("size", [1, 7, 96, 1_000])
def test_blocks_are_the_whole(size):
    noise = torch.randn(1, 2_000, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(limited(noise, size), limited(noise), rtol=0, atol=1e-6)


def test_gain_falls_only_near_a_peak():
    signal = torch.full((1, 4_800), 0.4)
    signal[0, 2_400] = 2.0
    found = limited(signal)
    assert float(found[0, 2_400]) == pytest.approx(0.5, abs=1e-6)
    apart = (torch.arange(4_800) - 2_400).abs() > 96
    assert torch.equal(found[0, apart], signal[0, apart])


def test_a_loud_tone_gets_no_harmonics():
    """Where cutting would give a third harmonic 12 dB below the tone."""
    time = torch.arange(48_000) / 48_000
    rise = (time / 0.5).clamp_max(1.0)
    found = limited((rise * torch.sin(2 * math.pi * 5_000 * time))[None])[0]
    power = torch.fft.rfft(found * torch.hann_window(48_000)).abs().square()
    assert power[14_000:16_000].sum() < 1e-6 * power.sum()
