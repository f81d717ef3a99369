"""Content bottleneck of ``base``."""

import math

import pytest
import torch

from voicenym.nets.content.bottleneck import EVERY, HOP, RATE, Bottleneck, FrontEnd
from voicenym.nets.streaming import Memory

SMALL = {"width": 16, "inner": 24, "blocks": 2, "size": 4}


def noise(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(scope="module")
def encoder():
    torch.manual_seed(0)
    return Bottleneck(**SMALL).eval()


def test_an_ear_measures_power():
    time = torch.arange(RATE) / RATE
    tone = 0.5 * torch.cos(2 * torch.pi * 1000.0 * time)[None]
    received = FrontEnd(48)(tone)
    assert received.bands.shape == (1, RATE // HOP, 48)
    inner = received.power[0, 3:-3].exp()
    torch.testing.assert_close(inner, torch.full_like(inner, 0.125), rtol=1e-2, atol=0)
    louder = FrontEnd(48)(10 * tone).bands - received.bands
    loud = received.bands[:, 3:-3] > -12
    assert torch.allclose(louder[:, 3:-3][loud], torch.tensor(2 * math.log(10.0)), atol=0.02)


def test_numbers_are_within_one_and_half_as_many(encoder):
    numbers = encoder.encode(noise(2, 50, 48))
    assert numbers.shape == (2, 50 // EVERY, 4)
    assert numbers.abs().max() <= 1


def test_noise_is_a_step_wide_and_belongs_to_the_seed(encoder):
    numbers = torch.zeros(2, 2000, 4)
    noisy = encoder.noisy(numbers, torch.tensor([1, 2]))
    step = 2.0 / (encoder.steps - 1)
    assert noisy.abs().max() <= step / 2
    assert noisy.std().item() == pytest.approx(step / math.sqrt(12), rel=0.02)
    assert abs(torch.corrcoef(noisy.flatten(1))[0, 1]) < 0.05
    assert torch.equal(noisy, encoder.noisy(numbers, torch.tensor([1, 2])))
    assert encoder.bits() == pytest.approx(4 * math.log2(5) * 50)


def test_blocks_give_the_content_of_the_whole(encoder):
    signal, seed = noise(1, 64 * EVERY * HOP), torch.tensor([7])
    with torch.inference_mode():
        whole = encoder(encoder.front_end(signal).bands + 6.0, seed)
        memory, given = Memory(), []
        padded = torch.cat([signal, torch.zeros(1, encoder.latency)], dim=1)
        for block in padded.split(3 * EVERY * HOP, dim=1):
            given.append(encoder(encoder.front_end(block, memory).bands + 6.0, seed, memory))
    streamed = torch.cat(given, dim=1)
    assert streamed.shape[1] >= whole.shape[1]
    # the last frames hear zeros of another kind behind the end
    torch.testing.assert_close(streamed[:, :50], whole[:, :50], atol=1e-4, rtol=0)


def test_an_average_that_was_taken_off_takes_loudness_and_filters_with_it(encoder):
    signal = 0.1 * noise(1, 40 * HOP * EVERY)
    bands = encoder.front_end(signal).bands
    filtered = bands + torch.linspace(-2, 3, 48)
    one, two = (x - x.mean(1, keepdim=True) for x in (bands, filtered))
    torch.testing.assert_close(encoder.encode(one), encoder.encode(two), atol=1e-5, rtol=0)
