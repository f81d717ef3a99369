from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from voicenym.dsp.envelopes import lpc
from voicenym.dsp.polynomials import quadratic_factors


def polynomials(count: int, pairs: int, reals: int, seed: int) -> torch.Tensor:
    """Real polynomials with known numbers of conjugate pairs and real roots, in the unit disc."""
    rng = np.random.default_rng(seed)
    columns = []
    for _ in range(count):
        upper = rng.uniform(0.3, 0.99, pairs) * np.exp(1j * np.pi * rng.uniform(0.02, 0.98, pairs))
        real = rng.uniform(-0.95, 0.95, reals)
        columns.append(np.real(np.poly(np.concatenate([upper, upper.conj(), real]))))
    return torch.from_numpy(np.stack(columns, axis=1))


@settings(max_examples=25, deadline=None)
@given(real_pairs=st.integers(0, 4), count=st.integers(1, 40), seed=st.integers(0, 10**6))
def test_factors_multiply_out_to_the_polynomial(real_pairs, count, seed):
    a = polynomials(count, 10 - real_pairs, 2 * real_pairs, seed)
    b, c = quadratic_factors.factor(a)
    torch.testing.assert_close(quadratic_factors.multiply_out(b, c), a, atol=1e-6, rtol=0)


def test_roots_are_those_of_an_eigenvalue_solver():
    a = polynomials(50, 9, 2, seed=7)
    b, c = quadratic_factors.factor(a)
    for column in range(a.shape[1]):
        ours = np.concatenate(
            [np.roots([1, b[k, column].item(), c[k, column].item()]) for k in range(10)]
        )
        theirs = np.roots(a[:, column].numpy())
        distance = np.abs(ours[:, None] - theirs[None]).min(axis=1)
        assert distance.max() < 1e-5


def test_a_quadratic_is_its_own_factor():
    rng = np.random.default_rng(3)
    b, c = torch.tensor(rng.uniform(-0.9, 0.9, (2, 1, 50)))
    for count in (5, 50):
        found_b, found_c = quadratic_factors.factor(quadratic_factors.multiply_out(b, c)[:, :count])
        assert torch.allclose(found_b, b[:, :count])
        assert torch.allclose(found_c, c[:, :count])


def test_the_fallback_gives_the_same_polynomial():
    a = polynomials(8, 8, 4, seed=3)
    torch.testing.assert_close(
        quadratic_factors.multiply_out(*quadratic_factors._by_eigenvalues(a)), a
    )


def predictors(count: int) -> torch.Tensor:
    """Linear predictors of noise with formants."""
    generator = torch.Generator().manual_seed(11)
    window = torch.hann_window(320, dtype=torch.float64)[:, None].sqrt()
    noise = torch.randn(320, count, generator=generator, dtype=torch.float64)
    frames = lpc.synthesize(noise, polynomials(count, 4, 2, seed=11)) * window
    return lpc.levinson(lpc.autocorrelation(frames, 20))[0]


def test_few_linear_predictors_are_left_and_fewer_still_after_a_second_try(monkeypatch):
    a = predictors(2000)
    left = []
    iterate = quadratic_factors._iterate

    def counting(*arguments):
        todo = iterate(*arguments)
        left.append(len(todo))
        return todo

    monkeypatch.setattr(quadratic_factors, "_iterate", counting)
    torch.testing.assert_close(
        quadratic_factors.multiply_out(*quadratic_factors.factor(a)), a, atol=1e-10, rtol=0
    )
    assert left[0] < 0.2 * a.shape[1]
    assert left[1] < 0.5 * left[0]


def test_factors_of_a_polynomial_do_not_depend_on_its_company():
    a = predictors(300)
    together = torch.stack(quadratic_factors.factor(a))
    for column in (0, 7, 150, 299):
        alone = torch.stack(quadratic_factors.factor(a[:, column : column + 1]))
        one, two = (x[:, x[0].argsort()] for x in (alone[..., 0], together[..., column]))
        torch.testing.assert_close(one, two, atol=1e-7, rtol=0)


@pytest.mark.parametrize("half", [1, 2, 3, 7, 10])
def test_multiply_out_agrees_with_numpy(half):
    rng = np.random.default_rng(half)
    b, c = rng.uniform(-1, 1, (half, 3)), rng.uniform(-0.9, 0.9, (half, 3))
    out = quadratic_factors.multiply_out(torch.from_numpy(b), torch.from_numpy(c))
    for column in range(3):
        expected = np.array([1.0])
        for k in range(half):
            expected = np.convolve(expected, [1.0, b[k, column], c[k, column]])
        np.testing.assert_allclose(out[:, column].numpy(), expected, atol=1e-12)
