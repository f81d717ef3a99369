"""w-AAM softmax and the cosine loss, against their formulas."""

import math

import pytest
import torch

from voicenym.training.identity.paired_losses import PairedMargin, likeness
from voicenym.training.speakers.margin_softmax import AngularMargin


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def head(apart, speakers=3):
    torch.manual_seed(1)
    return PairedMargin(6, speakers, 30.0, 0.2, apart)


def test_it_is_equation_14():
    made = head(0.3)
    vectors, labels = drawn(6, 6), torch.tensor([0, 1, 2, 3, 4, 5])
    total = 0.0
    for x, label in zip(vectors, labels, strict=True):
        angles = [math.acos(float(w @ x / w.norm() / x.norm())) for w in made.weight.detach()]
        y, pair = int(label), (int(label) + 3) % 6
        own = math.exp(30 * math.cos(angles[y] + 0.2))
        z = own + math.exp(30 * math.cos(angles[pair] - 0.3))
        z += sum(math.exp(30 * math.cos(a)) for j, a in enumerate(angles) if j not in (y, pair))
        total -= math.log(own / z)
    assert made(vectors, labels).item() == pytest.approx(total / 6, rel=1e-4)


def test_without_the_second_margin_it_is_aam():
    made, plain = head(0.0), AngularMargin(6, 6, 30.0, 0.2)
    plain.weight.data = made.weight.data
    vectors, labels = drawn(8, 6), torch.arange(8) % 6
    torch.testing.assert_close(made.logits(vectors, labels), plain.logits(vectors, labels))
    torch.testing.assert_close(made.logits(vectors), plain.logits(vectors))


def test_the_second_margin_makes_the_pair_nearer_and_the_loss_larger():
    vectors, labels = drawn(8, 6), torch.arange(8) % 6
    near, plain = head(0.2).logits(vectors, labels), head(0.0).logits(vectors, labels)
    pair = torch.nn.functional.one_hot((labels + 3) % 6, 6).bool()
    assert (near[pair] > plain[pair]).all()
    torch.testing.assert_close(near[~pair], plain[~pair])
    assert head(0.2)(vectors, labels) > head(0.0)(vectors, labels)


def test_a_pair_that_is_nearer_always_costs_more():
    """Below the margin cos(theta - m2) would fall again."""
    made = PairedMargin(2, 1, 30.0, 0.2, 0.2)
    made.weight.data = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    angles = torch.linspace(0.0, math.pi, 200)
    logits = made.logits(torch.stack((angles.cos(), angles.sin()), 1), torch.zeros(200).long())
    assert (logits[:, 1].diff() < 0).all()


def test_gradients_reach_weights_and_vectors():
    made = head(0.2).double()
    labels = torch.arange(4)
    vectors = drawn(4, 6).requires_grad_()
    made(vectors, labels).backward()
    assert vectors.grad.abs().min() > 0.0
    assert made.weight.grad.isfinite().all()


def test_likeness_is_torchs_cosine_loss_for_unlike_pairs():
    x, y = drawn(20, 6), drawn(20, 6, seed=1)
    expected = torch.nn.functional.cosine_embedding_loss(x, y, -torch.ones(20), margin=0.1)
    torch.testing.assert_close(likeness(x, y, 0.1), expected)
    assert float(likeness(x, x)) == pytest.approx(1.0)
    assert float(likeness(x, -x)) == 0.0
