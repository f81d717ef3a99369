"""Losses of the cloak: signs, steps and limits."""

from __future__ import annotations

import math

import pytest
import torch

from voicenym.nets.words.ctc_networks.deepspeech import DeepSpeech2, DeepSpeech2Config
from voicenym.nets.words.phone_states.phone_state_network import FrameNet, FrameNetConfig
from voicenym.training.cloak.cloak_losses import (
    Envelope,
    Posteriorgram,
    Transcript,
    Weights,
    anonymity,
    naturalness,
    radii,
)

AXES = torch.eye(3)


def test_without_a_target_the_cosine_to_the_original_is_lost():
    for angle in (0.0, 1.0, 2.0):
        cloaked = torch.tensor([[math.cos(angle), math.sin(angle), 0.0]])
        found = anonymity(3 * cloaked, AXES[:1], AXES[1:2], torch.tensor([False]))
        assert found.item() == pytest.approx(math.cos(angle), abs=1e-6)
        found = anonymity(3 * cloaked, AXES[:1], AXES[1:2], torch.tensor([True]))
        assert found.item() == pytest.approx(-math.sin(angle), abs=1e-6)


def test_enough_is_enough_only_without_a_target():
    opposite = -AXES[:1].expand(2, -1)
    found = anonymity(
        opposite, AXES[:1].expand(2, -1), opposite, torch.tensor([False, True]), enough=-0.1
    )
    torch.testing.assert_close(found, torch.tensor([-0.1, -1.0]))


def test_with_a_target_the_way_from_the_original_may_count_too():
    between = torch.tensor([[0.6, 0.8, 0.0]])
    for aside, expected in ((0.0, -0.8), (1.0, 0.6 - 0.8), (0.5, 0.3 - 0.8)):
        found = anonymity(between, AXES[:1], AXES[1:2], torch.tensor([True]), aside=aside)
        assert found.item() == pytest.approx(expected, abs=1e-6)


def test_the_papers_weights_rise_as_anonymity_is_reached():
    weights = Weights()
    assert weights(0.9) == weights(0.3) == (0.5, 1e-6, 0.1)
    assert weights(0.29) == weights(0.15) == (0.8, 2e-6, 0.1)
    assert weights(0.14) == weights(-1.0) == (1.0, 3e-6, 0.1)
    with pytest.raises(ValueError, match="2 limits need 3"):
        Weights(words=(1.0,))


def test_naturalness_is_at_most_psi():
    excess = torch.tensor([0.5, 30.0], requires_grad=True)
    found = naturalness(excess, 20.0)
    assert found.tolist() == [0.5, 20.0]
    found.sum().backward()
    assert excess.grad.tolist() == [1.0, 0.0]


def test_radii_are_normal_within_limits():
    generator = torch.Generator().manual_seed(0)
    found = radii(20_000, 0.05, 0.05, (0.005, 0.15), generator)
    assert found.min().item() == pytest.approx(0.005)
    assert found.max().item() == pytest.approx(0.15)
    assert found.median().item() == pytest.approx(0.05, abs=2e-3)
    inner = (found - 0.05).abs() < 0.02
    assert inner.float().mean().item() == pytest.approx(math.erf(0.4 / 2**0.5), abs=0.01)


def sounds():
    generator = torch.Generator().manual_seed(1)
    return 0.1 * torch.randn(2, 8_000, generator=generator)


def net():
    torch.manual_seed(0)
    return DeepSpeech2(DeepSpeech2Config(size=8, layers=1, channels=2))


def phones():
    torch.manual_seed(0)
    return FrameNet(FrameNetConfig(tokens=5, width=16, gaps=(1,)))


@pytest.mark.parametrize(
    "words",
    [Envelope(), Posteriorgram(net()), Posteriorgram(phones())],
    ids=["bands", "graphemes", "phones"],
)
def test_what_is_unchanged_loses_no_word_and_more_noise_loses_more(words):
    speech = sounds()
    assert words(speech, speech).abs().max() < 1e-6
    added = sounds().flip(0).requires_grad_()
    small, large = words(speech, speech + 0.02 * added), words(speech, speech + 0.5 * added)
    assert small.shape == (2,)
    assert (small < large).all()
    large.sum().backward()
    assert added.grad.abs().max() > 0


def test_the_numerator_graph_gives_ctc():
    """A net that hears one token in every frame: the transcript is it, its loss nothing."""
    one = net()
    words = Transcript(one)
    with torch.no_grad():
        one.output.weight.zero_()
        one.output_norm.bias.fill_(1.0)
        one.output_norm.weight.zero_()
        one.output.weight[7] = 5.0
    loss = words(sounds(), sounds())
    assert loss.shape == (2,)
    assert (loss.abs() < 1e-3).all()


@pytest.mark.parametrize("made", [net, phones])
@pytest.mark.parametrize("form", [Posteriorgram, Transcript])
def test_the_recogniser_is_frozen_and_hands_gradients_on(made, form):
    words = form(made())
    assert not any(p.requires_grad for p in words.net.parameters())
    added = torch.zeros(2, 8_000, requires_grad=True)
    words(sounds(), sounds() + 0.1 * sounds().roll(5) + added).sum().backward()
    assert torch.isfinite(added.grad).all()
