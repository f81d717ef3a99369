"""Silence computed in groups: exact where positions are alike, near Whisper's states elsewhere."""

from __future__ import annotations

import pytest
import torch

from voicenym.nets.words.whisper.silent_groups import (
    GROUP,
    NEAR,
    spectral_states,
    states_before_silence,
)
from voicenym.nets.words.whisper.whisper import STATE, Whisper

SIZES = {"width": 24, "heads": 2, "layers": 3, "states": 150, "tokens": 9}


@pytest.fixture
def encoder():
    torch.manual_seed(2)
    made = Whisper(**SIZES)
    with torch.no_grad():
        for value in made.parameters():
            value.copy_(0.3 * torch.randn(value.shape))
    return made.eval().encoder


def speech(*shape):
    return 0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(5))


@torch.inference_mode()
def both(encoder, waveforms):
    count = waveforms.shape[1] // STATE
    whole = encoder(encoder.spectra(waveforms), count)
    spectra = encoder.spectra(waveforms, spectral_states(encoder, count))
    return whole, states_before_silence(encoder, spectra, count)


@pytest.mark.parametrize("count", [1, 40, 117])
def test_it_is_exact_where_the_positions_of_silence_are_one(encoder, count):
    encoder.positions.data[count + NEAR :] = encoder.positions[count + NEAR]
    for convolution in (encoder.conv1, encoder.conv2):  # else the last state has an edge
        convolution.padding_mode = "replicate"
    whole, grouped = both(encoder, speech(2, count * STATE))
    assert grouped.shape == whole.shape == (2, count, 24)
    torch.testing.assert_close(grouped, whole, atol=2e-5, rtol=2e-5)


def test_it_is_near_with_the_positions_of_whisper(encoder):
    time = torch.arange(150)[:, None] * torch.logspace(0, -4, 12)
    encoder.positions.data = torch.cat([time.sin(), time.cos()], 1)
    whole, grouped = both(encoder, speech(1, 40 * STATE))
    truncated = encoder(encoder.spectra(speech(1, 40 * STATE), 40), 40)
    error = float((grouped - whole).square().mean())
    assert 0 < error < 0.1 * float((truncated - whole).square().mean())


def test_a_group_costs_one_state(encoder):
    sizes = []
    encoder.layers[0].widen.register_forward_hook(lambda _, x, y: sizes.append(y.shape[1]))
    both(encoder, speech(1, 40 * STATE))
    rest = 150 - 40 - NEAR
    assert sizes == [150, 40 + NEAR + -(-rest // GROUP)]


@pytest.mark.parametrize("count", [125, 150])
def test_a_window_that_is_nearly_full_is_computed_whole(encoder, count):
    whole, grouped = both(encoder, speech(1, count * STATE))
    assert torch.equal(grouped, whole)


def test_rows_do_not_depend_on_each_other(encoder):
    waves = speech(2, 30 * STATE) * torch.tensor([[1.0], [0.001]])
    _, together = both(encoder, waves)
    for row in range(2):
        _, alone = both(encoder, waves[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone, atol=1e-5, rtol=1e-5)
