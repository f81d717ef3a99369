"""Integer weights: matrices as integers of few bits, times a step for each row."""

from __future__ import annotations

from collections.abc import Mapping

import torch

STEP = ".step"
"""Suffix of a quantised tensor's steps."""


def quantised(state: Mapping[str, torch.Tensor], bits: int) -> dict[str, torch.Tensor]:
    """Matrices as integers of 8 bits or fewer, times a step for each row; vectors as they are.

    Args:
        state: tensors by name.
        bits: of an integer, 2 to 8. Few of them make an archive, such as a wheel, smaller.
    """
    found: dict[str, torch.Tensor] = {}
    for name, value in state.items():
        if value.ndim < 2:
            found[name] = value
            continue
        largest = value.flatten(1).abs().amax(1).clamp_min(1e-6)
        # the step as it is stored, so that rounding it adds no error
        step = (largest / (2 ** (bits - 1) - 1)).half().float()
        rows = step.reshape(-1, *[1] * (value.ndim - 1))
        found[name] = torch.round(value / rows).clamp(-128, 127).to(torch.int8)
        found[name + STEP] = step
    return found


def dequantised(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Tensors of :func:`quantised` as floating-point numbers; others as they are."""
    found: dict[str, torch.Tensor] = {}
    for name, value in state.items():
        if value.dtype == torch.int8 and name + STEP in state:
            steps = state[name + STEP]
            found[name] = value.float() * steps.reshape(-1, *[1] * (value.ndim - 1))
        elif not name.endswith(STEP):
            found[name] = value
    return found
