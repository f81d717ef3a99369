"""Factorisation of real polynomials into real quadratics: the poles of many LP filters at once.

A real polynomial of even degree 2m is a product of m real factors z^2 + b z + c, each a conjugate
pair or two real roots. All factors are refined together by Weierstrass' simultaneous iteration
(Durand 1960, Kerner 1966), carried out not in C but in the ring R[z] / (z^2 + b z + c), so that
everything stays real and pairs need not be matched: with P the polynomial,

    (b_k, c_k) += coefficients of  P * (prod_{j != k} Q_j)^-1  mod Q_k,

which converges quadratically. It takes about m^2 * 10 real operations a step and polynomial, where
an eigenvalue solver takes about (2m)^3 * 10. Factors that have not converged go to that solver.
"""

from __future__ import annotations

import math

import torch

TOLERANCE = 1e-7
"""Largest last step of b and c; steps shrink quadratically, so the error is about its square."""
LONGEST_STEP = 0.5
"""Largest step; without the limit the iteration can diverge far from the solution."""
RADIUS = 0.9
"""Radius of the starting points: LP poles of speech lie between 0.7 and 1."""
LOWEST = 0.3
"""Angle of the lowest starting point as a share of the distance between neighbours: the lowest
pole of speech lies lower than the middle of its share of the circle."""
AGAIN = (0.97, 0.5)
"""Radius and lowest angle of a second attempt, from pairs alone: four in five of the remaining ones
converge.
"""
FEWEST = 32
"""Below this number an eigenvalue solver is faster, as in the short blocks of a live stream."""
STEPS = 7
"""Iterations after the coarse ones; nearly all polynomials converge after 1 or 2."""
COARSE_STEPS = 9
"""First iterations, in single precision at half the cost."""


def multiply_out(b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """Product of quadratics: coefficients of prod_k (z^2 + b_k z + c_k).

    Args:
        b, c: ``[factor, polynomial]``.

    Returns:
        ``[2 * factor + 1, polynomial]``, highest power first, so a_0 = 1.
    """
    one = torch.ones_like(b)
    polynomials = torch.stack([one, b, c])  # [power, factor, polynomial]
    while polynomials.shape[1] > 1:
        if polynomials.shape[1] % 2:
            unit = torch.zeros_like(polynomials[:, :1])
            unit[-1] = 1.0
            polynomials = torch.cat([polynomials, unit], dim=1)
        left, right = polynomials[:, 0::2], polynomials[:, 1::2]
        size = left.shape[0]
        product = left.new_zeros(2 * size - 1, *left.shape[1:])
        for power in range(size):
            product[power : power + size].addcmul_(left[power], right)
        polynomials = product
    degree = 2 * b.shape[0]
    return polynomials[-(degree + 1) :, 0]


def factor(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Factorises polynomials whose roots lie within the unit circle.

    Args:
        a: ``[degree + 1, polynomial]`` float64, highest power first, a_0 = 1, even degree.

    Returns:
        ``b, c``: ``[degree / 2, polynomial]``, the quadratics z^2 + b z + c in no given order.
    """
    if a.shape[0] == 3:  # a quadratic is its own factor
        return a[1:2].clone(), a[2:].clone()
    if a.shape[1] < FEWEST:
        return _by_eigenvalues(a)
    b, c = _coarse(a, *_starting_points(a))
    todo = _iterate(a, b, c)
    if len(todo) >= FEWEST:
        part = a[:, todo]
        start_b, start_c = _on_circle(a, 0, *AGAIN)
        part_b, part_c = _coarse(part, start_b.expand(-1, len(todo)), start_c.expand(-1, len(todo)))
        left = _iterate(part, part_b, part_c)
        b[:, todo], c[:, todo] = part_b, part_c
        todo = todo[left]
    if len(todo):
        b[:, todo], c[:, todo] = _by_eigenvalues(a[:, todo])
    return b, c


def _starting_points(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Conjugate pairs spread over a circle, one factor being real where it has to be.

    The product of all c is a_2m. Where that is negative some factor has c < 0, that is two real
    roots of opposite sign, which no conjugate pair turns into easily.
    """
    negative = a[-1] < 0
    (b0, c0), (b1, c1) = (_on_circle(a, real, RADIUS, LOWEST) for real in (0, 1))
    return torch.where(negative, b1, b0), torch.where(negative, c1, c0)


def _on_circle(
    a: torch.Tensor, real: int, radius: float, lowest: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """``[factor, 1]``: evenly spread pairs, and ``real`` factors of two opposite real roots."""
    pairs = (a.shape[0] - 1) // 2 - real
    index = torch.arange(pairs, dtype=a.dtype, device=a.device)
    b = -2.0 * radius * torch.cos(math.pi * (index + lowest) / pairs)
    c = torch.full_like(b, radius**2)
    b, c = torch.cat([b, b.new_zeros(real)]), torch.cat([c, c.new_full((real,), -0.65)])
    return b[:, None], c[:, None]


def _coarse(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """First iterations, in single precision."""
    coarse = a.float()
    b, c = b.float(), c.float()
    for _ in range(COARSE_STEPS):
        b, c, _ = _step(coarse, b, c)
    return b.to(a.dtype), c.to(a.dtype)


def _iterate(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """Refines ``b`` and ``c`` in place; returns the columns that have not converged."""
    todo = torch.arange(a.shape[1], device=a.device)
    part_a, part_b, part_c = a, b, c
    for _ in range(STEPS):
        part_b, part_c, moved = _step(part_a, part_b, part_c)
        done = moved < TOLERANCE
        columns = todo[done]
        b[:, columns], c[:, columns] = part_b[:, done], part_c[:, done]
        left = ~done  # NaN is never done
        todo, part_a = todo[left], part_a[:, left]
        part_b, part_c = part_b[:, left], part_c[:, left]
        if len(todo) == 0:
            break
    return todo


def _step(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Next ``b`` and ``c``, and the size of the full step, ``[polynomial]``."""
    db, dc = _weierstrass(a, b, c)
    moved = torch.maximum(db.abs().amax(0), dc.abs().amax(0))
    shorten = (LONGEST_STEP / moved).clamp_max_(1.0)
    return b.addcmul(db, shorten), c.addcmul(dc, shorten), moved


def _weierstrass(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """One step for all factors: ``[factor, polynomial]`` each."""
    half = b.shape[0]
    minus_b, minus_c = -b, -c
    # P mod Q by division: d_i = a_i - b d_(i-1) - c d_(i-2)
    before, last = torch.ones_like(b), a[1] + minus_b
    # all views at once: one by one they cost as much as the arithmetic
    powers = a[:, None].expand(-1, half, -1).unbind(0)
    for coefficient in powers[2:-1]:
        step = torch.addcmul(coefficient, minus_b, last)
        before, last = last, step.addcmul_(minus_c, before)
    p1 = last
    p0 = torch.addcmul(powers[-1], minus_c, before)  # the b-terms of d_2m and b d cancel
    # product of the other factors mod Q_k, factor k + s for s = 1 .. m - 1
    first, constant = (torch.cat([x, x]).unfold(0, half, 1)[1:half].mT - x for x in (b, c))
    (u1, *firsts), (u0, *constants) = first.unbind(0), constant.unbind(0)
    for v1, v0 in zip(firsts, constants, strict=True):
        high = u1 * v1
        cross = (u1 * v0).addcmul_(u0, v1).addcmul_(minus_b, high)
        u0 = (u0 * v0).addcmul_(minus_c, high)
        u1 = cross
    # inverse of u1 z + u0 is (-u1 z + u0 - b u1) / norm
    conjugate0 = torch.addcmul(u0, minus_b, u1)
    norm = (u0 * conjugate0).addcmul_(c, u1 * u1)
    tiny = torch.finfo(norm.dtype).tiny
    norm = torch.where(norm.abs() < tiny, torch.full_like(norm, tiny), norm)
    high = -(p1 * u1)
    db = (p1 * conjugate0).addcmul_(p0, u1, value=-1.0).addcmul_(minus_b, high)
    dc = (p0 * conjugate0).addcmul_(minus_c, high)
    return db / norm, dc / norm


def _by_eigenvalues(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The same factors from the eigenvalues of the companion matrices."""
    degree, count = a.shape[0] - 1, a.shape[1]
    companion = a.new_zeros(count, degree, degree)
    companion[:, 0] = -a[1:].T
    companion[:, torch.arange(1, degree), torch.arange(degree - 1)] = 1.0
    roots = torch.linalg.eigvals(companion.cpu())
    # LAPACK's pairs are exact conjugates. In order: one of each pair, the real roots by size, the
    # other of each pair; so pairs come first, then real roots two by two.
    key = torch.where(roots.imag == 0, roots.real.clamp(-2.0, 2.0), -3.0 * roots.imag.sign())
    roots = roots.gather(1, key.argsort(dim=1)).T
    pairs = (roots.imag > 0).sum(0)
    k = torch.arange(degree // 2)[:, None]
    is_pair = k < pairs
    first = torch.where(is_pair, k, 2 * k - pairs)
    one = roots.gather(0, first)
    two = torch.where(is_pair, one.conj(), roots.gather(0, first + (~is_pair).long()))
    return -(one + two).real.to(a.device), (one * two).real.to(a.device)
