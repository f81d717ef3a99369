"""The reversed gradient: forward nothing changes, backward the sign does."""

import torch

from voicenym.nets.gradient_reversal import reversed_gradient


def test_a_gradient_comes_back_reversed_and_scaled():
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    y = reversed_gradient(x, 0.25)
    assert torch.equal(y, x)
    (y * torch.tensor([3.0, 4.0])).sum().backward()
    assert torch.equal(x.grad, torch.tensor([-0.75, -1.0]))


def test_reversed_twice_is_scaled_by_both():
    x = torch.randn(2, 3, requires_grad=True)
    reversed_gradient(reversed_gradient(x, 0.5), 3.0).sum().backward()
    torch.testing.assert_close(x.grad, torch.full((2, 3), 1.5))


def test_what_is_before_it_learns_to_spoil_what_is_after_it():
    code = torch.tensor([0.3, -0.8], requires_grad=True)
    given = torch.nn.Linear(2, 1)

    def loss(x: torch.Tensor) -> torch.Tensor:
        return (given(x) - 1.0).square().sum()

    before = loss(reversed_gradient(code, 1.0))
    before.backward()
    with torch.no_grad():
        assert loss(code - 0.01 * code.grad) > before
        for parameter in given.parameters():
            parameter -= 0.01 * parameter.grad
        assert loss(code) < before
