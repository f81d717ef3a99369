from __future__ import annotations

import torch

from voicenym.dsp.voice_source import Noise, PulseTrain
from voicenym.pseudonym import Key


def test_pulse_train_has_all_harmonics_at_equal_strength_and_nothing_else():
    rate, f0 = 16000, 190.0
    signal = PulseTrain(1, rate).next(torch.full((1, rate), f0))[0]
    power = torch.fft.rfft(signal.double()).abs().square() / rate**2 * 2
    harmonics = power[190:8000:190]
    assert (harmonics.max() / harmonics.min()) < 1.01
    assert harmonics.sum() > 0.99 * signal.double().square().mean()
    assert abs(signal.square().mean().item() - 1) < 0.02


def test_pulse_train_in_blocks_is_the_whole():
    f0 = 120 + 60 * torch.rand(2, 5000, generator=torch.Generator().manual_seed(0))
    whole = PulseTrain(2, 16000).next(f0)
    train = PulseTrain(2, 16000)
    parts = torch.cat([train.next(part) for part in f0.split(37, dim=1)], dim=1)
    torch.testing.assert_close(parts, whole, atol=2e-3, rtol=0)


def test_noise_is_white_and_the_same_in_blocks():
    pseudonym = Key(bytes(32)).pseudonym("a")
    whole = Noise([pseudonym], "n").next(10000)
    noise = Noise([pseudonym], "n")
    parts = torch.cat([noise.next(n) for n in (1, 999, 4000, 5000)], dim=1)
    assert torch.equal(parts, whole)
    assert abs(whole.std().item() - 1) < 0.03
    assert (whole[0, 1:] * whole[0, :-1]).mean().abs() < 0.03
