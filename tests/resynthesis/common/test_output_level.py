"""Output level control: gains follow the input's power."""

import pytest
import torch
from level_blocks import in_blocks, noise

from voicenym.resynthesis.common.output_level import HOP, Level, between_middles


def through(source, made, size, late=0):
    return in_blocks(Level(len(source)), source, made, size, late)


@pytest.mark.parametrize("length", [0, 1, 159, 160, 161, 12_345])
def test_blocks_and_delays_of_any_size_give_the_whole(length):
    source, made = noise(2, length, 0), noise(2, length, 1)
    whole = through(source, made, 10**6)
    assert whole.shape[1] == -(-length // HOP) * HOP
    for size, late in ((37, 0), (1000, 0), (1000, 3000)):
        torch.testing.assert_close(through(source, made, size, late), whole, atol=1e-6, rtol=0)


def test_the_power_becomes_that_of_the_input():
    source = noise(1, 32_000, 2) * torch.linspace(0.1, 1.0, 32_000)
    found = through(source, 0.3 * noise(1, 32_000, 3), 4000)
    for part, wanted in zip(found.split(8000, 1), source.split(8000, 1), strict=True):
        ratio = part.square().mean() / wanted.square().mean()
        assert 10 * abs(float(ratio.log10())) < 0.5


def test_silence_is_silent_and_what_was_right_stays():
    source = noise(1, 32_000, 4)
    source[:, 8000:24_000] = 0.0
    found = through(source, noise(1, 32_000, 5), 4000)
    assert not found[:, 9200:22_800].any()
    same = noise(1, 32_000, 6)
    torch.testing.assert_close(through(same, same, 4000), same)


def test_gains_go_from_middle_to_middle():
    lines = between_middles(torch.tensor([[0.0, 1.0, 2.0, 3.0]]))
    torch.testing.assert_close(lines[0], (torch.arange(2 * HOP) + 0.5) / HOP + 0.5)
