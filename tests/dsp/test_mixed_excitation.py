"""Mixed excitation: powers of pulses and noise, and the table of few levels."""

from __future__ import annotations

import pytest
import torch

from voicenym.dsp.mixed_excitation import MixedExcitation

RATE, BINS = 16_000, 129
CUTOFF = torch.tensor([3000.0, 5000.0])


@pytest.fixture
def mixed():
    return MixedExcitation(CUTOFF, RATE, BINS)


def test_powers_of_pulses_and_noise_add_up_to_one(mixed):
    pulses, noise = mixed(torch.rand(2, 5, generator=torch.Generator().manual_seed(0)))
    assert pulses.shape == noise.shape == (2, 5, BINS)
    torch.testing.assert_close(pulses.square() + noise.square(), torch.ones(2, 5, BINS))


def test_unvoiced_frames_have_noise_alone(mixed):
    pulses, noise = mixed(torch.zeros(2, 3))
    assert not pulses.any()
    assert (noise == 1.0).all()


def test_half_the_power_of_a_voiced_frame_is_pulses_at_the_cutoff_and_nearly_all_far_below():
    cutoff = torch.tensor([0.25 * RATE])  # in the middle of the bins
    pulses, _ = MixedExcitation(cutoff, RATE, BINS)(torch.ones(1, 1))
    assert pulses[0, 0, BINS // 2].square() == pytest.approx(0.5)
    assert pulses[0, 0, 0].square() > 0.999
    assert pulses[0, 0, -1].square() < 0.001


@pytest.mark.parametrize("levels", [[0.0, 1.0], [0.0, 0.2, 0.4, 1.0], None])
def test_few_levels_are_looked_up_as_they_would_be_computed(mixed, levels):
    voicing = torch.rand(2, 200, generator=torch.Generator().manual_seed(1))
    if levels is not None:
        voicing = torch.tensor(levels)[(voicing * len(levels)).long()]
    for found, expected in zip(mixed(voicing), mixed._of(voicing), strict=True):
        assert torch.equal(found, expected)
