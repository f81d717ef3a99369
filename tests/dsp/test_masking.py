"""Masking threshold of known maskers, against the published formulas in closed form."""

from __future__ import annotations

import math

import pytest
import torch

from voicenym.dsp.masking import (
    BINS,
    FFT,
    LEAST_DB,
    RATE,
    Maskers,
    Masking,
    bark,
    decibels,
    hearing_threshold,
)

HERTZ = torch.arange(BINS, dtype=torch.float64) * RATE / FFT
TIME = torch.arange(2 * FFT) / RATE


def tone(hertz, amplitude=0.5):
    return amplitude * torch.sin(2 * math.pi * hertz * TIME)


def noise(seed=0, low=0.0, high=8_000.0):
    generator = torch.Generator().manual_seed(seed)
    spectrum = torch.fft.rfft(torch.randn(8 * FFT, generator=generator))
    hertz = torch.fft.rfftfreq(8 * FFT, 1 / RATE)
    return torch.fft.irfft(spectrum * ((hertz >= low) & (hertz <= high)))


def test_scales_are_the_published_ones():
    # Zwicker's critical bands end at whole numbers of Bark
    edges = torch.tensor([100.0, 510.0, 1_080.0, 2_000.0, 3_700.0, 7_700.0], dtype=torch.float64)
    torch.testing.assert_close(
        bark(edges), torch.tensor([1.0, 5, 9, 13, 17, 21], dtype=torch.float64), atol=0.25, rtol=0
    )
    # the ear hears best at 3.3 kHz, and 1 kHz at about 3 dB
    quiet = hearing_threshold(torch.tensor([1_000.0, 3_300.0, 100.0, 15_000.0]))
    assert quiet[0] == pytest.approx(3.37, abs=0.05)
    assert quiet[1] == pytest.approx(-4.98, abs=0.05)
    assert quiet[2] == pytest.approx(22.97, abs=0.05)
    assert quiet[3] > 45


def test_a_full_scale_tone_has_the_peak_that_scales_count_from():
    power = Masking().power(tone(1_000.0, 1.0))
    assert power.shape[1] == BINS
    assert power.amax().item() == pytest.approx(1 / 6, rel=1e-3)


def test_a_lone_tone_masks_as_the_formula_says():
    """A bin-centred tone of 96 dB: three bins add 1.76 dB; slopes of 27 and 27 - 0.37 (L - 40)."""
    threshold, _ = Masking().threshold(tone(1_000.0)[None])
    found = decibels(threshold[0, 0]).double()
    z, masker = bark(HERTZ), 128
    level = 96.0 + 10 * math.log10(1.5)
    distance = z - z[masker]
    lost = torch.where(distance < 0, 27 * distance, (-27 + 0.37 * (level - 40)) * distance)
    alone = level - 6.025 - 0.275 * z[masker] + lost
    expected = decibels(10 ** (alone / 10) + 10 ** (hearing_threshold(HERTZ) / 10))
    # float32's and the window's side lobes apart
    torch.testing.assert_close(found, expected, atol=0.3, rtol=0)
    assert int(found.argmax()) == masker


def test_noise_masks_by_its_power_within_a_band():
    masking = Masking()
    levels = torch.full((BINS,), 50.0)
    maskers = masking.maskers(levels)
    assert not (maskers.tonal & (maskers.levels > LEAST_DB)).any()
    found = decibels(masking.spread(maskers))
    # the band at 1 kHz (8 to 9 Bark): 19 bins of 50 dB
    band = ((bark(HERTZ) >= 8) & (bark(HERTZ) < 9)).sum().item()
    at = maskers.bins[(~maskers.tonal).nonzero()[8, 0]].item()
    z = bark(HERTZ[at])
    power = 50.0 + 10 * math.log10(band)
    width = (bark(HERTZ[at + 1]) - bark(HERTZ[at - 1])) / 2
    alone = power - 2.025 - 0.175 * z + decibels(width)
    assert found[at] > alone - 0.1
    assert found[at] < alone + 1.5  # neighbouring bands add a little
    # what fills the band as the masker does is hidden only some dB below it
    assert 1.0 < 50.0 - found[at] < 5.0


def test_maskers_that_are_near_a_stronger_one_or_too_weak_do_not_count():
    masking = Masking()

    def processed(*peaks):
        levels = torch.full((BINS,), -60.0)
        for place, level in peaks:
            levels[place] = level
        found = masking.maskers(levels)
        there = found.tonal & (found.levels > LEAST_DB)
        return dict(zip(found.bins[there].tolist(), found.levels[there].tolist(), strict=True))

    assert processed((128, 60.0)) == pytest.approx({128: 60.0}, abs=1e-3)
    assert set(processed((128, 60.0), (138, 50.0))) == {128}  # 0.4 Bark apart
    assert set(processed((128, 60.0), (160, 50.0))) == {128, 160}  # 1.3 Bark apart
    assert processed((128, 2.0)) == {}  # below 3.4 dB nobody hears 1 kHz


def test_masking_of_several_adds_their_powers():
    masking = Masking()
    bins, levels = torch.tensor([100, 400]), torch.tensor([70.0, 60.0])
    quiet = 10 ** (hearing_threshold(HERTZ) / 10)

    def hidden(which):
        tonal = torch.ones(len(which), dtype=torch.bool)
        return masking.spread(Maskers(bins[which], levels[which], tonal)).double()

    both = hidden([0, 1])
    torch.testing.assert_close(both, hidden([0]) + hidden([1]) - quiet, rtol=1e-4, atol=1e-3)
    nothing = Maskers(torch.tensor([5]), torch.tensor([LEAST_DB]), torch.tensor([True]))
    torch.testing.assert_close(masking.spread(nothing).double(), quiet, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("unit", ["decibel", "power"])
def test_excess_is_none_below_the_threshold_and_grows_above_it(unit):
    masking = Masking(1_024)
    masker = torch.stack([noise(1), noise(2, 300, 3_000)])
    threshold, scale = masking.threshold(masker)
    found = [
        masking.excess(gain * noise(3).expand(2, -1), threshold, scale, unit)
        for gain in (1e-6, 0.3, 1.0)
    ]
    assert (found[0] == 0).all()
    assert (found[1] < found[2]).all()
    # what lies where nothing masks it is heard sooner
    assert found[1][1] > found[1][0]


def test_excess_in_decibels_is_what_is_beyond():
    """10 dB more of what is beyond everywhere is 10 dB more of excess."""
    masking = Masking()
    threshold, scale = masking.threshold(tone(1_000.0)[None])
    loud = 300.0 * noise(4)[None, : 2 * FFT]
    more = masking.excess(10**0.5 * loud, threshold, scale) - masking.excess(loud, threshold, scale)
    assert more.item() == pytest.approx(10.0, abs=1e-2)


def test_excess_does_not_depend_on_the_level_and_has_a_gradient():
    masking = Masking()
    masker, added = noise(1)[None], (0.3 * noise(2)[None]).requires_grad_()
    found = masking.excess(added, *masking.threshold(masker))
    again = masking.excess(0.01 * added, *masking.threshold(0.01 * masker))
    torch.testing.assert_close(found, again, rtol=1e-4, atol=1e-4)
    found.sum().backward()
    assert torch.isfinite(added.grad).all()
    assert added.grad.abs().max() > 0
    # a step against the gradient lowers it
    with torch.no_grad():
        step = added - 0.1 * added.norm() * added.grad / added.grad.norm()
    assert masking.excess(step, *masking.threshold(masker)) < found


def test_recordings_of_a_batch_are_masked_as_alone():
    masking = Masking(1_024)
    batch = torch.stack([noise(1), 0.01 * noise(2, 100, 900), torch.zeros(8 * FFT)])
    together, scales = masking.threshold(batch)
    for row, threshold, scale in zip(batch, together, scales, strict=True):
        alone, own = masking.threshold(row[None])
        torch.testing.assert_close(alone[0], threshold, rtol=1e-4, atol=1e-4)
        assert own.item() == pytest.approx(scale.item())


def test_silence_hides_what_the_ear_does_not_hear():
    threshold, scale = Masking().threshold(torch.zeros(1, FFT))
    expected = hearing_threshold(HERTZ)
    torch.testing.assert_close(decibels(threshold[0, 0]).double(), expected, atol=0.01, rtol=0)
    assert torch.isfinite(scale).all()


def test_a_short_signal_is_one_frame_and_another_unit_is_refused():
    masking = Masking()
    threshold, scale = masking.threshold(torch.randn(1, 100))
    assert threshold.shape == (1, 1, BINS)
    with pytest.raises(ValueError, match="decibel or power"):
        masking.excess(torch.randn(1, 100), threshold, scale, "sone")
