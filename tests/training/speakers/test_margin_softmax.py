import math

import pytest
import torch

from voicenym.training.speakers.margin_softmax import AngularMargin


def head(margin=0.2, classes=3):
    made = AngularMargin(2, classes, scale=30.0, margin=margin)
    angles = torch.arange(classes) * 2 * math.pi / classes
    made.weight.data = torch.stack([angles.cos(), angles.sin()], dim=1)
    return made


@pytest.mark.parametrize("angle", [0.0, 0.5, 2.0, 2.9])
def test_logits_are_the_papers(angle):
    """s cos(theta + m) for the speaker, s cos(theta) for the others."""
    vector = 3.0 * torch.tensor([[math.cos(angle), math.sin(angle)]])
    logits = head().logits(vector, torch.tensor([0]))[0]
    turns = [abs(angle - k * 2 * math.pi / 3) for k in range(3)]
    expected = [30 * math.cos(turns[0] + 0.2), *(30 * math.cos(t) for t in turns[1:])]
    torch.testing.assert_close(logits, torch.tensor(expected), atol=2e-3, rtol=1e-4)


def test_beyond_half_a_turn_the_logit_still_falls():
    angles = torch.linspace(2.8, math.pi, 50)
    vectors = torch.stack([angles.cos(), angles.sin()], dim=1)
    own = head().logits(vectors, torch.zeros(50, dtype=torch.long))[:, 0]
    assert (own.diff() < 0).all()


def test_without_margin_it_is_cross_entropy_of_scaled_cosines():
    vectors = torch.randn(5, 2, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 2, 0, 1])
    cosine = torch.nn.functional.normalize(vectors, dim=1) @ head().weight.T
    expected = torch.nn.functional.cross_entropy(30 * cosine, labels)
    torch.testing.assert_close(head(margin=0.0)(vectors, labels), expected)


def test_gradients_are_finite_on_the_axis():
    vectors = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], requires_grad=True)
    head()(vectors, torch.tensor([0, 0])).backward()
    assert torch.isfinite(vectors.grad).all()
