"""F0 statistics of synthetic contours, and their transformation."""

import math

import pytest
import torch

from voicenym.dsp.pitch.f0_statistics import (
    FARTHEST,
    HIGHEST_F0,
    LEAST_STD,
    TYPICAL_LOG_F0,
    TYPICAL_LOG_F0_STD,
    moments,
    moved_within,
    register,
    typical,
)


def contour(mean: float = math.log(120.0), std: float = 0.15, frames: int = 400) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    f0 = (mean + std * torch.randn(2, frames, generator=generator)).exp()
    f0[:, ::3] = 0.0
    return f0


def test_the_register_is_that_of_voiced_frames_by_their_level():
    f0 = contour()
    level = torch.rand(f0.shape, generator=torch.Generator().manual_seed(1))
    mean, std = register(moments(f0, level).sum(1))
    for row in range(2):
        voiced = f0[row] > 0
        logs, weight = f0[row, voiced].double().log(), level[row, voiced].double()
        expected = (logs * weight).sum() / weight.sum()
        spread = ((logs - expected).square() * weight).sum() / weight.sum()
        torch.testing.assert_close(mean[row], expected)
        torch.testing.assert_close(std[row], spread.sqrt(), rtol=1e-6, atol=0.0)


def test_parts_add_up_to_the_whole():
    f0 = contour()
    level = torch.ones_like(f0)
    parts = sum(moments(f0[:, i : i + 70], level[:, i : i + 70]).sum(1) for i in range(0, 400, 70))
    torch.testing.assert_close(parts, moments(f0, level).sum(1))


def test_silence_is_typical_and_so_are_typical_moments():
    for sums in (moments(torch.zeros(1, 9), torch.ones(1, 9)).sum(1), typical(3.7)[None]):
        mean, std = register(sums)
        assert float(mean) == pytest.approx(TYPICAL_LOG_F0)
        assert float(std) == pytest.approx(TYPICAL_LOG_F0_STD)
    assert float(typical(3.7)[0]) == 3.7


def test_a_monotone_has_some_range():
    _, std = register(moments(torch.full((1, 50), 100.0), torch.ones(1, 50)).sum(1))
    assert float(std) == LEAST_STD


def test_a_moved_contour_has_the_other_register_and_the_movements():
    f0 = contour().double()
    mean, std = register(moments(f0, torch.ones_like(f0)).sum(1))
    to_mean, to_std = torch.full((2,), math.log(210.0)), 1.2 * std
    other = moved_within(f0, mean[:, None], std[:, None], to_mean, to_std)
    assert torch.equal(other > 0, f0 > 0)
    found, spread = register(moments(other, torch.ones_like(other)).sum(1))
    torch.testing.assert_close(found.float(), to_mean, atol=0.01, rtol=0.0)
    torch.testing.assert_close(spread, to_std, rtol=0.02, atol=0.0)
    voiced = f0[0] > 0
    both = torch.stack([f0[0, voiced].log(), other[0, voiced].log()])
    assert float(torch.corrcoef(both)[0, 1]) > 0.999


def test_errors_of_the_tracker_do_not_go_far():
    f0 = torch.tensor([[100.0, 800.0, 12.5, 0.0]])
    mean, std = torch.full((1, 1), math.log(100.0)), torch.full((1, 1), 0.2)
    to = (torch.tensor([math.log(150.0)]), torch.tensor([0.2]))
    found = moved_within(f0, mean, std, *to)[0]
    expected = torch.tensor([150.0, 150.0 * math.exp(FARTHEST), 150.0 * math.exp(-FARTHEST), 0.0])
    torch.testing.assert_close(found, expected)
    high = moved_within(f0, mean, std, torch.tensor([math.log(400.0)]), to[1])
    assert float(high.max()) == pytest.approx(HIGHEST_F0)
