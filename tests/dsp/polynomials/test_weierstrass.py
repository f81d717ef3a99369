from __future__ import annotations

import numpy as np
import pytest
import torch

from voicenym.dsp.polynomials import quadratic_factors
from voicenym.dsp.polynomials.weierstrass import Weierstrass


def factors(half: int, count: int, seed: int) -> torch.Tensor:
    """``[2, factor, polynomial]``: pairs and real factors with roots in the unit disc."""
    generator = torch.Generator().manual_seed(seed)
    b = 3.0 * torch.rand(half, count, generator=generator, dtype=torch.float64) - 1.5
    c = 0.3 + 0.6 * torch.rand(half, count, generator=generator, dtype=torch.float64)
    c[-1] *= -1.0
    return torch.stack([b, c])


@pytest.mark.parametrize("half", [2, 3, 4, 7, 10])
def test_the_correction_is_p_by_the_product_of_the_other_factors(half):
    """(step * product of the others) mod Q_k = P mod Q_k, by numpy's polynomials."""
    truth, guess = factors(half, 3, seed=half), factors(half, 3, seed=100 + half)
    a = quadratic_factors.multiply_out(*truth)
    step = Weierstrass(a, guess.clone(), 1.0).correction().numpy()
    quadratics = [[[1.0, *guess[:, k, n].tolist()] for k in range(half)] for n in range(3)]
    for n, own in enumerate(quadratics):
        for k, quadratic in enumerate(own):
            product = step[:, k, n]
            for j, other in enumerate(own):
                if j != k:
                    product = np.polydiv(np.polymul(product, other), quadratic)[1]
            remainder = np.polydiv(a[:, n].numpy(), quadratic)[1]
            np.testing.assert_allclose(product, remainder, rtol=1e-7, atol=1e-9)


def test_the_error_is_squared_in_every_step():
    truth = factors(5, 20, seed=1)
    a = quadratic_factors.multiply_out(*truth)
    near = truth + 1e-3 * torch.randn(truth.shape, generator=torch.Generator().manual_seed(2))
    iteration = Weierstrass(a, near, 1.0)
    moved = [iteration.step().median().item() for _ in range(3)]
    assert moved[0] < 0.01
    assert moved[1] < 0.05 * moved[0]
    assert moved[2] < 0.05 * moved[1]


def test_no_step_is_longer_than_allowed():
    guess = factors(5, 50, seed=3)
    iteration = Weierstrass(quadratic_factors.multiply_out(*factors(5, 50, seed=4)), guess, 0.1)
    before = guess.clone()
    full = iteration.step()
    assert (full > 0.1).any()
    assert (guess - before).abs().max() <= 0.1 + 1e-12


def test_steps_make_no_new_arrays_but_their_size():
    """All buffers are there before the first step: a step allocates the sizes of the steps only."""
    guess = factors(10, 64, seed=5)
    iteration = Weierstrass(quadratic_factors.multiply_out(*factors(10, 64, seed=6)), guess, 0.3)
    iteration.step()
    with torch.profiler.profile(profile_memory=True) as profile:
        iteration.step()
    made = sum(max(0, e.self_cpu_memory_usage) for e in profile.key_averages())
    assert made < 2 * guess.nbytes
