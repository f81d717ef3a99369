import pytest
import torch

from voicenym.dsp import complex_exponential
from voicenym.dsp.complex_exponential import exponential


def random(*shape, size=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return size * torch.randn(*shape, dtype=torch.complex64, generator=generator)


def assert_torchs(found, expected):
    """torch's bits, but for one in a thousand: processors and C libraries round differently."""
    torch.testing.assert_close(found, expected, rtol=5e-7, atol=0.0, equal_nan=True)
    found, expected = (torch.view_as_real(x).nan_to_num(7.0) for x in (found, expected))
    assert int((found != expected).sum()) <= found.numel() / 1000


@pytest.mark.parametrize("size", [0.1, 3.0, 40.0])
def test_exponentials_are_torchs(size):
    values = random(2, 200, 257, size=size)
    assert_torchs(exponential(values), values.exp())


def test_exponentials_of_few_and_of_large_numbers_are_torchs():
    few = random(2, 5)
    assert_torchs(exponential(few), few.exp())
    large = random(200, 257, size=100.0)
    large[0, 0] = complex(float("nan"), 0.0)
    assert_torchs(exponential(large), large.exp())


def test_slices_of_arrays_and_parts_of_the_size_computed_at_once():
    values = random(2, complex_exponential.AT_ONCE + 1)[:, ::2]
    assert_torchs(exponential(values), values.exp())


def test_gradients_pass_and_are_finite():
    values = random(100, 100).requires_grad_()
    exponential(values).real.sum().backward()
    assert values.grad is not None
    assert bool(torch.isfinite(torch.view_as_real(values.grad)).all())
