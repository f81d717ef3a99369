"""Level over seconds: the input's syllables do not pass, and silence stays silent."""

import pytest
import torch
from level_blocks import in_blocks, noise

from voicenym.resynthesis.common.output_level import HOP
from voicenym.resynthesis.common.slow_level import SlowLevel

RATE = 16_000


def through(source, made, size=10**6, late=0):
    return in_blocks(SlowLevel(len(source)), source, made, size, late)


def decibels(power):
    return 10.0 * power.clamp_min(1e-12).log10()


def levels(signal, seconds=0.1):
    """Level of each tenth of a second in dB, ``[row, part]``."""
    size = round(seconds * RATE)
    return decibels(
        signal[:, : signal.shape[1] // size * size].unflatten(1, (-1, size)).square().mean(2)
    )


@pytest.mark.parametrize("length", [0, 1, 161, 60_345])
def test_blocks_and_delays_of_any_size_give_the_whole(length):
    source, made = noise(2, length, 0), noise(2, length, 1)
    whole = through(source, made)
    assert whole.shape[1] == -(-length // HOP) * HOP
    for size, late in ((7_001, 0), (9_000, 3_000)):
        torch.testing.assert_close(through(source, made, size, late), whole, atol=1e-6, rtol=0)


def test_syllables_of_the_input_do_not_pass():
    time = torch.arange(20 * RATE) / RATE
    syllables = 1.0 + 0.9 * torch.sin(2 * torch.pi * 4.0 * time)
    steady = noise(1, len(time), 2)
    made = noise(1, len(time), 3)
    plain, spoken = (through(x, made)[:, RATE:-RATE] for x in (steady, steady * syllables))
    ratio = (spoken / plain.where(plain.abs() > 1e-4, torch.ones(()))).flatten()
    ratio = ratio[plain.flatten().abs() > 1e-4]
    assert float(ratio.std() / ratio.mean()) < 0.01  # one gain over all syllables


def test_the_level_over_seconds_follows():
    time = torch.arange(40 * RATE) / RATE
    source = noise(1, len(time), 4) * torch.where(time < 20.0, 1.0, 0.1)
    found = levels(through(source, 0.2 * noise(1, len(time), 5)), 1.0)[0]
    wanted = levels(source, 1.0)[0]
    away = (time[::RATE] - 19.5).abs() > 2.5
    assert float((found - wanted)[away].abs().max()) < 0.5


def test_silence_is_silent_and_faint_noise_stays_faint():
    source = noise(1, 10 * RATE, 6)
    source[:, 4 * RATE : 6 * RATE] = 0.0
    source[:, 8 * RATE :] *= 1e-3
    found = through(source, noise(1, 10 * RATE, 7))
    assert not found[:, round(4.25 * RATE) : round(5.75 * RATE)].any()
    assert float(levels(found)[0, 86:98].max()) < float(levels(source)[0, 86:98].max()) + 13.0
