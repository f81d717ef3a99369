"""Vocal tract length perturbation of mel bands."""

import pytest
import torch

from voicenym.dsp.features.mel import slaney
from voicenym.nets.content.bottleneck import HIGHEST, LOWEST
from voicenym.training.speech.mel_warping import warped


def test_warping_moves_formants_by_its_factor():
    bands = torch.zeros(2, 1, 200)
    low, high = (float(slaney(torch.tensor(f))) for f in (LOWEST, HIGHEST))
    place = low + (high - low) * (torch.arange(200) + 1.0) / 201
    bands[:] = torch.exp(-0.5 * ((place - float(slaney(torch.tensor(2000.0)))) / 1.0) ** 2)
    out = warped(bands, torch.tensor([1.0, 1.2]), torch.zeros(2), LOWEST, HIGHEST)
    torch.testing.assert_close(out[0], bands[0], atol=1e-4, rtol=0)
    peak = place[out[1, 0].argmax()]
    assert float(peak) == pytest.approx(float(slaney(torch.tensor(2400.0))), abs=0.3)
