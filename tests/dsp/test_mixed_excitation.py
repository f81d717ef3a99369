"""Mixed excitation: powers of pulses and noise, and the table of few levels."""

from __future__ import annotations

import pytest
import torch

from voicenym.dsp.mixed_excitation import FEW_LEVELS, MixedExcitation

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


def test_frames_of_few_levels_are_those_computed_one_by_one(mixed):
    generator = torch.Generator().manual_seed(1)
    voicing = torch.randint(0, 2, (2, 4 * FEW_LEVELS), generator=generator).float()
    together = mixed(voicing)
    for frame in range(voicing.shape[1]):
        alone = mixed(voicing[:, frame : frame + 1])
        for one, other in zip(together, alone, strict=True):
            assert torch.equal(one[:, frame : frame + 1], other)
