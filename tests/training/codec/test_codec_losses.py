"""The codec's losses."""

import math

import numpy as np
import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.content.units import Cepstra, Units
from voicenym.nets.synthesis.discriminators import DiscriminatorOutput
from voicenym.nets.synthesis.synthesis_losses import LogMel
from voicenym.training.codec import codec_losses
from voicenym.training.content.bottleneck.frame_targets import numbers_of


def test_the_papers_weights_make_the_papers_sum():
    names = ("rebuilding", "deceiving", "features", "commitment", "speaker", "semantic")
    each = {name: torch.tensor(1.0) for name in names}
    assert float(codec_losses.Weights().total(each)) == pytest.approx(45 + 1 + 1 + 0.1 + 1 + 1)
    each.pop("deceiving")
    assert float(codec_losses.Weights(semantic=0.0).total(each)) == pytest.approx(45 + 1 + 0.1 + 1)
    with pytest.raises(VoicenymError, match="weights, speaker: give 0"):
        codec_losses.Weights(speaker=-1.0)


def test_rebuilding_is_equation_5():
    torch.manual_seed(0)
    mel = LogMel(hop=256)
    real = 0.1 * torch.randn(2, 4096)
    assert float(codec_losses.rebuilding(real, real, mel)) == 0.0
    # twice as loud: every log mel is ln 2 above
    lost = float(codec_losses.rebuilding(real, 2.0 * real, mel))
    expected = float(real.abs().mean()) + math.log(2.0) + math.log(2.0) ** 2
    assert lost == pytest.approx(expected, rel=1e-4)


def test_the_game_is_equations_6_to_8():
    real = [
        DiscriminatorOutput(
            torch.tensor([[0.5, 1.0]]), [torch.tensor([1.0, 3.0]), torch.tensor([2.0])]
        )
    ]
    fake = [
        DiscriminatorOutput(
            torch.tensor([[0.2, 0.0]]), [torch.tensor([0.0, 1.0]), torch.tensor([5.0])]
        )
    ]
    assert float(codec_losses.discriminator_loss(real, fake)) == pytest.approx(0.125 + 0.02)
    found = codec_losses.generator_losses(real, fake)
    assert float(found["deceiving"]) == pytest.approx((0.64 + 1.0) / 2)
    assert float(found["features"]) == pytest.approx(1.5 + 3.0)


def test_speaker_distillation_is_equation_2():
    torch.manual_seed(0)
    module = codec_losses.SpeakerDistillation(4, 3)
    for parameter in module.parameters():
        torch.nn.init.zeros_(parameter)
    one = torch.eye(4)[:2]
    speakers = torch.tensor([0, 2])
    # a classifier that knows nothing: ln 3; like segments: -1, opposite ones: +1
    assert float(module(one, 3.0 * one, speakers)) == pytest.approx(math.log(3.0) - 1.0)
    assert float(module(one, -one, speakers)) == pytest.approx(math.log(3.0) + 1.0)
    with torch.no_grad():
        module.classifier.weight.copy_(100.0 * torch.eye(4)[[0, 2, 1]])
    assert float(module(one, one, speakers)) == pytest.approx(-1.0, abs=1e-5)


def test_semantic_distillation_is_equation_4_of_tokens_and_of_posteriors():
    torch.manual_seed(0)
    module = codec_losses.SemanticDistillation(6, 5)
    first = torch.randn(2, 6, 4)
    given = torch.tensor([[0, 1, 2, -1], [3, 4, 0, 0]])
    scores = module.classifier(first.transpose(1, 2)).log_softmax(2)
    known = [(b, t) for b in range(2) for t in range(4) if given[b, t] >= 0]
    expected = -sum(float(scores[b, t, given[b, t]]) for b, t in known) / len(known)
    assert float(module(first, given)) == pytest.approx(expected, rel=1e-5)
    hard = torch.nn.functional.one_hot(given.clamp_min(0), 5) * (given >= 0)[..., None]
    assert float(module(first, hard.float())) == pytest.approx(expected, rel=1e-5)
    best = scores.argmax(2)
    assert float(module.right(first, best)) == 1.0
    assert float(module.right(first, (best + 1) % 5)) == 0.0
    # where nobody says anything nothing is lost
    silent = torch.full((2, 4), codec_losses.NO_LABEL)
    assert float(module(first, silent)) == 0.0


def test_a_teacher_of_units_says_the_nearest_centre_of_each_frame():
    torch.manual_seed(0)
    features = Cepstra()
    speech = 0.1 * torch.randn(16_000)
    frames = features.extract(speech)
    units = Units(frames[[3, 20, 40]], {"features": "cepstra"})
    teacher = codec_losses.UnitTeacher(features, units)
    original = teacher(speech)
    assert original.shape == (50,)
    assert [original[3], original[20], original[40]] == [0, 1, 2]
    assert teacher.source == {"features": "cepstra", "units": 3}
    assert teacher.hop == 320
    with pytest.raises(VoicenymError, match="the features that they were found in"):
        codec_losses.UnitTeacher(features, Units(torch.zeros(3, 4)))


def test_a_soft_teacher_says_posteriors():
    teacher = codec_losses.SoftTeacher(Cepstra(), {"features": "made"})
    original = teacher(0.1 * torch.randn(3200))
    assert original.shape == (10, teacher.classes)
    np.testing.assert_allclose(original.sum(1), 1.0, rtol=1e-5)


def test_a_teacher_of_word_codes_says_each_code_for_as_long_as_it_lasts(small_word_codes):
    speech = 0.1 * torch.randn(16_000)
    teacher = codec_losses.CodeTeacher(small_word_codes, 320)
    found = teacher(speech)
    numbers = numbers_of(small_word_codes, small_word_codes.extract(speech))
    assert found.tolist() == [int(n) for n in numbers for _ in range(2)]
    assert len(found) == 50
    assert (teacher.classes, teacher.hop) == (12, 320)
    assert codec_losses.CodeTeacher(small_word_codes, 640).source != teacher.source
    with pytest.raises(VoicenymError, match="choose strides"):
        codec_losses.CodeTeacher(small_word_codes, 480)
