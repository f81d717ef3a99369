import math

import pytest
import torch

from voicenym.nets.synthesis.nsf import (
    FilterBlock,
    Nsf,
    Standardize,
    filtered,
    interpolated,
    low_pass,
)

RATE = 16_000


def small():
    torch.manual_seed(0)
    return Nsf(10, 4, channels=8, blocks=2, convolutions=4).eval()


def test_the_low_pass_stops_at_its_limit():
    limit = torch.tensor([[0.3, 0.7]])
    filters = low_pass(limit, 31)[0].double()
    torch.testing.assert_close(filters, filters.flip(1))  # no delay
    frequencies = torch.linspace(0, 1, 201, dtype=torch.float64)
    n = torch.arange(31) - 15
    response = (filters[:, None] * torch.cos(math.pi * frequencies[:, None] * n)).sum(2)
    for row, limit_of_row in enumerate((0.3, 0.7)):
        assert (response[row, frequencies < limit_of_row - 0.1] - 1).abs().max() < 0.02
        assert response[row, frequencies > limit_of_row + 0.1].abs().max() < 0.02
        edge = response[row, (frequencies - limit_of_row).abs().argmin()]
        assert edge == pytest.approx(0.5, abs=0.02)


def test_filters_are_of_their_own_sample():
    signal = torch.randn(1, 50, generator=torch.Generator().manual_seed(0))
    filters = torch.zeros(1, 50, 3)
    filters[:, :25, 1] = 1.0  # as it is
    filters[:, 25:, 2] = 2.0  # the next sample, twice
    found = filtered(signal, filters)
    assert torch.equal(found[0, :25], signal[0, :25])
    assert torch.equal(found[0, 25:49], 2 * signal[0, 26:])


def test_the_limit_follows_voicing_smoothly():
    nsf = small()
    f0 = torch.tensor([[100.0] * 10 + [0.0] * 10])
    limit = nsf.limit(torch.zeros(1, 20), f0)[0]
    assert limit[0] == pytest.approx(0.7)
    assert limit[-1] == pytest.approx(0.3)
    assert limit.diff().abs().max() < 0.4 / (3 * nsf.hop)  # no step
    highest = nsf.limit(torch.ones(1, 20), f0)[0]
    torch.testing.assert_close(highest, limit + 0.2)


def test_a_block_adds_to_its_signal_within_one():
    torch.manual_seed(0)
    block = FilterBlock(8, 4, 3)
    signal, context = torch.randn(2, 1, 100), torch.randn(2, 8, 100)
    assert ((block(signal, context) - signal).abs() <= 1).all()
    torch.nn.init.zeros_(block.leave.weight)
    assert torch.equal(block(signal, context), signal)


def test_without_filters_the_output_is_tones_below_and_noise_above_the_limit():
    nsf = small()
    for block in (*nsf.harmonic_blocks, nsf.noise_block):
        torch.nn.init.zeros_(block.leave.weight)
    torch.nn.init.zeros_(nsf.conv.weight)
    torch.nn.init.zeros_(nsf.conv.bias)
    torch.nn.init.ones_(nsf.source.l_linear.weight)
    torch.nn.init.zeros_(nsf.source.l_linear.bias)
    f0 = torch.full((1, 100), 200.0)
    with torch.inference_mode():
        out = nsf(torch.zeros(1, 100, 10), f0, torch.zeros(1, 4), torch.tensor([1]))[0]
    assert out.shape == (RATE,)
    power = torch.fft.rfft(out.double()).abs().square()
    harmonic = torch.stack([power[200 * k] for k in range(1, 9)])
    assert harmonic.min() > 50 * power[300:5000].median()
    breath = power[6400:7900].mean() / RATE  # above 0.8 of half the rate: white
    assert breath == pytest.approx((0.1 / 3) ** 2, rel=0.1)
    assert power[1650:4800].mean() < 0.1 * breath * RATE  # between tones and noise: little


@pytest.mark.parametrize("frames", [1, 7])
def test_exact_length_and_repeatable(frames):
    nsf = small()
    f0 = torch.full((2, frames), 120.0)
    given = torch.randn(2, frames, 10), f0, torch.randn(2, 4), torch.tensor([1, 2])
    with torch.inference_mode():
        one, two = nsf(*given), nsf(*given)
    assert one.shape == (2, frames * nsf.hop)
    assert torch.equal(one, two)


def test_standardized_features_have_mean_0_and_deviation_1():
    frames = 3 + 2 * torch.randn(4, 50, 6, generator=torch.Generator().manual_seed(0))
    frames[:, :, 5] = 7.0
    standardize = Standardize(6)
    standardize.fit(frames)
    found = standardize(frames).flatten(0, 1)
    torch.testing.assert_close(found.mean(0), torch.zeros(6), atol=1e-5, rtol=0)
    torch.testing.assert_close(found.std(0)[:5], torch.ones(5))
    torch.testing.assert_close(standardize.inverse(standardize(frames)), frames)
    assert {"mean", "deviation"} <= standardize.state_dict().keys()


def test_interpolation_is_on_straight_lines():
    line = interpolated(torch.arange(5.0)[None, None], 4)[0, 0]
    torch.testing.assert_close(line[2:-2].diff(), torch.full((15,), 0.25))
