"""Batched products of many reflections in few dimensions.

Vectors that span k dimensions, four in a convolution of three taps and a bias, are multiplied as
matrices ``[k, k]``. A matrix product of that size costs more to begin than to do; here it is a few
operations on arrays whose last axis is all the matrices there are, and one reflection after another
is applied to all of them.

Backwards, no product of the reflections before or after is needed. With ``W = H_q ... H_1``, unit
vectors u_j, and G the gradient of W, let ``K_1 = W'G - G'W``, which is antisymmetric, and
``K_(j+1) = H_j K_j H_j``. Then the gradient of u_j is ``2 k``, with ``k' = u_j' K_j``, and

    K_(j+1) = K_j + 2 (k u_j' - u_j k'),

since ``u'Ku`` is zero; for the same reason it has no part along u_j, and the gradient of a vector
of any length is that by its length.
"""

from __future__ import annotations

import torch

from voicenym.nets.identity.reflections import LEAST

COLUMNS = 1024
"""Matrices in an operation, if that many can be had: where there are fewer, reflections are
multiplied in several parts at once, and then their products."""


def products(vectors: torch.Tensor) -> torch.Tensor:
    """Matrices ``H_q ... H_1``, ``[element, element, column]``.

    Args:
        vectors: ``[reflection, element, column]`` of any lengths, the first is applied first; zero
            reflects nothing. A product's price grows with the square of the elements.
    """
    count, _, columns = vectors.shape
    parts = 1
    while parts * columns < COLUMNS and 4 * parts <= count:
        parts *= 2
    each = -(-count // parts)
    if parts * each > count:
        vectors = torch.nn.functional.pad(vectors, (0, 0, 0, 0, 0, parts * each - count))
    found: torch.Tensor = _Products.apply(vectors.unflatten(0, (parts, each)))
    while len(found) > 1:
        found = (found[1::2, :, :, None] * found[0::2, None]).sum(2)
    turn = found[0]
    # A Newton step towards W'W = I removes rounding errors.
    with torch.no_grad():
        excess = (turn[:, :, None] * turn[:, None]).sum(0)
        excess.diagonal().sub_(1.0)
        rounding = (turn[:, :, None] * excess).sum(1)
    return torch.sub(turn, rounding, alpha=0.5)


class _Products(torch.autograd.Function):
    """Matrices of vectors ``[part, reflection, element, column]``, ``[part, element, element,
    column]``.
    """

    @staticmethod
    def forward(ctx, vectors):
        squares = vectors.square().sum(2, keepdim=True)
        shrunk = squares.clamp_min(LEAST).rsqrt_().mul_(squares >= LEAST)
        unit = vectors * shrunk
        parts, count, size, columns = unit.shape
        turn = unit.new_zeros(parts, size, size, columns)
        turn.diagonal(dim1=1, dim2=2).fill_(1.0)
        work, along = torch.empty_like(turn), turn.new_empty(parts, size, columns)
        for j in range(count):
            u = unit[:, j]
            torch.mul(turn, u[:, :, None], out=work)
            torch.sum(work, 1, out=along)
            turn.addcmul_(u[:, :, None], along[:, None], value=-2.0)
        ctx.save_for_backward(unit, shrunk, turn)
        return turn

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        unit, shrunk, turn = ctx.saved_tensors
        inner = (turn[:, :, :, None] * grad[:, :, None]).sum(1)
        inner = inner - inner.transpose(1, 2)
        work, found = torch.empty_like(inner), torch.empty_like(unit)
        for j in range(unit.shape[1]):
            u, k = unit[:, j], found[:, j]
            torch.mul(inner, u[:, :, None], out=work)
            torch.sum(work, 1, out=k)
            inner.addcmul_(k[:, :, None], u[:, None], value=2.0)
            inner.addcmul_(u[:, :, None], k[:, None], value=-2.0)
        return found.mul_(shrunk).mul_(2.0)


def turned(z: torch.Tensor, basis: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
    """Rotated vectors ``W_n ... W_1 z``, where ``W_l = I + P_l (T_l - I) P_l'`` rotates within a
    subspace.

    Args:
        z: ``[element, row]``.
        basis: ``[layer, element, k]``, P with orthonormal columns, the first layer acts first.
        turns: ``[k, k, layer, row]``, T.
    """
    found: torch.Tensor = _Turned.apply(z, basis, turns)
    return found


class _Turned(torch.autograd.Function):
    """A layer is k numbers a row: its projections of z, and of the changes by the layers before it.

    All bases are multiplied at once, with z, with each other, and with the changes by the layers.
    """

    @staticmethod
    def forward(ctx, z, basis, turns):
        layers, _, k = basis.shape
        flat = basis.transpose(0, 1).flatten(1)
        seen, cross = flat.mT @ z, flat.mT @ flat
        added = torch.empty_like(seen)
        for layer in range(layers):
            start, end = layer * k, (layer + 1) * k
            own, new = seen[start:end], added[start:end]
            if layer:
                own.addmm_(cross[start:end, :start], added[:start])
            torch.sum(turns[:, :, layer] * own, 1, out=new).sub_(own)
        ctx.save_for_backward(z, flat, cross, turns, seen, added)
        return torch.addmm(z, flat, added)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        z, flat, cross, turns, seen, added = ctx.saved_tensors
        k, layers = turns.shape[1:3]
        product = flat.mT @ grad
        back = torch.empty_like(product)
        for layer in reversed(range(layers)):
            start, end = layer * k, (layer + 1) * k
            own, new = product[start:end], back[start:end]
            if layer < layers - 1:
                own.addmm_(cross[start:end, end:], back[end:])
            torch.sum(turns[:, :, layer] * own[:, None], 0, out=new).sub_(own)
        place = torch.arange(layers, device=z.device).repeat_interleave(k)
        between = (back @ added.mT) * (place[:, None] > place)
        to_flat = grad @ added.mT + z @ back.mT + flat @ (between + between.mT)
        to_basis = to_flat.unflatten(1, (layers, k)).transpose(0, 1)
        rows = (layers, k, z.shape[1])
        to_turns = product.view(rows).transpose(0, 1)[:, None] * seen.view(rows).transpose(0, 1)
        return torch.addmm(grad, flat, back), to_basis, to_turns
