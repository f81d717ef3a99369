"""Convolution of a linearly interpolated signal, computed at the rate before interpolation.

Interpolation and convolution are both linear: the taps of the kernel, each a matrix product, are
applied to the steps, and their outputs are interpolated. This divides the number of products by the
interpolation factor.
"""

from __future__ import annotations

import functools

import torch


def convolved(
    signal: torch.Tensor,
    taps: torch.Tensor,
    bias: torch.Tensor | None,
    kernel: int,
    stride: int,
) -> torch.Tensor:
    """Unpadded convolution of a linearly interpolated signal.

    Args:
        signal: ``[batch, inputs, step]``.
        taps: ``[outputs * kernel, inputs]``, of :func:`arranged`.
        bias: ``[outputs]``.
        kernel: of the convolution.
        stride: samples between steps.

    Returns:
        ``[batch, outputs, stride * (step - 1) + 2 - kernel]``; empty where that is not positive.
    """
    batch, _, steps = signal.shape
    outputs = len(taps) // kernel
    length = max(0, stride * (steps - 1) + 2 - kernel)
    if length == 0:
        return signal.new_zeros(batch, outputs, 0)
    # the last sample may be a step itself, which has no share of the next
    made = torch.matmul(taps, torch.nn.functional.pad(signal, (0, 1)))
    made = made.view(batch, outputs, kernel, steps + 1)
    if bias is not None:
        made[:, :, 0] += bias[:, None]  # a sample's shares of its steps are one in all
    lines = torch.nn.functional.conv1d(made.flatten(0, 1), _shares(kernel, stride).to(made))
    return lines.transpose(1, 2).reshape(batch, outputs, -1)[:, :, :length]


def arranged(weight: torch.Tensor) -> torch.Tensor:
    """Weight ``[outputs, inputs, kernel]`` rearranged to ``[outputs * kernel, inputs]``."""
    return weight.transpose(1, 2).flatten(0, 1)


def operations(kernel: int, stride: int) -> float:
    """Multiply-adds of the interpolation, per sample and output."""
    return kernel * _shares(kernel, stride).shape[2]


@functools.cache
@torch.inference_mode(False)  # it is kept, and trainings use it too
def _shares(kernel: int, stride: int) -> torch.Tensor:
    """Interpolation weights ``[sample of a line, tap, step]``."""
    shares = torch.zeros(stride, kernel, (stride + kernel - 2) // stride + 2)
    for sample in range(stride):
        for tap in range(kernel):
            step, beyond = divmod(sample + tap, stride)
            shares[sample, tap, step] = 1.0 - beyond / stride
            shares[sample, tap, step + 1] += beyond / stride
    return shares
