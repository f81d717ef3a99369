"""Warps of the frequency axis."""

import math

import pytest
import torch

from voicenym.dsp.envelopes.frequency_warps import bent_bins, bilinear, quadratic

OMEGA = torch.linspace(0.0, math.pi, 257, dtype=torch.float64)


@pytest.mark.parametrize("alpha", [-0.3, 0.0, 0.1])
def test_a_bilinear_warp_keeps_both_ends_and_its_inverse_has_the_other_sign(alpha):
    warped = bilinear(OMEGA, alpha)
    assert torch.allclose(warped[[0, -1]], OMEGA[[0, -1]])
    assert torch.allclose(bilinear(warped, -alpha), OMEGA)


def test_a_quadratic_warp_moves_the_middle_by_a_quarter_of_beta():
    assert float(quadratic(OMEGA, 0.4)[128] - OMEGA[128]) == pytest.approx(0.1)


def test_without_change_and_bends_every_bin_is_its_own():
    found = bent_bins(torch.zeros(2, 3), torch.zeros(2, 3), math.pi, 257)
    assert torch.allclose(found, torch.arange(257.0).expand(2, 3, 257), atol=1e-4)


def test_formants_move_up_by_the_change_and_bins_never_go_back():
    change = torch.tensor([[0.2]])
    low = bent_bins(change, torch.zeros(1, 3), math.pi, 257)[0, 0, 2]
    # the envelope at a low frequency is read from exp(-change) of it
    assert float(low / 2) == pytest.approx(math.exp(-0.2), rel=1e-3)
    bent = bent_bins(change, torch.tensor([[0.5, 0.5, 0.5]]), math.pi, 257)
    assert (bent.diff(dim=-1) >= 0).all()
