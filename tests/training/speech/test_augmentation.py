import math

import pytest
import torch

from voicenym.training.speech.augmentation import SpecAugment, Surroundings

NEVER = {"noise": 0.0, "babble": 0.0, "room": 0.0, "band": 0.0}


def crops(count=8, time=16_000):
    generator = torch.Generator().manual_seed(1)
    seconds = torch.arange(time) / 16_000
    pitch = 100.0 + 20.0 * torch.arange(count)[:, None]
    return 0.1 * torch.sin(2 * math.pi * pitch * seconds) + 0.001 * torch.randn(
        count, time, generator=generator
    )


def drawn(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("what", ["noise", "babble", "room", "band"])
def test_each_happens_keeps_the_level_and_is_drawn_from_the_generator(what):
    around = Surroundings(**{**NEVER, what: 1.0})
    one, two, other = (around(crops(), drawn(seed)) for seed in (0, 0, 1))
    assert torch.equal(one, two)
    assert not torch.equal(one, other)
    assert not torch.allclose(one, crops(), atol=1e-4)
    torch.testing.assert_close(one.square().mean(1), crops().square().mean(1), rtol=1e-4, atol=0)


def test_nothing_happens_where_nothing_is_likely():
    torch.testing.assert_close(Surroundings(**NEVER)(crops(), drawn()), crops())


def test_noise_has_the_ratio_that_was_asked_for():
    around = Surroundings(**{**NEVER, "noise": 1.0}, snr=(10.0, 10.0))
    before = crops()
    after = around(before, drawn())
    # What is left of the speech, by projection, and what was added.
    share = (after * before).sum(1, keepdim=True) / before.square().sum(1, keepdim=True)
    ratio = (share * before).square().sum(1) / (after - share * before).square().sum(1)
    assert (10 * ratio.log10() - 10.0).abs().max() < 1.0


def test_a_room_rings_on():
    click = torch.zeros(4, 16_000)
    click[:, 100] = 1.0
    wet = Surroundings(**{**NEVER, "room": 1.0}, reverberation=(0.5, 0.5))(click, drawn())
    energy = wet.square()
    assert (energy[:, 100] > 0.4 * energy.sum(1)).all()
    assert energy[:, :100].max() < 1e-6
    # 60 dB in half a second is 24 dB from the first to the second fifth of a second.
    early, late = energy[:, 500:3_700].sum(1), energy[:, 3_700:6_900].sum(1)
    assert ((10 * (early / late).log10() - 24.0).abs() < 3.0).all()


def test_a_narrow_band_is_narrow():
    white = torch.randn(4, 16_000, generator=drawn(3))
    received = torch.fft.rfft(Surroundings(**{**NEVER, "band": 1.0})(white, drawn())).abs()
    assert received[:, 7_900:].mean() < 0.01 * received[:, 1_000:2_000].mean()
    assert received[:, 1:20].mean() < 0.3 * received[:, 1_000:2_000].mean()


def test_blanks_are_bands_and_stretches_no_wider_than_allowed():
    features = torch.randn(16, 200, 80, generator=drawn(2))
    blanked = SpecAugment(bands=1, stretches=0, width=10)(features, drawn())
    changed = (blanked != features).any(1)
    assert changed.sum(1).max() <= 10
    assert changed.any()
    blanked = SpecAugment(bands=0, stretches=2, length=20)(features, drawn())
    changed = (blanked != features).any(2)
    assert changed.sum(1).max() <= 40
    assert changed.any()
    mean = features.mean((1, 2))
    where = (blanked != features).nonzero()
    assert torch.equal(blanked[tuple(where.T)], mean[where[:, 0]])
