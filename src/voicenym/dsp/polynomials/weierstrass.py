"""Weierstrass' iteration for the quadratic factors of many real polynomials at once.

A step costs about as much in the calls of its operations as in their arithmetic. So all buffers and
their views are made once for all steps, and the operations are few and large: P mod Q_k is computed
in z^2, for the even and the odd powers side by side, and the product of the other factors by
halves.
"""

from __future__ import annotations

import torch


class Weierstrass:
    """Refines factors z^2 + b z + c of polynomials in place, all of them a step at a time.

    Args:
        a: ``[degree + 1, polynomial]``, highest power first, a_0 = 1, even degree of 4 or more.
        factors: ``[2, degree / 2, polynomial]``, b and c, of the same type; changed by
            :meth:`step`.
        longest: largest step of b and c; without a limit the iteration can diverge far from the
            solution.
    """

    def __init__(self, a: torch.Tensor, factors: torch.Tensor, longest: float) -> None:
        half, count = factors.shape[1:]

        def empty(*shape: int) -> torch.Tensor:
            return factors.new_empty(*shape, count)

        self._factors, self._longest = factors, longest
        self._b, self._c = factors.unbind(0)
        self._minus = empty(2, half)
        self._minus_b, self._minus_c = self._minus.unbind(0)
        self._each_minus, self._each_factor = self._minus[:, None], factors[:, None]
        # the coefficients of z^(2m - 2i + 1) and z^(2m - 2i) for i = 0 .. m
        highest = a.new_zeros(2, 1, 1)
        highest[1] = 1.0
        self._powers = [highest, *a[1:].unflatten(0, (half, 2))[:, :, None].unbind(0)]
        self._square_b, self._square_c = empty(half), empty(half)
        self._division = [empty(2, half) for _ in range(3)]
        self._product = empty(2, 2, half)  # [coefficient, odd or even powers, factor]
        self._constants = self._product[1]
        odd, self._remainder = self._product.unbind(1)
        self._odd, self._odd_constants = odd.unbind(0)
        self._linear = self._remainder[0]
        # Q_(k + s) - Q_k for s = 1 .. m - 1
        self._twice = empty(2, 2 * half)
        self._copies = self._twice.split(half, 1)
        self._others = self._twice.as_strided(
            (2, half - 1, half, count), (2 * half * count, count, count, 1), count
        )
        self._differences = empty(2, half - 1, half)
        self._halvings: list[tuple[torch.Tensor, ...]] = []
        self._plan_products()
        self._conjugate, self._norm = empty(half), empty(half)
        self._scaled, self._step = empty(2, half), empty(2, half)
        self._scaled_1, self._scaled_0 = self._scaled.unbind(0)
        self._step_b, self._steps = self._step[0], self._step.flatten(0, 1)

    def step(self) -> torch.Tensor:
        """Changes the factors; returns the size of the full step, ``[polynomial]``."""
        step = self.correction()
        moved = self._steps.abs().amax(0)
        self._factors.addcmul_(step, (self._longest / moved).clamp_max_(1.0))
        return moved

    def correction(self) -> torch.Tensor:
        """Full step of b and c, ``[2, factor, polynomial]``, valid until the next call."""
        torch.neg(self._factors, out=self._minus)
        remainder = self._divide()
        self._multiply()
        # The inverse of u1 z + u0 is (-u1 z + u0 - b u1) / norm.
        u1, u0 = self._u
        torch.addcmul(u0, self._minus_b, u1, out=self._conjugate)
        torch.mul(u1, u1, out=self._norm).mul_(self._c).addcmul_(u0, self._conjugate)
        torch.mul(remainder, u1, out=self._scaled)
        torch.mul(remainder, self._conjugate, out=self._step)
        self._step.addcmul_(self._minus, self._scaled_1, value=-1.0)
        self._step_b.sub_(self._scaled_0)
        return self._step.div_(self._norm)

    def _divide(self) -> torch.Tensor:
        """P mod Q_k, coefficients of z and 1: ``[2, factor, polynomial]``."""
        # z^2 of a root solves w^2 + (2 c - b^2) w + c^2 = 0. The even and the odd powers of P are
        # divided by this: d_i = a_i + (b^2 - 2 c) d_(i-1) - c^2 d_(i-2).
        square_b = torch.mul(self._b, self._b, out=self._square_b).sub_(self._c, alpha=2.0)
        square_c = torch.mul(self._c, self._minus_c, out=self._square_c)
        one, two, three = self._division
        before = self._powers[0]
        last = torch.addcmul(self._powers[1], square_b, before, out=one)
        for coefficients in self._powers[2:-1]:
            step = torch.addcmul(coefficients, square_b, last, out=two).addcmul_(square_c, before)
            before, last, one, two, three = last, step, two, three, one
        constant = torch.addcmul(self._powers[-1], square_c, before, out=two)
        # d w + e = -b d z + e - c d, and the odd powers once more by z
        torch.mul(self._each_minus, last, out=self._product)
        self._constants.add_(constant)
        self._remainder.addcmul_(self._minus, self._odd)
        self._linear.add_(self._odd_constants)
        return self._remainder

    def _plan_products(self) -> None:
        """Views of the products of the differences mod Q_k, two by two."""
        factors, rest = self._differences, []

        def product(u: torch.Tensor, v: torch.Tensor, minus: torch.Tensor) -> torch.Tensor:
            every = v.new_empty(2, *v.shape)  # [of u, of v, ...]
            views = (every, every[0, 1], every[1, 0], every[0, 0], every[:, 1])
            self._halvings.append((u[:, None], v, minus, *views))
            return every[:, 1]

        while factors.shape[1] > 1:
            whole, left = divmod(factors.shape[1], 2)
            if left:
                rest.append(factors[:, -1])
            first, second = factors[:, :whole], factors[:, whole : 2 * whole]
            factors = product(first, second, self._each_minus)
        whole_product = factors[:, 0]
        for factor in rest:
            whole_product = product(whole_product, factor, self._minus)
        self._u = whole_product.unbind(0)

    def _multiply(self) -> None:
        """Product of the other factors mod Q_k."""
        for copy in self._copies:
            copy.copy_(self._factors)
        torch.sub(self._others, self._each_factor, out=self._differences)
        for u, v, minus, every, cross, other, high, product in self._halvings:
            torch.mul(u, v, out=every)
            cross.add_(other)
            product.addcmul_(minus, high)
