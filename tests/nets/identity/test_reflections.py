"""Products of reflections against reflections one after another."""

import pytest
import torch

from voicenym.nets.identity.reflections import (
    AT_ONCE,
    BLOCK,
    factors,
    product,
    reflect,
    reflect_all,
)

SHAPES = [(1, 6), (6, 6), (4, 9), (9, 4), (2 * AT_ONCE + 5, 4)]


def one_by_one(x, vectors):
    for v in vectors.unbind(-2):
        x = x - 2.0 * (v * x).sum(-1, keepdim=True) / (v * v).sum(-1, keepdim=True) * v
    return x


def drawn(count, size, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(2, 3, count, size, generator=generator, dtype=dtype)
    return torch.randn(2, 3, size, generator=generator, dtype=dtype), vectors


@pytest.mark.parametrize(("count", "size"), SHAPES)
def test_all_at_once_is_one_after_another(count, size):
    x, vectors = drawn(count, size)
    expected = one_by_one(x, vectors)
    torch.testing.assert_close(reflect(x, vectors), expected)
    torch.testing.assert_close((product(vectors) @ x[..., None])[..., 0], expected)


@pytest.mark.parametrize(("count", "size"), SHAPES)
def test_gradients_are_those_of_finite_differences(count, size):
    x, vectors = (t[:1, :1].requires_grad_() for t in drawn(count, size))
    assert torch.autograd.gradcheck(product, (vectors,))
    assert torch.autograd.gradcheck(reflect, (x, vectors))


@pytest.mark.parametrize("count", [0, 1, 6, 7, 40])
def test_as_many_reflections_as_elements_make_any_rotation(count):
    _, vectors = drawn(max(count, 1), 6)
    whole = product(vectors[0, 0, :count]) if count else torch.eye(6, dtype=torch.float64)
    found = factors(whole)
    assert found.shape == (6, 6)
    torch.testing.assert_close(product(found), whole)
    assert not found.flip(0).tril(-1).any(), "zeros before its axis"
    lengths = found.norm(dim=1)
    torch.testing.assert_close(lengths, lengths.round())


@pytest.mark.parametrize("kind", ["any", "nearly one", "of all lengths"])
def test_orthogonal_in_single_precision(kind):
    _, vectors = drawn(192, 192, dtype=torch.float32)
    if kind == "nearly one":
        vectors = vectors[..., :1, :] + 1e-3 * vectors
    if kind == "of all lengths":
        vectors = vectors * torch.logspace(-9, 9, 192)[:, None]
    turn = product(vectors)
    assert (turn.mT @ turn - torch.eye(192)).abs().max() < 1e-5
    determinants = torch.linalg.det(turn.double())
    torch.testing.assert_close(
        determinants, torch.ones(2, 3, dtype=torch.float64), atol=1e-4, rtol=0
    )
    assert torch.linalg.det(product(vectors[0, 0, :7]).double()) == pytest.approx(-1.0, abs=1e-4)


def test_a_vector_twice_is_nothing_and_zero_reflects_nothing():
    x, vectors = drawn(3, 8)
    there_and_back = torch.cat((vectors, vectors.flip(-2)), dim=-2)
    torch.testing.assert_close(reflect(x, there_and_back), x)
    nothing = torch.zeros(2, 3, 5, 8, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(reflect(x, nothing), x)
    product(nothing).sum().backward()
    assert nothing.grad.isfinite().all()


def test_one_set_of_vectors_serves_all_rows():
    x, vectors = drawn(4, 6)
    shared = vectors[:1, :1].clone().requires_grad_()
    each = shared.detach().expand(2, 3, -1, -1).clone().requires_grad_()
    reflect(x, shared).square().mul(x).sum().backward()
    reflect(x, each).square().mul(x).sum().backward()
    torch.testing.assert_close(shared.grad, each.grad.sum((0, 1), keepdim=True))


@pytest.mark.parametrize("shape", [(4, 9), (3, 5, 9), (2 * BLOCK + 5, 4)])
def test_rows_that_share_their_reflections(shape):
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(*shape, generator=generator, dtype=torch.float64)
    x = torch.randn(7, shape[-1], generator=generator, dtype=torch.float64)
    flat = vectors.flatten(0, -2)
    torch.testing.assert_close(reflect_all(x, vectors), one_by_one(x, flat))
    given = (x.requires_grad_(), vectors.requires_grad_())
    expected = torch.autograd.grad(one_by_one(x, vectors.flatten(0, -2)).pow(3).sum(), given)
    torch.testing.assert_close(
        torch.autograd.grad(reflect_all(x, vectors).pow(3).sum(), given), expected
    )
    if len(flat) < BLOCK:
        assert torch.autograd.gradcheck(reflect_all, given)


def test_a_shared_zero_reflects_nothing():
    x, _ = drawn(1, 8)
    nothing = torch.zeros(5, 8, dtype=torch.float64, requires_grad=True)
    found = reflect_all(x.flatten(0, 1), nothing)
    torch.testing.assert_close(found, x.flatten(0, 1))
    found.sum().backward()
    assert (nothing.grad == 0.0).all()
