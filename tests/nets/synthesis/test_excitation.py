import math

import pytest
import torch

from voicenym.nets.streaming import Memory
from voicenym.nets.synthesis.excitation import Noise, Phase, Pulses, Sines, gaussian, splitmix

RATE, HOP = 16_000, 160


def seeds(*numbers):
    return torch.tensor(numbers, dtype=torch.int64)


def steady(hertz, frames=100):
    return torch.full((1, frames), float(hertz))


def test_splitmix_gives_the_published_numbers():
    # the first outputs for seed 0 of the generator's reference implementation
    wanted = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    found = splitmix(seeds(0), torch.arange(3)).tolist()
    assert [number % 2**64 for number in found] == wanted


def test_noise_is_white_normal_and_of_unit_power():
    x = gaussian(seeds(1, 2), 1, 0, 1 << 16).double()
    assert x.mean(1).abs().max() < 0.015
    assert (x.var(1) - 1).abs().max() < 0.025
    assert ((x**4).mean(1) - 3).abs().max() < 0.15
    within = 0.5 * (1 + math.erf(1 / math.sqrt(2)))
    assert ((x < 1).double().mean(1) - within).abs().max() < 0.006
    for lag in (1, 2, 160):
        assert (x[:, lag:] * x[:, :-lag]).mean(1).abs().max() < 0.015
    assert (x[0] * x[1]).mean().abs() < 0.015


def test_noise_is_of_its_seed_and_purpose_alone():
    whole = gaussian(seeds(5, 6), 1, 0, 1000)
    assert torch.equal(gaussian(seeds(6), 1, 0, 1000)[0], whole[1])
    assert torch.equal(gaussian(seeds(5, 6), 1, 333, 100), whole[:, 333:433])
    other = gaussian(seeds(5, 6), 2, 0, 1000)
    assert (other * whole).mean(1).abs().max() < 0.15
    assert torch.equal(gaussian(seeds(-3), 1, 0, 5), gaussian(seeds(-3), 1, 0, 5))


@pytest.mark.parametrize("hertz", [61.7, 100.0, 233.3, 410.0])
def test_sines_have_the_pitch_that_was_asked(hertz):
    sines = Sines(RATE, HOP, harmonics=8)(steady(hertz), seeds(3))[0].double()
    window = torch.hann_window(sines.shape[1], dtype=torch.float64)
    points = 1 << 18
    spectrum = torch.fft.rfft(sines * window, n=points).abs()
    found = spectrum.argmax(1) * RATE / points
    torch.testing.assert_close(
        found, hertz * torch.arange(1, 9).double(), atol=0.1, rtol=0, check_dtype=False
    )
    # amplitude of a sine from its peak: half of it times the window's sum
    amplitude = 2 * spectrum.amax(1) / window.sum()
    assert (amplitude - 0.1).abs().max() < 0.002


def test_unvoiced_is_noise_of_a_third():
    unvoiced = Sines(RATE, HOP)(steady(0.0, 200), seeds(1))[0]
    assert ((unvoiced.std(1) - 0.1 / 3) / 0.0333).abs().max() < 0.02
    spectrum = torch.fft.rfft(unvoiced).abs().square()
    bands = torch.stack([band.mean() for band in spectrum.flatten().chunk(8)])
    assert bands.max() / bands.min() < 1.1  # flat
    correlation = torch.corrcoef(unvoiced) - torch.eye(8)
    assert correlation.abs().max() < 0.03


def test_voiced_noise_is_faint_and_harmonics_do_not_alias():
    sines = Sines(RATE, HOP, harmonics=8)(steady(1500.0), seeds(1))[0]
    power = sines.square().mean(1)
    assert (power[:5] - 0.005).abs().max() < 2e-4  # 1500 to 7500 Hz
    assert (power[5:] - 0.003**2).abs().max() < 1e-6  # nothing but noise


def test_the_phase_goes_on_where_f0_moves_and_rests_where_there_is_none():
    f0 = torch.cat([100 + torch.arange(30.0), torch.zeros(7), 150 - torch.arange(20.0)])[None]
    phase = Phase(RATE, HOP)(f0)[0]
    step = (phase[1:] - phase[:-1]) % 1.0
    asked = f0[0].repeat_interleave(HOP)[1:].double() / RATE
    error = (step - asked + 0.5) % 1.0 - 0.5
    assert error.abs().max() < 1e-9


@pytest.mark.parametrize("size", [1, 3, 50])
def test_blocks_equal_the_whole(size):
    generator = torch.Generator().manual_seed(0)
    f0 = 80 + 300 * torch.rand(2, 50, generator=generator)
    f0[:, 20:25] = 0
    seed = seeds(1, 2)
    sines, noise, pulses = Sines(RATE, HOP), Noise(), Pulses(RATE, HOP)
    memory = Memory()
    parts = [
        (sines(f, seed, memory), noise(f.shape[1] * HOP, seed, memory), pulses(f, memory))
        for f in f0.split(size, dim=1)
    ]
    whole = (sines(f0, seed), noise(50 * HOP, seed), pulses(f0))
    for part, expected in zip(zip(*parts, strict=True), whole, strict=True):
        torch.testing.assert_close(torch.cat(part, dim=-1), expected, atol=1e-4, rtol=0)


def test_pulses_are_of_unit_power_and_flat():
    train = Pulses(RATE, HOP)(steady(124.0))[0].double()
    assert train.square().mean() == pytest.approx(1.0, rel=0.01)
    harmonics = torch.fft.rfft(train).abs()[124:7900:124]  # a second: bins of 1 Hz
    assert harmonics.max() / harmonics.min() < 1.001
    assert (Pulses(RATE, HOP)(steady(0.0)) == 0).all()
