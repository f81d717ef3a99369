"""Random functions of time: distribution, smoothness, and values that depend on time alone."""

import pytest
import torch

from voicenym.dsp.random_contours import random_contours


def test_they_are_smooth_standard_normal_and_functions_of_time():
    seconds = torch.arange(0, 400, 0.05)
    found = random_contours(range(40), seconds)
    assert found.mean().abs() < 0.1
    assert found.var() == pytest.approx(1.0, abs=0.1)
    assert found.abs().max() < 6.0
    late = random_contours(range(40), seconds[1000:])
    torch.testing.assert_close(late, found[:, 1000:])
    fine = random_contours(range(5), torch.arange(0, 10, 0.01))
    assert fine.diff().abs().max() < 0.35  # four cycles a second at most: no jumps
    correlation = torch.corrcoef(found)
    assert (correlation - torch.eye(40)).abs().max() < 0.5


def test_slower_cosines_change_less():
    seconds = torch.arange(0, 100, 0.05)
    slow = random_contours(range(5), seconds, (0.1, 0.5))
    assert (
        slow.diff(dim=1).abs().max() < 0.3 * random_contours(range(5), seconds).diff().abs().max()
    )
