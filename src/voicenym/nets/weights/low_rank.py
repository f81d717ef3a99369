"""Changes of a trained network's parameters, of low rank for matrices and whole for the rest.

Hu et al., "LoRA: low-rank adaptation of large language models", ICLR 2022: W' = W + U D, with U
zero at first. A convolution's kernel counts as a matrix of its outputs and all else.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import TypeVar

import torch

M = TypeVar("M", bound=torch.nn.Module)


class LowRankChanges(torch.nn.Module):
    """Trainable changes of parameters; none at first.

    Args:
        shapes: of the parameters by name.
        rank: of the changes of those that have more elements than such a change; others are
            changed whole.
    """

    def __init__(self, shapes: Mapping[str, torch.Size], rank: int) -> None:
        super().__init__()
        self.down, self.up, self.whole = (torch.nn.ParameterDict() for _ in range(3))
        self.names = tuple(shapes)
        for name, shape in shapes.items():
            rows, columns = shape[0], math.prod(shape[1:])
            if rank * (rows + columns) < rows * columns:
                down = torch.randn(rank, columns) / math.sqrt(columns)
                self.down[_key(name)] = torch.nn.Parameter(down)
                self.up[_key(name)] = torch.nn.Parameter(torch.zeros(rows, rank))
            else:
                self.whole[_key(name)] = torch.nn.Parameter(torch.zeros(shape))

    def forward(self, name: str, value: torch.Tensor) -> torch.Tensor:
        """A parameter's changed value."""
        key = _key(name)
        if key in self.whole:
            return value + self.whole[key]
        return value + (self.up[key] @ self.down[key]).view_as(value)

    def of(self, network: torch.nn.Module, within: str = "") -> dict[str, torch.Tensor]:
        """Changed values of a network's parameters, by their names in it.

        Args:
            network: that is changed, or a module of it.
            within: what its names begin with in the whole network.
        """
        return {
            name: self(within + name, value)
            for name, value in network.named_parameters()
            if within + name in self.names
        }

    @torch.no_grad()
    def changed(self, network: M) -> M:
        """A copy of a network with the changes, in evaluation mode."""
        made = copy.deepcopy(network).eval()
        for name, value in self.of(network).items():
            made.get_parameter(name).copy_(value)
        return made


def shapes(network: torch.nn.Module, within: str = "") -> dict[str, torch.Size]:
    """Shapes of a network's parameters, by their names with ``within`` before them."""
    return {within + name: value.shape for name, value in network.named_parameters()}


def _key(name: str) -> str:
    """A name that a parameter may have."""
    return name.replace(".", "/")
