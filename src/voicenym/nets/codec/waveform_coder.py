"""Waveform encoder and decoder of the codec, as in the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch.nn.functional import elu

from voicenym.nets.codec.residual_layers import Recurrent, Unit, Up
from voicenym.nets.streaming import Conv, Memory

EDGE = 7
"""Kernel of the first and last convolution."""


class SpeechEncoder(torch.nn.Module):
    """Encoder of Yao et al. (2024), section IV.B: convolution blocks, an LSTM, and a convolution.

    Args:
        channels: of the first convolution; every block doubles them.
        strides: of the blocks.
        size: elements of a frame.
        layers: of the LSTM.
        kernel, compress: of the residual units.
        causal: without look-ahead beyond the frame.
    """

    def __init__(
        self,
        channels: int,
        strides: Sequence[int],
        size: int,
        layers: int,
        kernel: int,
        compress: int,
        causal: bool,
    ) -> None:
        super().__init__()
        ahead = 0 if causal else None
        self.first = Conv(1, channels, EDGE, ahead=ahead)
        widths = [channels * 2**i for i in range(len(strides) + 1)]
        self.units = torch.nn.ModuleList([Unit(w, kernel, compress, causal) for w in widths[:-1]])
        self.down = torch.nn.ModuleList(
            [
                Conv(w, 2 * w, 2 * stride, ahead=ahead, stride=stride)
                for w, stride in zip(widths, strides, strict=False)
            ]
        )
        self.recurrent = Recurrent(widths[-1], layers)
        self.last = Conv(widths[-1], size, EDGE, ahead=ahead)
        self.hop = math.prod(strides)

    def forward(self, waveform: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """``[batch, frame * hop]`` to ``[batch, size, frame]``."""
        x = self.first(waveform[:, None], memory)
        for unit, down in zip(self.units, self.down, strict=True):
            x = down(elu(unit(x, memory)), memory)
        return self.last(elu(self.recurrent(x, memory)), memory)


class Decoder(torch.nn.Module):
    """Mirror image of the encoder: transposed convolutions, strides in reverse order.

    Args:
        channels, strides, size, layers, kernel, compress, causal: of the encoder.
    """

    def __init__(
        self,
        channels: int,
        strides: Sequence[int],
        size: int,
        layers: int,
        kernel: int,
        compress: int,
        causal: bool,
    ) -> None:
        super().__init__()
        ahead = 0 if causal else None
        widths = [channels * 2**i for i in range(len(strides), -1, -1)]
        self.first = Conv(size, widths[0], EDGE, ahead=ahead)
        self.recurrent = Recurrent(widths[0], layers)
        self.up = torch.nn.ModuleList(
            [
                Up(w, w // 2, stride, causal)
                for w, stride in zip(widths, reversed(strides), strict=False)
            ]
        )
        self.units = torch.nn.ModuleList([Unit(w, kernel, compress, causal) for w in widths[1:]])
        self.last = Conv(channels, 1, EDGE, ahead=ahead)

    def forward(self, frames: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """``[batch, size, frame]`` to ``[batch, frame * hop]``."""
        x = self.recurrent(self.first(frames, memory), memory)
        for up, unit in zip(self.up, self.units, strict=True):
            x = unit(up(elu(x), memory), memory)
        return self.last(elu(x), memory)[:, 0]
