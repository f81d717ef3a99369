"""Distance of speaker vectors: small for equal speech, gradient, and a step that uses it."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.speakers.speaker_encoders import make
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.training.run.machine import Machine
from voicenym.training.synthesis import train_synthesizer
from voicenym.training.synthesis.speaker_loss import SpeakerLoss
from voicenym.training.synthesis.synthesis_dataset import SynthesisCrop
from voicenym.training.synthesis.synthesizer_step import Adversarial, SynthesizerConfig


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return make("ecapa", {"channels": 8, "size": 6}).eval()


def draws(seed=0):
    return torch.Generator().manual_seed(seed)


def noise(*shape, seed=3):
    return 0.1 * torch.randn(shape, generator=draws(seed))


def coloured(*shape, seed=3):
    """Noise whose spectrum falls: another voice to any encoder of speakers."""
    return noise(*shape, seed=seed).cumsum(1) * 0.05


def test_equal_speech_is_nearer_than_other_speech(encoder):
    loss = SpeakerLoss(encoder)
    one, other = noise(2, 16_000), coloured(2, 16_000)
    same, apart = loss(one, one, draws()), loss(one, other, draws())
    assert 0.0 <= float(same) < 0.1 * float(apart)
    assert float(apart) <= 2.0


def test_the_level_does_not_matter(encoder):
    loss = SpeakerLoss(encoder)
    one, other = noise(2, 16_000), coloured(2, 16_000)
    louder, usual = loss(one, 0.5 * other, draws()), loss(one, other, draws())
    torch.testing.assert_close(louder, usual, rtol=0.1, atol=0.01)


def test_the_gradient_leads_to_the_original_and_not_to_the_encoder(encoder):
    loss = SpeakerLoss(encoder)
    wanted = noise(1, 8_000)
    made = coloured(1, 8_000).requires_grad_()
    before = loss(wanted, made, draws())
    before.backward()
    assert all(value.grad is None for value in encoder.parameters())
    moved = made - 1e-4 * made.grad / made.grad.norm() * made.norm()
    assert float(loss(wanted, moved.detach(), draws())) < float(before.detach())


def test_the_step_adds_the_distance(encoder):
    torch.manual_seed(1)
    network = IstftVocoder(6, 4, width=16, inner=16, blocks=1, speaker_width=4)
    config = SynthesizerConfig(synthesizer="istft-vocoder", adversarial=1.0)
    batch = SynthesisCrop(noise(2, 16_000), noise(2, 100, 6), torch.zeros(2, 100), noise(2, 4))
    modules = [
        Adversarial(network, dataclasses.replace(config, speaker=weight), encoder=encoder)
        for weight in (0.0, 2.0)
    ]
    plain, weighted = (float(module.training_step(batch, 0).detach()) for module in modules)
    made = network(batch.content, batch.f0, batch.vector, modules[1].seeds(2))
    distance = SpeakerLoss(encoder)(batch.samples, made, modules[1]._generator(5))
    assert weighted - plain == pytest.approx(2.0 * float(distance.detach()), rel=1e-2)
    assert set(modules[1].other_distances(batch.samples, made)) == {"speaker"}


def test_a_configuration_that_weighs_the_speaker_needs_vectors(tmp_path):
    network = IstftVocoder(6, 4, width=16, inner=16, blocks=1, speaker_width=4)
    config = SynthesizerConfig(synthesizer="istft-vocoder", speaker=1.0)
    machine = Machine("cpu")
    with pytest.raises(VoicenymError, match="--speaker ecapa-small"):
        train_synthesizer.train(network, [], [], config, tmp_path, machine=machine)
