"""Streaming state of the Wave-U-Net: cached layer inputs, so that each value is computed once."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import torch

from voicenym.nets.cloak.convolutions import Folded, Layer, Lifted
from voicenym.nets.cloak.geometry import WaveUNetConfig


class Flow:
    """Cached inputs of the layers of a stream; a whole signal is a stream of one block.

    Args:
        config: of the network.
        keeping: False if no further block follows.
        dtype: of the computation; other types than float32 are for streams.
    """

    def __init__(
        self, config: WaveUNetConfig, keeping: bool = True, dtype: torch.dtype = torch.float32
    ) -> None:
        self.dtype = dtype
        self._config = config
        self._keeping = keeping
        self._before: dict[Any, torch.Tensor] = {}
        self._waiting: dict[Any, torch.Tensor] = {}
        self._layers: dict[Any, Folded] = {}
        self._given: dict[Any, int] = {}
        self._skip: dict[Any, int] = defaultdict(int)
        for i in range(config.blocks):
            # a shortcut is wider than what it meets: by what the levels below it lose
            inner = (config.kernel - 1) // 2 * config.stride ** (config.blocks - i)
            inner += (config.kernel - 1) * sum(
                2 * config.stride**j for j in range(1, config.blocks - i)
            )
            self._skip[i] = inner + (config.kernel - 1)  # the second one down, the first one up
        self._skip["input"] = config.side

    @classmethod
    def whole(cls, config: WaveUNetConfig) -> Flow:
        """State for a signal in one block."""
        return cls(config, keeping=False)

    def filtered(
        self, place: Any, signal: torch.Tensor, layer: Layer, stride: int = 1
    ) -> torch.Tensor:
        """Applies a layer to cached and new samples, with ``stride``."""
        signal = self._joined(place, signal)
        kernel = self._config.kernel
        steps = max(0, (signal.shape[2] - kernel) // stride + 1)
        self._keep(place, signal, steps * stride)
        if steps == 0:
            return signal.new_zeros(signal.shape[0], layer.conv.out_channels, 0)
        return layer(signal, stride, self._folded(place, layer))

    def lifted(self, place: Any, signal: torch.Tensor, layer: Lifted) -> torch.Tensor:
        """Applies a layer over interpolated steps, cached and new."""
        signal = self._joined(place, signal)
        stride, given = self._config.stride, self._given.get(place, 0)
        end = stride * (signal.shape[2] - 1) + 2 - self._config.kernel
        if end <= given:
            self._keep(place, signal, 0)
            return signal.new_zeros(signal.shape[0], layer.conv.out_channels, 0)
        self._keep(place, signal, end // stride)
        self._given[place] = end % stride
        return layer(signal, stride, self._folded(place, layer))[:, :, given:]

    def _joined(self, place: Any, signal: torch.Tensor) -> torch.Tensor:
        if place not in self._before:
            return signal
        skipped = min(self._skip[place], signal.shape[2])
        self._skip[place] -= skipped
        return torch.cat([self._before[place], signal[:, :, skipped:]], dim=2)

    def _keep(self, place: Any, signal: torch.Tensor, start: int) -> None:
        if self._keeping:
            self._before[place] = signal[:, :, start:]
            # where a stride is longer than a kernel, some later steps are used by none
            self._skip[place] += max(0, start - signal.shape[2])

    def _folded(self, place: Any, layer: Layer) -> Folded | None:
        if layer.training or not self._keeping:
            return None
        if place not in self._layers:
            weight, bias = layer.folded()
            self._layers[place] = weight.to(self.dtype), bias.to(self.dtype)
        return self._layers[place]

    def put(self, place: Any, signal: torch.Tensor) -> None:
        """Caches a skip connection."""
        skipped = min(self._skip[place], signal.shape[2])
        self._skip[place] -= skipped
        signal = signal[:, :, skipped:]
        if place in self._waiting:
            signal = torch.cat([self._waiting[place], signal], dim=2)
        self._waiting[place] = signal

    def take(self, place: Any, steps: int) -> torch.Tensor:
        """The next steps of a skip connection."""
        signal = self._waiting[place]
        self._waiting[place] = signal[:, :, steps:]
        return signal[:, :, :steps]
