"""Output level control: gains follow the input's power."""

import pytest
import torch
from level_blocks import in_blocks, noise

from voicenym.resynthesis.common.output_level import HOP, EarlyLevel, Level, between_middles

KINDS = pytest.mark.parametrize("kind", [Level, EarlyLevel])


def through(source, made, size, late=0, kind=Level):
    return in_blocks(kind(len(source)), source, made, size, late)


@KINDS
@pytest.mark.parametrize("length", [0, 1, 159, 160, 161, 12_345])
def test_blocks_and_delays_of_any_size_give_the_whole(length, kind):
    source, made = noise(2, length, 0), noise(2, length, 1)
    whole = through(source, made, 10**6, kind=kind)
    assert whole.shape[1] == -(-length // HOP) * HOP
    for size, late in ((37, 0), (1000, 0), (1000, 3000)):
        found = through(source, made, size, late, kind)
        torch.testing.assert_close(found, whole, atol=1e-6, rtol=0)


@KINDS
def test_the_power_becomes_that_of_the_input(kind):
    source = noise(1, 32_000, 2) * torch.linspace(0.1, 1.0, 32_000)
    found = through(source, 0.3 * noise(1, 32_000, 3), 4000, kind=kind)
    for part, wanted in zip(found.split(8000, 1), source.split(8000, 1), strict=True):
        ratio = part.square().mean() / wanted.square().mean()
        assert 10 * abs(float(ratio.log10())) < 0.5


@KINDS
def test_silence_is_silent_and_what_was_right_stays(kind):
    source = noise(1, 32_000, 4)
    source[:, 8000:24_000] = 0.0
    found = through(source, noise(1, 32_000, 5), 4000, kind=kind)
    assert not found[:, 9200:22_800].any()
    same = noise(1, 32_000, 6)
    torch.testing.assert_close(through(same, same, 4000, kind=kind), same)


@pytest.mark.parametrize(("kind", "ahead"), [(Level, 5), (EarlyLevel, 1)])
def test_a_gain_looks_ahead_so_many_frames_and_gives_samples_so_late(kind, ahead):
    """A change of the input in a frame moves the gain of the frame ``ahead`` before it, and by
    interpolation half of the one before; samples come out as late as the latency says."""
    source, made, frame = noise(1, 40 * HOP, 7), noise(1, 40 * HOP, 8), 20
    louder = source.clone()
    louder[:, frame * HOP : (frame + 1) * HOP] *= 4.0
    change = (through(source, made, 4000, kind=kind) - through(louder, made, 4000, kind=kind))[0]
    first = int(change.nonzero()[0])
    assert (frame - ahead - 1) * HOP + HOP // 2 <= first < (frame - ahead) * HOP
    level = kind(1)
    assert level.latency == (ahead + 2) * HOP
    given = level.push(source, made).shape[1]
    assert source.shape[1] - level.latency <= given < source.shape[1]


def test_gains_go_from_middle_to_middle():
    lines = between_middles(torch.tensor([[0.0, 1.0, 2.0, 3.0]]))
    torch.testing.assert_close(lines[0], (torch.arange(2 * HOP) + 0.5) / HOP + 0.5)
