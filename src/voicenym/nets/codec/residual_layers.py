"""Layers of the waveform codec: residual units, LSTM, transposed convolutions; offline or
streaming.

The layout is that of SEANet and EnCodec (Tagliasacchi et al. 2020, Défossez et al. 2022), which
Yao et al. (2024) describe in section IV.B.
"""

from __future__ import annotations

import torch
from torch.nn.functional import elu

from voicenym.nets.streaming import Conv, Memory, extend

FEW_STEPS = 10
"""Largest block of a stream, in steps, for the explicit LSTM cell."""
FEW_FRAMES = 32
"""Largest block of a stream, in frames, for transposed convolution as a matrix product."""


class Unit(torch.nn.Module):
    """Residual unit of two convolutions with a skip connection.

    Args:
        channels: in and out.
        kernel: of both.
        compress: factor by which the channels between are fewer.
        causal: without look-ahead.
    """

    def __init__(self, channels: int, kernel: int, compress: int, causal: bool) -> None:
        super().__init__()
        inner = max(1, channels // compress)
        ahead = 0 if causal else None
        self.first = Conv(channels, inner, kernel, ahead=ahead)
        self.second = Conv(inner, channels, kernel, ahead=ahead)

    def forward(self, x: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """``[batch, channel, step]`` to the same shape."""
        return x + self.second(elu(self.first(elu(x), memory)), memory)


class Recurrent(torch.nn.Module):
    """Residual LSTM, forward in time.

    Args:
        width: channels.
        layers: of the LSTM; 0 for the identity.
    """

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.lstm: torch.nn.LSTM | None = None
        if layers:
            self.lstm = torch.nn.LSTM(width, width, layers, batch_first=True)

    def forward(self, x: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """``[batch, width, step]`` to the same shape."""
        if self.lstm is None:
            return x
        state = None
        if memory is not None and (self, "h") in memory.kept:
            state = memory.kept[self, "h"], memory.kept[self, "c"]
        if memory is not None and x.device.type == "cpu" and x.shape[2] <= FEW_STEPS:
            y, (h, c) = self._few(x.permute(2, 0, 1), state)
        else:
            y, (h, c) = self.lstm(x.transpose(1, 2), state)
        if memory is not None:
            memory.kept[self, "h"], memory.kept[self, "c"] = h, c
        return x + y.transpose(1, 2)

    def _few(
        self, x: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor] | None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """Explicit LSTM cell for few steps ``[step, batch, width]``, equal up to rounding."""
        assert self.lstm is not None
        zeros = x.new_zeros(self.lstm.num_layers, x.shape[1], x.shape[2])
        kept: list[tuple[torch.Tensor, torch.Tensor]] = []
        for (inner, own, *biases), h, c in zip(
            self.lstm.all_weights, *(state or (zeros, zeros)), strict=True
        ):
            driven = torch.nn.functional.linear(x, inner, biases[0] + biases[1])
            steps = []
            for gates in driven:
                gates = torch.addmm(gates, h, own.T)
                enter, forget, new, leave = gates.chunk(4, 1)
                c = forget.sigmoid() * c + enter.sigmoid() * new.tanh()
                h = leave.sigmoid() * c.tanh()
                steps.append(h)
            x = torch.stack(steps)
            kept.append((h, c))
        last = torch.stack([h for h, _ in kept]), torch.stack([c for _, c in kept])
        return x.transpose(0, 1), last


class Up(torch.nn.ConvTranspose1d):
    """Transposed convolution with a kernel of twice its stride, in exact length.

    Args:
        inputs, outputs: channels.
        factor: steps of the output for one of the input.
        causal: an output depends on its own and the earlier step; else on the one before and the
            one after.
    """

    def __init__(self, inputs: int, outputs: int, factor: int, causal: bool) -> None:
        super().__init__(inputs, outputs, 2 * factor, stride=factor)
        self.factor = factor
        self.cut = 0 if causal else factor // 2

    def forward(self, x: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:  # type: ignore[override]
        """``[batch, inputs, step]`` to ``[batch, outputs, step * factor]``."""
        ahead = 1 if self.cut else 0
        window = x if memory is None else extend(x, 1, ahead, memory, self)
        ready = window.shape[2] - (0 if memory is None else 1 + ahead)
        if ready <= 0:
            return x.new_zeros(x.shape[0], self.out_channels, 0)
        few = window.shape[0] * window.shape[2] <= FEW_FRAMES and window.device.type == "cpu"
        if memory is not None and few:
            whole = self._product(window)
        else:
            whole = torch.conv_transpose1d(window, self.weight, self.bias, self.factor)
        before = 0 if memory is None else self.factor
        return whole.narrow(2, before + self.cut, ready * self.factor)

    def _product(self, window: torch.Tensor) -> torch.Tensor:
        """Transposed convolution as a matrix product, equal up to rounding; see
        :func:`voicenym.nets.streaming.convolved`.
        """
        rows, _, steps = window.shape
        made = window.transpose(1, 2) @ self.weight.flatten(1)
        made = made.view(rows, steps, self.out_channels, 2, self.factor).transpose(1, 2)
        whole = made.new_zeros(rows, self.out_channels, steps + 1, self.factor)
        whole[:, :, :steps] += made[:, :, :, 0]
        whole[:, :, 1:] += made[:, :, :, 1]
        return whole.flatten(2) if self.bias is None else whole.flatten(2) + self.bias[:, None]
