"""Many products of reflections in few dimensions against reflections one after another."""

import pytest
import torch

from voicenym.nets.identity.small_reflections import COLUMNS, products, turned

SHAPES = [(1, 4, 3), (7, 4, 3), (50, 4, 5), (5, 2, 2 * COLUMNS), (9, 1, 3)]


def drawn(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def one_by_one(vectors):
    """One matrix ``[element, element, column]`` after another."""
    found = torch.eye(vectors.shape[1], dtype=vectors.dtype)[..., None].expand(
        -1, -1, vectors.shape[2]
    )
    for v in vectors:
        along = torch.einsum("in,ikn->kn", v, found) / v.square().sum(0)
        found = found - 2.0 * v[:, None] * along
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_all_at_once_is_one_after_another(shape):
    vectors = drawn(*shape)
    torch.testing.assert_close(products(vectors), one_by_one(vectors))


@pytest.mark.parametrize("shape", [(1, 4, 2), (3, 4, 2), (9, 3, 1)])
def test_gradients_are_those_of_finite_differences(shape):
    assert torch.autograd.gradcheck(products, (drawn(*shape).requires_grad_(),))


def test_gradients_of_many_are_those_of_the_plain_product():
    vectors, weights = drawn(70, 4, 6).requires_grad_(), drawn(4, 4, 6, seed=1)
    expected = torch.autograd.grad((one_by_one(vectors) * weights).sum(), vectors)
    torch.testing.assert_close(
        torch.autograd.grad((products(vectors) * weights).sum(), vectors), expected
    )


def test_orthogonal_in_single_precision():
    vectors = drawn(600, 4, 64, dtype=torch.float32)
    vectors = vectors * torch.logspace(-9, 9, 600)[:, None, None]
    turns = products(vectors).permute(2, 0, 1)
    assert (turns.mT @ turns - torch.eye(4)).abs().max() < 1e-5
    odd = products(vectors[:599]).permute(2, 0, 1).double()
    torch.testing.assert_close(
        torch.linalg.det(odd), -torch.ones(64, dtype=torch.float64), atol=1e-4, rtol=0
    )


def test_zero_reflects_nothing():
    vectors = drawn(8, 4, 3)
    with_zeros = torch.stack((vectors, torch.zeros_like(vectors)), 1).flatten(0, 1)
    torch.testing.assert_close(products(with_zeros), products(vectors))
    nothing = torch.zeros(8, 4, 3, requires_grad=True)
    products(nothing).square().sum().backward()
    assert (nothing.grad == 0.0).all()


@pytest.mark.parametrize("layers", [1, 3])
def test_turning_within_bases(layers):
    z, turns = drawn(6, 5), drawn(2, 2, layers, 5, seed=1)
    basis = torch.linalg.qr(drawn(layers, 6, 2, seed=2)).Q
    expected = z
    for layer in range(layers):
        within = basis[layer].mT @ expected
        moved = torch.einsum("imb,mb->ib", turns[:, :, layer], within) - within
        expected = expected + basis[layer] @ moved
    torch.testing.assert_close(turned(z, basis, turns), expected)
    whole = (z.requires_grad_(), basis.requires_grad_(), turns.requires_grad_())
    assert torch.autograd.gradcheck(turned, whole)
