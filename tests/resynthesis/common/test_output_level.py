"""Output level control: gains follow the input's power."""

import pytest
import torch

from voicenym.resynthesis.common.output_level import HOP, Level, between_middles


def noise(rows, length, seed):
    return torch.randn(rows, length, generator=torch.Generator().manual_seed(seed)) * 0.1


def through(stated, made, size, late=0):
    level = Level(len(stated))
    given, total = [], 0
    for start in range(0, stated.shape[1] + late, size):
        stop = start + size
        given.append(
            level.push(stated[:, start:stop], made[:, max(0, start - late) : max(0, stop - late)])
        )
        total += given[-1].shape[1]
        if late == 0 and stop <= stated.shape[1]:
            assert total >= stop - level.latency
    return torch.cat([*given, level.flush()], dim=1)


@pytest.mark.parametrize("length", [0, 1, 159, 160, 161, 12_345])
def test_blocks_and_delays_of_any_size_give_the_whole(length):
    stated, made = noise(2, length, 0), noise(2, length, 1)
    whole = through(stated, made, 10**6)
    assert whole.shape[1] == -(-length // HOP) * HOP
    for size, late in ((37, 0), (1000, 0), (1000, 3000)):
        torch.testing.assert_close(through(stated, made, size, late), whole, atol=1e-6, rtol=0)


def test_the_power_becomes_that_of_the_input():
    stated = noise(1, 32_000, 2) * torch.linspace(0.1, 1.0, 32_000)
    found = through(stated, 0.3 * noise(1, 32_000, 3), 4000)
    for part, wanted in zip(found.split(8000, 1), stated.split(8000, 1), strict=True):
        ratio = part.square().mean() / wanted.square().mean()
        assert 10 * abs(float(ratio.log10())) < 0.5


def test_silence_is_silent_and_what_was_right_stays():
    stated = noise(1, 32_000, 4)
    stated[:, 8000:24_000] = 0.0
    found = through(stated, noise(1, 32_000, 5), 4000)
    assert not found[:, 9200:22_800].any()
    same = noise(1, 32_000, 6)
    torch.testing.assert_close(through(same, same, 4000), same)


def test_gains_go_from_middle_to_middle():
    lines = between_middles(torch.tensor([[0.0, 1.0, 2.0, 3.0]]))
    torch.testing.assert_close(lines[0], (torch.arange(2 * HOP) + 0.5) / HOP + 0.5)
