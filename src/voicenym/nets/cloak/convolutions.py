"""Unpadded convolution layers of the Wave-U-Net, at full rate or over interpolated samples."""

from __future__ import annotations

import torch
from torch.nn import functional

from voicenym.nets.cloak import interpolated_convolution
from voicenym.nets.streaming import convolved

SLOPE = 0.2
"""Slope of the leaky rectifier below zero."""
Folded = tuple[torch.Tensor, torch.Tensor]
"""Weight and bias."""


class Layer(torch.nn.Module):
    """Unpadded convolution, batch normalisation, leaky rectifier."""

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(inputs, outputs, kernel, bias=False)
        self.norm = torch.nn.BatchNorm1d(outputs)

    def forward(
        self, signal: torch.Tensor, stride: int = 1, folded: Folded | None = None
    ) -> torch.Tensor:
        """``[batch, inputs, step]`` to ``[batch, outputs, (step - kernel) // stride + 1]``; of a
        :class:`Lifted` one, ``stride * (step - 1) + 2 - kernel`` outputs.

        Args:
            signal: at least as long as the kernel.
            stride: between outputs.
            folded: precomputed :meth:`folded`; for inference only.
        """
        if self.training:
            made = self.norm(
                self._convolved(signal, self._arranged(self.conv.weight), None, stride)
            )
        else:
            made = self._convolved(signal, *(folded or self.folded()), stride)
        return functional.leaky_relu(made, SLOPE, inplace=True)

    def folded(self) -> Folded:
        """Weight and bias of the convolution with the batch normalisation folded in."""
        norm = self.norm
        assert norm.running_mean is not None
        assert norm.running_var is not None
        scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
        weight = self._arranged(self.conv.weight * scale[:, None, None])
        return weight.contiguous(), norm.bias - norm.running_mean * scale

    def _arranged(self, weight: torch.Tensor) -> torch.Tensor:
        return weight

    def _convolved(
        self, signal: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, stride: int
    ) -> torch.Tensor:
        if self.training:
            return functional.conv1d(signal, weight, bias, stride)
        return convolved(signal, weight, bias, stride)


class Lifted(Layer):
    """Convolution layer over linearly interpolated steps; ``stride`` is the number of samples
    between steps.
    """

    def _arranged(self, weight: torch.Tensor) -> torch.Tensor:
        return interpolated_convolution.arranged(weight)

    def _convolved(
        self, signal: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, stride: int
    ) -> torch.Tensor:
        return interpolated_convolution.convolved(
            signal, weight, bias, self.conv.kernel_size[0], stride
        )
