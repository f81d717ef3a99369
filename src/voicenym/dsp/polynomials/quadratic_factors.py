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

from voicenym.dsp.polynomials.weierstrass import Weierstrass

TOLERANCE = 1e-7
"""Largest last step of b and c; steps shrink quadratically, so the error is about its square."""
RADIUS = 0.9
"""Radius of the starting points: LP poles of speech lie between 0.7 and 1."""
LOWEST = 0.3
"""Angle of the lowest starting point as a share of the distance between neighbours: the lowest
pole of speech lies lower than the middle of its share of the circle."""
LONGEST_STEP = 0.3
"""Largest step of b and c; with longer ones more polynomials diverge."""
AGAIN = (0.8, 0.6)
"""Radius and lowest angle of a second attempt, from pairs alone; two in three of the remaining ones
converge.
"""
LONGEST_AGAIN = 0.6
"""Largest step of the second attempt."""
FEWEST = 32
"""Below this number an eigenvalue solver is faster, as in the short blocks of a live stream."""
FEWEST_AGAIN = 64
"""Below this number it is faster than a second attempt."""
COARSE_STEPS = 9
"""First iterations, in single precision at half the cost."""
STEPS = 2
"""Iterations of all polynomials after the coarse ones; most converge."""
MORE_STEPS = 5
"""Iterations of those that have not converged then."""


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
    factors = _coarse(a, *_starting_points(a), LONGEST_STEP)
    todo = _iterate(a, factors, LONGEST_STEP)
    if len(todo) >= FEWEST_AGAIN:
        part = a[:, todo]
        again = _coarse(part, *_on_circle(a, 0, *AGAIN), LONGEST_AGAIN)
        left = _iterate(part, again, LONGEST_AGAIN)
        factors[:, :, todo] = again
        todo = todo[left]
    b, c = factors.unbind(0)
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


def _coarse(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, longest: float) -> torch.Tensor:
    """First iterations, in single precision: ``[2, factor, polynomial]`` of b and c."""
    factors = torch.empty(2, b.shape[0], a.shape[1], dtype=torch.float32, device=a.device)
    factors[0], factors[1] = b, c
    iteration = Weierstrass(a.float(), factors, longest)
    for _ in range(COARSE_STEPS):
        iteration.step()
    return factors.to(a.dtype)


def _iterate(a: torch.Tensor, factors: torch.Tensor, longest: float) -> torch.Tensor:
    """Refines ``factors`` in place; returns the columns that have not converged."""
    iteration = Weierstrass(a, factors, longest)
    for _ in range(STEPS):
        moved = iteration.step()
    todo = _not_converged(moved)
    if len(todo):
        part = factors[:, :, todo]
        iteration = Weierstrass(a[:, todo], part, longest)
        for _ in range(MORE_STEPS):
            moved = iteration.step()
        factors[:, :, todo] = part
        todo = todo[_not_converged(moved)]
    return todo


def _not_converged(moved: torch.Tensor) -> torch.Tensor:
    return (~(moved < TOLERANCE)).nonzero()[:, 0]  # NaN is never done


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
