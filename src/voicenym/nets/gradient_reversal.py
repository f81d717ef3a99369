"""Gradient reversal layer for domain-adversarial training.

Ganin and Lempitsky, "Unsupervised Domain Adaptation by Backpropagation" (ICML 2015): R(x) = x,
dR/dx = -weight I.
"""

from __future__ import annotations

from typing import Any

import torch


class _Reversed(torch.autograd.Function):
    """Identity in the forward pass; negated, scaled gradient in the backward pass."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: float) -> torch.Tensor:
        ctx.weight = weight
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return -ctx.weight * gradients[0], None


def reversed_gradient(x: torch.Tensor, weight: float) -> torch.Tensor:
    """``x`` of any shape, unchanged; its gradient is multiplied by ``-weight``."""
    found: torch.Tensor = _Reversed.apply(x, weight)
    return found
