"""Parts of the phase vocoder; the whole is tested with the system that uses it."""

from __future__ import annotations

import pytest
import torch

from voicenym.dsp.pitch_changes import phase_vocoder

HOP = 64
LENGTH = 11 * HOP


def random(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, dtype=torch.float64, generator=generator)


def nearest_peaks(magnitude):
    """Nearest peak of each bin, found one by one: ``[frame, row, bin]``."""
    nearest = torch.empty(magnitude.shape, dtype=torch.int64)
    for spectrum, found in zip(magnitude.flatten(0, 1), nearest.flatten(0, 1), strict=True):
        values = spectrum.tolist()
        peaks = [
            k
            for k, value in enumerate(values)
            if all(value > other for other in values[max(0, k - 2) : k] + values[k + 1 : k + 3])
        ]
        for k in range(len(values)):
            found[k] = min(peaks, key=lambda peak: abs(peak - k)) if peaks else k
    return nearest


def test_every_bin_has_its_nearest_peak():
    spectrum = torch.zeros(5, 2, 12, dtype=torch.complex128)
    spectrum[0, 0] = torch.tensor([0.0, 1, 9, 1, 0, 0, 1, 7, 1, 0, 0, 0])
    spectrum[0, 1] = 1.0  # no peak
    spectrum[1:4] = torch.complex(random(3, 2, 12), random(3, 2, 12, seed=1))
    spectrum[3, 0, 4:8] = 3.0 * torch.tensor([1.0, 1.0 + 1e-15, 1.0 - 1e-15, 1.0])  # nearly equal
    place, which, owner = phase_vocoder._regions(spectrum)
    nearest = nearest_peaks(spectrum.abs())
    assert nearest[0].tolist() == [[2] * 5 + [7] * 7, list(range(12))]
    assert nearest[4].tolist() == [list(range(12))] * 2, "silence"
    assert torch.equal((place - 12 * which)[owner].view(5, 2, 12), nearest)
    assert torch.equal(which[owner].view(10, 12), torch.arange(10)[:, None].expand(10, 12))


def test_phases_are_summed_from_frame_to_frame_along_the_peaks():
    spectrum = torch.complex(random(30, 2, 9), random(30, 2, 9, seed=1))
    start, steps = random(2, 9), random(30, 2, 9, seed=2)
    place, _, owner = phase_vocoder._regions(spectrum)
    expected, before = [], start
    for step, source in zip(steps, nearest_peaks(spectrum.abs()), strict=True):
        before = (before + step).gather(1, source)
        expected.append(before)
    given = steps.flatten()[place]
    sums = phase_vocoder._summed(start.flatten(), given, place, owner, 30)
    assert torch.equal(sums[owner].view(30, 2, 9), torch.stack(expected))


@pytest.mark.parametrize("ratio", [0.75, 1.0, 1.33])
@pytest.mark.parametrize("frames", [3, 40])
def test_what_is_zero_anyway_is_not_multiplied(ratio, frames):
    signal = random(1, HOP * frames + LENGTH - HOP).float() - 0.5
    shifter = phase_vocoder.PitchShifter([ratio], HOP, LENGTH)
    columns = [matrices[0].shape[1] for matrices in (shifter._smaller[0], shifter._synthesis[0])]
    assert columns[0] <= columns[1] / 1.375 / ratio + 1
    shifted = shifter(signal.unfold(1, LENGTH, HOP))
    whole = phase_vocoder.PitchShifter([ratio], HOP, LENGTH)
    whole._smaller = whole._synthesis
    assert torch.equal(shifted, whole(signal.unfold(1, LENGTH, HOP)))
