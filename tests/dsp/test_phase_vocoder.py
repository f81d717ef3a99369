"""Parts of the phase vocoder; the whole is tested with the system that uses it."""

from __future__ import annotations

import pytest
import torch

from voicenym.dsp import phase_vocoder

HOP = 64
LENGTH = 11 * HOP


def random(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, dtype=torch.float64, generator=generator)


def test_phases_are_summed_from_frame_to_frame_along_the_peaks():
    start, steps = random(2, 9), random(2, 30, 9, seed=1)
    source = (9 * random(2, 30, 9, seed=2)).long()
    expected, before = [], start
    for m in range(30):
        before = torch.stack([(before + steps[:, m])[row, source[row, m]] for row in (0, 1)])
        expected.append(before)
    assert torch.equal(phase_vocoder._summed(start, steps, source), torch.stack(expected, 1))


def test_every_bin_has_its_nearest_peak():
    magnitude = torch.tensor([[0.0, 1, 9, 1, 0, 0, 1, 7, 1, 0, 0, 0]])[None]
    nearest = phase_vocoder._nearest_peak(magnitude)
    assert nearest[0, 0].tolist() == [2, 2, 2, 2, 2, 7, 7, 7, 7, 7, 7, 7]
    flat = torch.ones(1, 1, 5)
    assert phase_vocoder._nearest_peak(flat)[0, 0].tolist() == [0, 1, 2, 3, 4], "no peak"


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
