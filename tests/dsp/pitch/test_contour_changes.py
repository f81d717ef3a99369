"""Changes of F0 contours: moments of the result."""

import math

import pytest
import torch

from voicenym.dsp.pitch.contour_changes import Moments, moved, noisy, quantised
from voicenym.dsp.pitch.f0_statistics import LEAST_STD, TYPICAL_LOG_F0


@pytest.fixture
def contour():
    generator = torch.Generator().manual_seed(0)
    f0 = (torch.randn(2, 4000, generator=generator) * 0.15 + torch.tensor([[4.7], [5.3]])).exp()
    f0[:, ::5] = 0.0
    return f0


def moments(f0):
    found = Moments(len(f0))
    for part in f0.split(37, dim=1):
        found.add(part)
    return found.result()


def test_moments_are_those_of_the_voiced_frames(contour):
    mean, std = moments(contour)
    for row, f0 in enumerate(contour):
        logs = f0[f0 > 0].double().log()
        assert float(mean[row]) == pytest.approx(float(logs.mean()), abs=1e-5)
        assert float(std[row]) == pytest.approx(float(logs.std(unbiased=False)), abs=1e-4)


def test_a_recording_without_voice_has_a_typical_one_and_a_monotone_some_range():
    mean, std = moments(torch.zeros(1, 50))
    assert float(mean[0]) == pytest.approx(TYPICAL_LOG_F0)
    assert float(std[0]) > LEAST_STD
    assert float(moments(torch.full((1, 50), 120.0))[1][0]) == pytest.approx(LEAST_STD)


def test_a_moved_contour_has_the_others_moments_and_the_speakers_shape(contour):
    to_mean, to_std = torch.tensor([math.log(210.0), math.log(95.0)]), torch.tensor([0.3, 0.1])
    found = moved(contour, *moments(contour), to_mean, to_std)
    assert (found > 0).equal(contour > 0)
    mean, std = moments(found)
    torch.testing.assert_close(mean, to_mean, atol=1e-3, rtol=0)
    torch.testing.assert_close(std, to_std, atol=1e-3, rtol=0)
    one = contour[0] > 0
    assert (
        float(torch.corrcoef(torch.stack([contour[0, one].log(), found[0, one].log()]))[0, 1])
        > 0.999
    )
    back = moved(found, *moments(found), *moments(contour))
    torch.testing.assert_close(back, contour, atol=1e-2, rtol=1e-3)


def test_a_rounded_contour_lies_on_a_grid_no_farther_than_half_a_step(contour):
    mean, std = moments(contour)
    found = quantised(contour, mean, std)
    voiced = contour > 0
    steps = (found.clamp_min(1).log() - mean[:, None]) / std[:, None] * 16
    assert (steps - steps.round())[voiced].abs().max() < 1e-2
    off = (found.clamp_min(1).log() - contour.clamp_min(1).log()).abs() / std[:, None]
    assert off[voiced].max() <= 0.5 / 16 + 1e-4
    assert not found[~voiced].any()


def test_noise_has_the_asked_share_of_the_deviation(contour):
    _, std = moments(contour)
    noise = torch.randn(contour.shape, generator=torch.Generator().manual_seed(1))
    found = noisy(contour, std, noise, 0.5)
    one = contour[0] > 0
    added = (found[0, one] / contour[0, one]).log()
    assert float(added.std()) == pytest.approx(0.5 * float(std[0]), rel=0.05)
    assert noisy(contour, std, noise, 0.0).equal(contour.clamp_min(1).log().exp() * (contour > 0))
    with pytest.raises(ValueError, match="noise"):
        noisy(contour, std, noise, -1.0)
