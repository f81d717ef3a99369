"""Cross-entropy of texts: as of whole windows, with a gradient, of each row's own words alone."""

from __future__ import annotations

import pytest
import torch

from voicenym.nets.words.whisper.silent_groups import (
    NEAR,
    spectral_states,
    states_with_silence,
)
from voicenym.nets.words.whisper.whisper import STATE, Whisper
from voicenym.nets.words.whisper.whisper_decoding import Writing
from voicenym.training.synthesis.decoder_loss import DecoderLoss

SIZES = {"width": 24, "heads": 2, "layers": 2, "states": 150, "tokens": 30, "positions": 20}
WRITING = Writing(begin=(28, 29), end=27, words=27)
TEXTS = [[3, 4, 5], [6, 3]]
COUNT = 40


@pytest.fixture
def recogniser():
    torch.manual_seed(4)
    made = Whisper(**SIZES)
    with torch.no_grad():
        for value in made.parameters():
            value.copy_(0.3 * torch.randn(value.shape))
    return made.eval()


def sound(rows=2, seed=5):
    draws = torch.Generator().manual_seed(seed)
    return 0.1 * torch.randn(rows, COUNT * STATE, generator=draws)


def of_whole_windows(recogniser, waveforms, texts, pieces):
    """The loss by Whisper's own states of 30 s, row by row."""
    total, count = 0.0, 0
    for row, text in enumerate(texts):
        whole = torch.tensor([*WRITING.begin, *text, WRITING.end])
        states = recogniser.states(waveforms[row : row + 1])
        context = recogniser.decoder.cross_keys_values(states)
        hidden = recogniser.decoder(whole[None, :-1], context)[0, len(WRITING.begin) - 1 :]
        logits = recogniser.decoder.scores(hidden, torch.tensor(pieces)).log_softmax(1)
        wanted = [pieces.index(token) for token in whole[len(WRITING.begin) :].tolist()]
        total -= float(logits[torch.arange(len(wanted)), wanted].sum())
        count += len(wanted)
    return total / count


@torch.no_grad()
def test_it_is_that_of_whole_windows_where_silence_has_one_position(recogniser):
    encoder = recogniser.encoder
    encoder.positions.data[COUNT + NEAR :] = encoder.positions[COUNT + NEAR]
    for convolution in (encoder.conv1, encoder.conv2):  # else the last state has an edge
        convolution.padding_mode = "replicate"
    loss = DecoderLoss(recogniser, WRITING, TEXTS)
    pieces = loss.pieces.tolist()
    assert pieces == [3, 4, 5, 6, 27]
    wanted = of_whole_windows(recogniser, sound(), TEXTS, pieces)
    assert float(loss(sound(), TEXTS)) == pytest.approx(wanted, rel=1e-4)


@torch.no_grad()
def test_silence_in_groups_counts_as_many_for_the_decoder(recogniser):
    encoder = recogniser.encoder
    spectra = encoder.spectra(sound(), spectral_states(encoder, COUNT))
    states, weights = states_with_silence(encoder, spectra, COUNT)
    assert states.shape[1] == len(weights) < 150
    assert float(weights.exp().sum()) == pytest.approx(150.0, rel=1e-5)


def test_the_gradient_leads_to_the_words_and_not_to_the_recogniser(recogniser):
    loss = DecoderLoss(recogniser, WRITING, TEXTS)
    waveforms = sound().requires_grad_()
    before = loss(waveforms, TEXTS)
    before.backward()
    assert all(value.grad is None for value in recogniser.parameters())
    moved = waveforms - 0.01 * waveforms.grad / waveforms.grad.norm() * waveforms.norm()
    assert float(loss(moved.detach(), TEXTS)) < float(before.detach())


@torch.no_grad()
def test_a_longer_text_beside_it_does_not_change_a_row(recogniser):
    loss = DecoderLoss(recogniser, WRITING, [[3, 4, 5, 6], [6, 3]])
    alone = float(loss(sound()[1:], [[6, 3]]))
    long = float(loss(sound()[:1], [[3, 4, 5, 6, 3, 4, 5, 6]]))
    both = float(loss(sound(), [[3, 4, 5, 6, 3, 4, 5, 6], [6, 3]]))
    assert both == pytest.approx((3 * alone + 9 * long) / 12, rel=1e-4)
