"""Crops in other voices, and what a training step does with them."""

import dataclasses
import math

import pytest
import torch
from torch.nn.functional import cosine_similarity

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.resynthesis.pipeline.synthesis_settings import Settings
from voicenym.training.run.machine import Machine
from voicenym.training.synthesis import train_synthesizer
from voicenym.training.synthesis.converted_crops import in_other_voices
from voicenym.training.synthesis.recogniser_loss import RecogniserLoss
from voicenym.training.synthesis.synthesis_dataset import SynthesisCrop
from voicenym.training.synthesis.synthesizer_step import Adversarial, SynthesizerConfig


def noise(*shape, seed=3):
    return 0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(seed))


HERTZ = torch.tensor([[100.0], [200.0], [150.0], [250.0]])


def batch(scale="root"):
    f0 = HERTZ.repeat(1, 100)
    f0[:, ::3] = 0.0
    vectors = Settings(scale=scale).scaled(noise(4, 8, seed=3))
    return SynthesisCrop(noise(4, 16_000), noise(4, 100, 6), f0, vectors)


@pytest.mark.parametrize("scale", ["root", "unit", "none"])
def test_a_voice_lies_between_the_next_two(scale):
    crop = batch(scale)
    other = in_other_voices(crop, Settings(scale=scale), torch.Generator().manual_seed(0))
    assert torch.equal(other.content, crop.content)
    assert torch.equal(other.samples, crop.samples)
    assert torch.equal(other.f0 > 0, crop.f0 > 0)
    first, second = crop.vector.roll(-1, 0), crop.vector.roll(-2, 0)
    if scale != "none":
        torch.testing.assert_close(other.vector.norm(dim=1), crop.vector.norm(dim=1))
    both = cosine_similarity(other.vector, first) + cosine_similarity(other.vector, second)
    assert (both > cosine_similarity(first, second) + 0.5).all()
    register = other.f0.amax(1, keepdim=True)
    low, high = torch.stack([HERTZ.roll(-1, 0), HERTZ.roll(-2, 0)]).aminmax(dim=0)
    assert ((register >= low * 0.999) & (register <= high * 1.001)).all()


def test_movements_of_f0_stay_and_unvoiced_crops_are_left():
    crop = batch()
    contour = 1.0 + 0.2 * torch.linspace(0, 6.0, 100).sin()
    crop = crop._replace(f0=crop.f0 * contour)
    crop.f0[2] = 0.0
    other = in_other_voices(crop, Settings(scale="root"), torch.Generator().manual_seed(1))
    assert not other.f0[2].any()
    assert torch.isfinite(other.f0).all()
    voiced = crop.f0[0] > 0
    ratio = other.f0[0][voiced] / crop.f0[0][voiced]
    torch.testing.assert_close(ratio, ratio[:1].expand_as(ratio))


def test_the_step_adds_their_distance(whisper):
    torch.manual_seed(1)
    network = IstftVocoder(6, 8, width=16, inner=16, blocks=1, speaker_width=4)
    config = SynthesizerConfig(
        synthesizer="istft-vocoder", adversarial=1.0, words=2.0, settings=Settings(scale="root")
    )
    crop = batch()
    without, module = (
        Adversarial(network, dataclasses.replace(config, converted=share), whisper.encoder)
        for share in (0.0, 0.5)
    )
    added = float((module.training_step(crop, 0) - without.training_step(crop, 0)).detach())
    other = in_other_voices(crop, config.settings, module._generator(2))
    made = network(other.content[:2], other.f0[:2], other.vector[:2], module.seeds(4)[:2])
    expected = 2.0 * float(RecogniserLoss(whisper.encoder)(crop.samples[:2], made))
    assert added == pytest.approx(expected, rel=1e-3)


def test_discriminators_see_them_and_match_only_what_has_an_original(whisper):
    network = IstftVocoder(6, 8, width=16, inner=16, blocks=1, speaker_width=4)
    config = SynthesizerConfig(
        synthesizer="istft-vocoder",
        words=1.0,
        converted=0.5,
        discriminators={"period": {"channels": [2, 2, 2, 2, 2]}, "spectral": {"width": 2}},
    )
    module = Adversarial(network, config, whisper.encoder)
    logged = {}
    module.log = lambda name, value, **more: logged.update({name: float(value)})
    module.update = lambda optimizer, loss: None
    crop = batch()
    made = 0.1 * noise(4, 16_000, seed=7)
    module._adversarial_step(crop.samples, made, made[:0], None)
    plain = dict(logged)
    module._adversarial_step(crop.samples, made, noise(2, 16_000, seed=8), None)
    assert logged["train/features"] == pytest.approx(plain["train/features"], rel=1e-5)
    assert not math.isclose(logged["train/deceiving"], plain["train/deceiving"], rel_tol=1e-6)


@pytest.mark.parametrize("wrong", [{"words": 0.0}, {"words": 1.0, "batch": 2}])
def test_a_configuration_that_cannot_convert_is_refused(whisper, tmp_path, wrong):
    network = IstftVocoder(6, 8, width=16, inner=16, blocks=1, speaker_width=4)
    config = SynthesizerConfig(synthesizer="istft-vocoder", converted=0.5, **wrong)
    with pytest.raises(VoicenymError, match="converted"):
        train_synthesizer.train(
            network, [], [], config, tmp_path, recogniser=whisper.encoder, machine=Machine("cpu")
        )
