"""Products of Householder reflections as matrix products: the compact WY form.

With unit vectors ``u_1 ... u_q``, rows of U, and ``H_j = I - 2 u_j u_j'`` (Miao et al. 2023,
equation 11), the product is ``H_q ... H_1 = I - U' M^-1 U``, where M is ``U U'`` below its diagonal
and 1/2 on it: row j of ``M s = U x`` says that ``s_j`` is twice the cosine of ``u_j`` with the
output of the reflections before it for x. One triangular system stands for q reflections in
sequence. After Schreiber and Van Loan, "A storage-efficient WY representation for products of
Householder transformations" (SIAM J. Sci. Stat. Comput. 10, 1989), and Joffrain et al.,
"Accumulating Householder transformations, revisited" (ACM TOMS 32, 2006), for the inverse of the
factor.
"""

from __future__ import annotations

import torch

AT_ONCE = 32
"""Reflections of a triangular system in :func:`product`, or the elements of a vector where those
are more; the products of several systems are multiplied."""
BLOCK = 96
"""Reflections of a triangular system in :func:`reflect_all`."""
LEAST = 1e-30
"""Least squared length; shorter vectors reflect nothing."""
SMALLEST = 1e-9
"""Difference from an axis that :func:`factors` takes for rounding."""


def reflect(x: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Product of reflections with vectors, ``H_q ... H_1 x``.

    Args:
        x: ``[..., element]``.
        vectors: ``[..., reflection, element]`` of any lengths, in order of application; zero
            vectors reflect nothing.
    """
    found: torch.Tensor = _Reflect.apply(x, _unit(vectors))
    return found


def product(vectors: torch.Tensor) -> torch.Tensor:
    """Matrix of a product of reflections ``H_q ... H_1``, ``[..., element, element]``.

    Args:
        vectors: ``[..., reflection, element]``, as for :func:`reflect`.
    """
    count, size = vectors.shape[-2:]
    parts = 1
    while count > parts * max(AT_ONCE, size):
        parts *= 2
    each = -(-count // parts)
    unit = torch.nn.functional.pad(_unit(vectors), (0, 0, 0, parts * each - count))
    found: torch.Tensor = _Product.apply(unit.unflatten(-2, (parts, each)))
    while found.shape[-3] > 1:
        found = found[..., 1::2, :, :] @ found[..., 0::2, :, :]
    return found[..., 0, :, :]


def reflect_all(x: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Product of reflections with rows that share them, ``H_q ... H_1 x``.

    Args:
        x: ``[row, element]``.
        vectors: ``[..., reflection, element]``, as for :func:`reflect`; all of them, in order.
    """
    flat = vectors.flatten(0, -2)
    blocks = -(-len(flat) // BLOCK)
    # Blocks of one size; zero vectors reflect nothing.
    each = -(-len(flat) // max(1, blocks))
    if blocks * each > len(flat):
        flat = torch.nn.functional.pad(flat, (0, 0, 0, blocks * each - len(flat)))
    found: torch.Tensor = _ReflectAll.apply(x.mT, flat.unflatten(0, (blocks, each)))
    return found.mT


def factors(rotation: torch.Tensor) -> torch.Tensor:
    """Reflections whose product is an orthogonal matrix, ``[size, size]``, in order of application.

    From the first axis on, each takes a column to its axis and leaves the axes before it in place
    (Householder's QR, whose triangle is I here). Row k has zeros before element ``size - 1 - k``,
    and unit length, or none where there is nothing left to reflect.

    Args:
        rotation: orthogonal, ``[size, size]``, in double precision.

    Example:
        >>> swap = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
        >>> torch.allclose(product(factors(swap)), swap)
        True
    """
    left, size = rotation.clone(), len(rotation)
    found = torch.zeros_like(left)
    for axis in range(size):
        vector = left[:, axis].clone()
        vector[:axis] = 0.0
        vector[axis] -= vector.norm()
        if float(vector.norm()) > SMALLEST:
            found[size - 1 - axis] = vector / vector.norm()
            left = reflect(left.mT, found[size - 1 - axis][None]).mT
    return found


class _Product(torch.autograd.Function):
    """Product of reflections by unit vectors. M + M' = U U', so that ``M^-T U = -(M^-1 U) W'``: one
    system is solved.
    """

    @staticmethod
    def forward(ctx, unit):
        along = torch.linalg.solve_triangular(_factor(unit), unit, upper=False)
        turn = torch.matmul(unit.mT, along).neg_()
        turn.diagonal(dim1=-2, dim2=-1).add_(1.0)
        # A Newton step towards W' W = I removes rounding errors.
        excess = turn.mT @ turn
        excess.diagonal(dim1=-2, dim2=-1).sub_(1.0)
        turn = turn - 0.5 * turn @ excess
        ctx.save_for_backward(unit, along, turn)
        return turn

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        unit, along, turn = ctx.saved_tensors
        # W = I - U' M^-1 U: through both U, and through M's dependence on U.
        back = along @ (turn.mT @ grad)
        inner = (back @ along.mT).tril_(-1)
        return torch.sub(back, along @ grad.mT).sub_((inner + inner.mT) @ unit)


class _Reflect(torch.autograd.Function):
    """Reflections of vectors x by unit vectors."""

    @staticmethod
    def forward(ctx, x, unit):
        factor = _factor(unit)
        along = torch.linalg.solve_triangular(factor, unit @ x[..., None], upper=False)
        ctx.save_for_backward(x, unit, factor, along)
        return x - (unit.mT @ along)[..., 0]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        x, unit, factor, along = ctx.saved_tensors
        back = torch.linalg.solve_triangular(factor.mT, unit @ grad[..., None], upper=True)
        to_x = grad - (unit.mT @ back)[..., 0]
        inner = (back @ along.mT).tril_(-1)
        to_unit = (inner + inner.mT) @ unit
        to_unit -= along * grad[..., None, :]
        to_unit -= back * x[..., None, :]
        return to_x.sum_to_size(x.shape), to_unit.sum_to_size(unit.shape)


class _ReflectAll(torch.autograd.Function):
    """Reflections of columns ``[element, row]`` by blocks of vectors ``[block, reflection,
    element]``.

    The component of a unit vector's gradient along the vector is the negative product of what its
    reflection subtracts from x and from the gradient; it is left out, as a vector's length changes
    nothing.
    """

    @staticmethod
    def forward(ctx, x, vectors):
        lengths = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
        shrunk = lengths.clamp_min(LEAST**0.5).reciprocal_().mul_(lengths >= LEAST**0.5)
        unit = vectors * shrunk
        factor = _factor(unit)
        before = x.new_empty(len(unit), *x.shape)
        along = x.new_empty(*unit.shape[:2], x.shape[1])
        for block, own in enumerate(unit):
            before[block] = x
            seen = torch.linalg.solve_triangular(factor[block], own @ x, upper=False)
            along[block] = seen
            x = torch.addmm(x, own.mT, seen, alpha=-1.0)
        ctx.save_for_backward(unit, shrunk, factor, before, along)
        return x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        unit, shrunk, factor, before, along = ctx.saved_tensors
        after, back = torch.empty_like(before), torch.empty_like(along)
        for block in reversed(range(len(unit))):
            own, after[block] = unit[block], grad
            seen = torch.linalg.solve_triangular(factor[block].mT, own @ grad, upper=True)
            back[block] = seen
            grad = torch.addmm(grad, own.mT, seen, alpha=-1.0)
        inner = (back @ along.mT).tril_()
        inner.diagonal(dim1=-2, dim2=-1).mul_(0.5)
        to_unit = (inner + inner.mT) @ unit
        to_unit.baddbmm_(along, after.mT, alpha=-1.0).baddbmm_(back, before.mT, alpha=-1.0)
        return grad, to_unit.mul_(shrunk)


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    squares = vectors.square().sum(-1, keepdim=True)
    return vectors * squares.clamp_min(LEAST).rsqrt() * (squares >= LEAST)


def _factor(unit: torch.Tensor) -> torch.Tensor:
    """Factor M of unit vectors."""
    factor = (unit @ unit.mT).tril_(-1)
    factor.diagonal(dim1=-2, dim2=-1).fill_(0.5)
    return factor
