import math

import pytest
import torch

from voicenym.dsp.features import mel


def test_slaney_is_linear_below_and_logarithmic_above_1_khz():
    hertz = torch.tensor([0.0, 200.0, 1000.0, 6400.0], dtype=torch.float64)
    expected = torch.tensor([0.0, 3.0, 15.0, 42.0], dtype=torch.float64)
    torch.testing.assert_close(mel.slaney(hertz), expected)
    torch.testing.assert_close(mel.slaney_inverse(expected), hertz)


def test_triangles_have_equal_area_and_peak_at_their_centres():
    bank = mel.filterbank(16000, 16000, 40, 0.0, 8000.0)  # bins of 1 Hz
    torch.testing.assert_close(bank.sum(1), torch.ones(40), atol=1e-2, rtol=0)
    corners = mel.slaney_inverse(torch.linspace(0, float(mel.slaney(torch.tensor(8000.0))), 42))
    centres = bank.argmax(1).float()
    torch.testing.assert_close(centres, corners[1:-1].float(), atol=1.0, rtol=0)


@pytest.mark.parametrize("hertz", [300.0, 1000.0, 4000.0])
def test_a_tone_lands_in_the_band_that_holds_it(hertz):
    spectrum = mel.MelSpectrum(16000, 400, 160, 40)
    time = torch.arange(16000) / 16000
    mels = spectrum(torch.sin(2 * math.pi * hertz * time))
    assert mels.shape == (101, 40)
    loudest = mels[10:-10].mean(0).argmax()
    corners = mel.slaney_inverse(torch.linspace(0, float(mel.slaney(torch.tensor(8000.0))), 42))
    assert corners[loudest] <= hertz <= corners[loudest + 2]


def test_power_scales_with_the_square():
    spectrum = mel.MelSpectrum(16000, 400, 160, 40)
    noise = torch.randn(8000, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(spectrum(2 * noise), 4 * spectrum(noise))


def test_squared_magnitudes_are_sums_of_squares_bit_for_bit():
    generator = torch.Generator().manual_seed(0)
    spectra = torch.randn(3, 5, 241, dtype=torch.complex64, generator=generator)
    found = mel.squared_magnitudes(spectra)
    assert torch.equal(found, torch.view_as_real(spectra).square().sum(-1))
    torch.testing.assert_close(found, spectra.abs().square())
