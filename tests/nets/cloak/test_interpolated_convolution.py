"""Convolution of linearly interpolated signals, against interpolation first."""

import pytest
import torch

from voicenym.nets.cloak import interpolated_convolution


@pytest.mark.parametrize(("kernel", "stride"), [(5, 4), (5, 2), (3, 4), (1, 3), (7, 3)])
def test_a_convolution_over_lines_is_computed_at_the_rate_of_their_ends(kernel, stride):
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(3, 2, kernel, generator=generator, dtype=torch.float64)
    bias = torch.randn(3, generator=generator, dtype=torch.float64)
    for steps in range(1, 8):
        signal = torch.randn(2, 2, steps, generator=generator, dtype=torch.float64)
        size = stride * (steps - 1) + 1
        drawn = torch.nn.functional.interpolate(
            signal, size=size, mode="linear", align_corners=True
        )
        made = interpolated_convolution.convolved(
            signal, interpolated_convolution.arranged(weight), bias, kernel, stride
        )
        if size < kernel:
            assert made.shape == (2, 3, 0)
        else:
            torch.testing.assert_close(made, torch.nn.functional.conv1d(drawn, weight, bias))
