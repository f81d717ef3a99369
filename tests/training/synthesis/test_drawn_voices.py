"""Crops in drawn voices: voice and F0 are those of the pipeline, and nothing of the speaker's."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.identity.pools.vector_mixture import opened
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.resynthesis.pipeline.assembly import BUNDLED, part
from voicenym.resynthesis.pipeline.f0_regression import Register
from voicenym.resynthesis.pipeline.synthesis_settings import Settings
from voicenym.training.run.machine import Machine
from voicenym.training.synthesis import train_synthesizer
from voicenym.training.synthesis.drawn_voices import DrawnVoices
from voicenym.training.synthesis.recogniser_loss import RecogniserLoss
from voicenym.training.synthesis.synthesis_dataset import SynthesisCrop
from voicenym.training.synthesis.synthesizer_step import Adversarial, SynthesizerConfig

SETTINGS, EVERY = Settings(scale="root"), 4


@pytest.fixture(scope="module")
def voices():
    return DrawnVoices(BUNDLED / "ssl")


def batch(rows=4, frames=100, seed=3):
    draws = torch.Generator().manual_seed(seed)
    content = torch.randn((rows, frames // EVERY, 64), generator=draws)
    samples = 0.1 * torch.randn((rows, frames * 160), generator=draws)
    f0 = torch.full((rows, frames), 431.0)  # no register has it
    vectors = SETTINGS.scaled(torch.randn((rows, 192), generator=draws))
    return SynthesisCrop(samples, content.repeat_interleave(EVERY, 1), f0, vectors)


def drawn(voices, crop, seed=0):
    return voices(crop, SETTINGS, EVERY, torch.Generator().manual_seed(seed))


def test_nothing_of_the_speakers_voice_enters(voices):
    crop = batch()
    other = drawn(voices, crop)
    changed = crop._replace(f0=torch.zeros_like(crop.f0), vector=-crop.vector)
    again = drawn(voices, changed)
    assert torch.equal(other.f0, again.f0)
    assert torch.equal(other.vector, again.vector)
    assert torch.equal(other.content, crop.content)
    assert torch.equal(other.samples, crop.samples)
    assert not torch.equal(other.vector, drawn(voices, crop, seed=1).vector)


def test_voices_are_those_of_the_mixtures(voices):
    other = drawn(voices, batch(400, EVERY))
    groups = opened(str(part(BUNDLED / "ssl", "mixture"))).groups.values()
    mean = torch.stack([g.back(g.weights[None] @ g.means)[0] for g in groups]).mean(0)
    found = other.vector.mean(0)
    cosine = torch.nn.functional.cosine_similarity(found, mean, dim=0)
    assert float(cosine) > 0.98
    assert torch.allclose(other.vector.norm(dim=1), torch.full((400,), 192.0**0.5), rtol=1e-4)


def test_f0_is_predicted_from_content_in_the_register_of_the_voice(voices):
    crop = batch(8, 200)
    other = drawn(voices, crop)
    mean, std = Register.load(part(BUNDLED / "ssl", "register"))(other.vector)
    frames = crop.content[:, ::EVERY]
    expected = voices.predictor(frames).voicing > 0
    assert torch.equal(other.f0 > 0, expected)
    z = (other.f0.clamp_min(1.0).log() - mean[:, None]) / std[:, None]
    assert float(z[expected].abs().max()) < 3.01  # F0Predictor.drawn's bound


def test_the_step_adds_their_distance(whisper, voices):
    torch.manual_seed(1)
    network = IstftVocoder(64, 192, width=16, inner=16, blocks=1, speaker_width=4)
    config = SynthesizerConfig(
        synthesizer="istft-vocoder", adversarial=1.0, words=2.0, settings=SETTINGS
    )
    crop = batch()
    without, module = (
        Adversarial(
            network, dataclasses.replace(config, drawn=share), whisper.encoder, voices, EVERY
        )
        for share in (0.0, 0.5)
    )
    added = float((module.training_step(crop, 0) - without.training_step(crop, 0)).detach())
    other = voices(crop, SETTINGS, EVERY, module._generator(3))
    made = network(other.content[:2], other.f0[:2], other.vector[:2], module.seeds(4)[:2])
    expected = 2.0 * float(RecogniserLoss(whisper.encoder)(crop.samples[:2], made))
    assert added == pytest.approx(expected, rel=1e-3)
    kept = set(module.state_dict())
    assert not any("predictor" in name for name in kept)  # weights of the pipeline are not its own


def test_a_configuration_without_voices_is_refused(whisper, tmp_path):
    network = IstftVocoder(6, 8, width=16, inner=16, blocks=1, speaker_width=4)
    config = SynthesizerConfig(synthesizer="istft-vocoder", words=1.0, drawn=0.5)
    with pytest.raises(VoicenymError, match="--voices"):
        train_synthesizer.train(
            network, [], [], config, tmp_path, recogniser=whisper.encoder, machine=Machine("cpu")
        )
