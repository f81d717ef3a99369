"""A convolution over straight lines between steps, computed at the rate of the steps.

Drawing lines and convolving are both linear: the kernel's taps, each of them a product of matrices,
are applied to the steps themselves, and the lines are drawn through what they give. As many samples
as there are on a line, so many times fewer products.
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
    """What a convolution without padding gives of a signal on straight lines between its steps.

    Args:
        signal: ``[batch, inputs, step]``.
        taps: ``[outputs * kernel, inputs]``, of :func:`arranged`.
        bias: ``[outputs]``.
        kernel: of the convolution.
        stride: samples from step to step.

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
    """A convolution's weight ``[outputs, inputs, kernel]`` to ``[outputs * kernel, inputs]``."""
    return weight.transpose(1, 2).flatten(0, 1)


def operations(kernel: int, stride: int) -> float:
    """Multiply-adds for a sample of one output: what drawing the lines takes."""
    return kernel * _shares(kernel, stride).shape[2]


@functools.cache
@torch.inference_mode(False)  # it is kept, and trainings use it too
def _shares(kernel: int, stride: int) -> torch.Tensor:
    """``[sample of a line, tap, step]``: the step's share of what the tap hears."""
    shares = torch.zeros(stride, kernel, (stride + kernel - 2) // stride + 2)
    for sample in range(stride):
        for tap in range(kernel):
            step, beyond = divmod(sample + tap, stride)
            shares[sample, tap, step] = 1.0 - beyond / stride
            shares[sample, tap, step + 1] += beyond / stride
    return shares
