"""Distance of a recogniser's states: zero for equal speech, gradient, and a step that uses it."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.training.run.machine import Machine
from voicenym.training.synthesis import train_synthesizer
from voicenym.training.synthesis.recogniser_loss import RecogniserLoss
from voicenym.training.synthesis.synthesis_dataset import SynthesisCrop
from voicenym.training.synthesis.synthesizer_step import Adversarial, SynthesizerConfig


def noise(*shape, seed=3):
    return 0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_equal_speech_has_no_distance_and_other_speech_has_one(whisper):
    loss = RecogniserLoss(whisper.encoder)
    one, other = noise(2, 16_000), noise(2, 16_000, seed=4)
    assert float(loss(one, one)) == 0.0
    assert float(loss(one, other)) > 10 * float(loss(one, one + 0.01 * other)) > 0.0


def test_the_gradient_leads_to_the_original_and_not_to_the_recogniser(whisper):
    loss = RecogniserLoss(whisper.encoder)
    wanted = noise(1, 8_000)
    made = (wanted + 0.5 * noise(1, 8_000, seed=5)).requires_grad_()
    before = loss(wanted, made)
    before.backward()
    assert all(value.grad is None for value in whisper.encoder.parameters())
    moved = made - 1e-3 * made.grad / made.grad.norm() * made.norm()
    assert float(loss(wanted, moved.detach())) < float(before.detach())


def test_crops_are_not_padded_to_a_window(whisper):
    loss = RecogniserLoss(whisper.encoder)
    assert loss.states(noise(2, 9_600))[0].shape == (2, 30, 16)
    whole = whisper.encoder.layer_states(whisper.encoder.spectra(noise(1, 9_600)))
    torch.testing.assert_close(whole[-1], whisper.states(noise(1, 9_600)))


def test_the_step_adds_the_distance(whisper):
    torch.manual_seed(1)
    network = IstftVocoder(6, 4, width=16, inner=16, blocks=1, speaker_width=4)
    config = SynthesizerConfig(synthesizer="istft-vocoder", adversarial=1.0)
    batch = SynthesisCrop(noise(2, 16_000), noise(2, 100, 6), torch.zeros(2, 100), noise(2, 4))
    losses = [
        Adversarial(network, dataclasses.replace(config, words=weight), whisper.encoder)
        for weight in (0.0, 2.0)
    ]
    plain, weighted = (float(module.training_step(batch, 0)) for module in losses)
    made = network(batch.content, batch.f0, batch.vector, losses[0].seeds(2))
    distance = float(RecogniserLoss(whisper.encoder)(batch.samples, made))
    assert weighted - plain == pytest.approx(2.0 * distance, rel=1e-3)


def test_a_configuration_that_weighs_words_needs_a_recogniser(tmp_path):
    network = IstftVocoder(6, 4, width=16, inner=16, blocks=1, speaker_width=4)
    config = SynthesizerConfig(synthesizer="istft-vocoder", words=1.0)
    with pytest.raises(VoicenymError, match="--whisper"):
        train_synthesizer.train(network, [], [], config, tmp_path, machine=Machine("cpu"))
