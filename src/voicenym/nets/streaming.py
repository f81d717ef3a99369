"""Exact streaming of convolutional networks: state of the layers between blocks.

A layer that looks ``left`` steps back and ``right`` steps ahead needs, for the outputs of a block,
the block and so many steps around it. :func:`extend` supplies them: zeros outside of a whole
signal, or, in a stream, earlier samples, with the outputs ``right`` steps late and zeros only at
the true ends. :func:`align` delays the other branch of a sum as much. A network whose layers use
context through these two alone gives the same samples in blocks of any size as for the whole, up to
rounding.
"""

from __future__ import annotations

from collections.abc import Hashable

import torch

FEW_STEPS = 32
"""Largest block of a stream, in outputs, for convolution as a matrix product,"""
FEW_WEIGHTS = 512
"""and the least number of weights per output for it."""


class Memory:
    """State of a network's layers between the blocks of one stream.

    Attributes:
        kept: state by layer (and by name, if a layer has several).
        last: true for the last block, which may be empty: all buffered samples are processed.
    """

    def __init__(self) -> None:
        self.kept: dict[Hashable, torch.Tensor] = {}
        self.last = False


def extend(
    signal: torch.Tensor,
    left: int,
    right: int,
    memory: Memory | None = None,
    place: Hashable = None,
    dim: int = -1,
) -> torch.Tensor:
    """Signal with ``left`` steps of context before and ``right`` steps after the outputs to
    compute.

    Args:
        signal: whole, or the next block of a stream.
        left, right: steps.
        memory: of the stream; None where the signal is whole.
        place: who asks, unique within the network.
        dim: of time.

    Returns:
        As ``signal``, ``left + right`` steps longer than the outputs. In a stream's first blocks it
        can be shorter: there is nothing to compute yet.
    """

    def zeros(steps: int) -> torch.Tensor:
        shape = list(signal.shape)
        shape[dim] = steps
        return signal.new_zeros(shape)

    if memory is None:
        return torch.cat([zeros(left), signal, zeros(right)], dim) if left + right else signal
    before = memory.kept.get(place)
    parts = [zeros(left) if before is None else before, signal]
    if memory.last:
        parts.append(zeros(right))
    window = torch.cat(parts, dim)
    length = window.shape[dim]
    keep = min(length, left + right)
    memory.kept[place] = window.narrow(dim, length - keep, keep)
    return window


def align(
    memory: Memory | None, place: Hashable, *signals: torch.Tensor, dim: int = -1
) -> tuple[torch.Tensor, ...]:
    """Branches of one signal, cut to the steps available in all of them; the rest is buffered.

    Args:
        memory: of the stream; None where the signals are whole, and then equally long.
        place: who asks, unique within the network.
        *signals: alike but for their steps.
        dim: of time.
    """
    if memory is None:
        return signals
    waiting = [memory.kept.get((place, "align", i)) for i in range(len(signals))]
    joined = [
        signal if before is None else torch.cat([before, signal], dim)
        for before, signal in zip(waiting, signals, strict=True)
    ]
    ready = min(signal.shape[dim] for signal in joined)
    for i, signal in enumerate(joined):
        rest = signal.shape[dim] - ready
        memory.kept[(place, "align", i)] = signal.narrow(dim, ready, rest)
    return tuple(signal.narrow(dim, 0, ready) for signal in joined)


class Conv(torch.nn.Conv1d):
    """Streaming convolution ``[batch, inputs, step]`` to ``[batch, outputs, step / stride]``.

    Zeros surround the signal; parameters are named as torch's own.

    Args:
        inputs, outputs: channels.
        kernel: in steps.
        dilation: in steps.
        ahead: steps that an output looks ahead; None for the middle of the kernel.
        stride: steps from output to output; a stream may come in blocks of any length.
        groups, bias: as torch's.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int,
        dilation: int = 1,
        ahead: int | None = None,
        stride: int = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__(
            inputs, outputs, kernel, stride=stride, dilation=dilation, groups=groups, bias=bias
        )
        reach = dilation * (kernel - 1) + 1 - stride
        self.ahead = reach // 2 if ahead is None else ahead
        self.behind = reach - self.ahead

    def forward(self, signal: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        weight, bias = self.weight, self.bias
        stride, dilation, groups = self.stride, self.dilation, self.groups
        if memory is None and self.behind == self.ahead:
            return torch.conv1d(signal, weight, bias, stride, self.ahead, dilation, groups)
        if memory is None or stride[0] == 1:
            window = extend(signal, self.behind, self.ahead, memory, self)
        else:
            window = self._in_step(signal, memory)
        if window.shape[-1] < self.behind + self.ahead + stride[0]:
            return signal.new_zeros(signal.shape[0], self.out_channels, 0)
        if memory is not None and groups == dilation[0] == 1:
            return convolved(window, weight, bias, stride[0])
        return torch.conv1d(window, weight, bias, stride, 0, dilation, groups)

    def _in_step(self, signal: torch.Tensor, memory: Memory) -> torch.Tensor:
        """What the outputs of a block are computed from, which begin where the last ones ended."""
        (stride,) = self.stride
        before = memory.kept.get(self)
        if before is None:
            before = signal.new_zeros(*signal.shape[:-1], self.behind)
        after = signal.new_zeros(*signal.shape[:-1], self.ahead if memory.last else 0)
        window = torch.cat([before, signal, after], -1)
        outputs = max(0, (window.shape[-1] - self.behind - self.ahead) // stride)
        memory.kept[self] = window[..., outputs * stride :]
        return window[..., : self.behind + self.ahead + outputs * stride]


def convolved(
    signal: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, stride: int = 1
) -> torch.Tensor:
    """Unpadded convolution, equal to torch's up to rounding; short blocks use one matrix product,
    because torch rearranges all weights for every convolution.

    Args:
        signal: ``[batch, inputs, step]``.
        weight: ``[outputs, inputs, kernel]``.
        bias: ``[outputs]``.
        stride: from output to output.

    Returns:
        ``[batch, outputs, (step - kernel) // stride + 1]``.
    """
    kernel = weight.shape[2]
    few = len(signal) * ((signal.shape[2] - kernel) // stride + 1) <= FEW_STEPS
    if not few or weight[0].numel() < FEW_WEIGHTS or signal.device.type != "cpu":
        return torch.conv1d(signal, weight, bias, stride)
    frames = signal.unfold(2, kernel, stride).transpose(1, 2).flatten(2)
    return torch.nn.functional.linear(frames, weight.flatten(1), bias).transpose(1, 2)


class Upsample(torch.nn.ConvTranspose1d):
    """Streaming transposed convolution ``[batch, inputs, step]`` to ``[batch, outputs, step *
    factor]``.

    Args:
        inputs, outputs: channels.
        kernel: in steps of the output, ``factor`` plus an even number.
        factor: steps of the output for one of the input.

    Raises:
        ValueError: if the kernel does not lie evenly around a step.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, factor: int) -> None:
        if kernel < factor or (kernel - factor) % 2:
            raise ValueError(
                f"a kernel of {kernel} cannot upsample by {factor} in exact length: "
                f"choose {factor} plus an even number, such as {2 * factor + factor % 2}"
            )
        self.cut = (kernel - factor) // 2
        super().__init__(inputs, outputs, kernel, stride=factor, padding=self.cut)
        self.factor = factor
        self.side = -(-self.cut // factor)

    def forward(self, signal: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:  # type: ignore[override]
        if memory is None:
            return super().forward(signal)
        side, factor = self.side, self.factor
        window = extend(signal, side, side, memory, self)
        ready = window.shape[-1] - 2 * side
        if ready <= 0:
            return signal.new_zeros(signal.shape[0], self.out_channels, 0)
        whole = torch.conv_transpose1d(window, self.weight, self.bias, factor)
        return whole.narrow(-1, side * factor + self.cut, ready * factor)


class Interpolate(torch.nn.Conv1d):
    """Streaming map of channels and linear interpolation ``[batch, inputs, step]`` to ``[batch,
    outputs, step * factor]``.

    Unlike a transposed convolution it cannot make a pattern that repeats with each step of its
    input, which is heard as a tone (Pons et al., "Upsampling artifacts in neural audio synthesis",
    ICASSP 2021).

    Args:
        inputs, outputs: channels.
        factor: steps of the output for one of the input.
    """

    def __init__(self, inputs: int, outputs: int, factor: int) -> None:
        super().__init__(inputs, outputs, 1)
        self.factor = factor

    def forward(self, signal: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        window = extend(signal, 1, 1, memory, self)
        ready = window.shape[-1] - 2
        if ready <= 0:
            return signal.new_zeros(signal.shape[0], self.out_channels, 0)
        fine = torch.nn.functional.interpolate(
            super().forward(window), scale_factor=self.factor, mode="linear", align_corners=False
        )
        return fine.narrow(-1, self.factor, ready * self.factor)
