"""Phone loss: relative entropy of a recogniser's posteriors."""

import math

import pytest
import torch

from voicenym.nets.words.phone_states.phone_state_network import FrameNet, FrameNetConfig
from voicenym.training.resynthesis.phone_loss import Phones

RATE = 16_000


@pytest.fixture(scope="module")
def net():
    torch.manual_seed(0)
    return FrameNet(FrameNetConfig(tokens=7, bands=24, width=16, gaps=(1, 2)))


@pytest.fixture(scope="module")
def speech():
    torch.manual_seed(1)
    loudness = torch.linspace(0.0, 30.0, RATE).sin()
    return 0.1 * torch.randn(3, RATE) * loudness


def test_the_same_is_no_other(net, speech):
    assert Phones(net)(speech, speech).abs().max() < 1e-6


def test_it_is_the_relative_entropy_of_the_observed_scores(net, speech):
    other = speech.flip(1)
    lengths = torch.full((3,), RATE)
    with torch.no_grad():
        source, received = (net.eval()(w, lengths)[0].double().softmax(2) for w in (speech, other))
    entropy = -(source * source.log()).sum(2)
    cross = -(source * received.log()).sum(2)
    lost = Phones(net)(speech, other)
    torch.testing.assert_close(lost.double(), (cross - entropy).mean(1), rtol=1e-3, atol=1e-6)
    assert (lost > 0).all()


def test_it_is_learnt_from_and_learns_nothing(net, speech):
    phones = Phones(net).train()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    spoken = speech.roll(200, 1).requires_grad_()
    phones(speech, spoken).sum().backward()
    assert math.isfinite(float(spoken.grad.norm()))
    assert float(spoken.grad.norm()) > 0
    assert all(parameter.grad is None for parameter in net.parameters())
    assert not net.training
    assert all(torch.equal(before[name], value) for name, value in net.state_dict().items())
