"""Generator of HiFi-GAN: frames to a waveform, in the layout of the published checkpoints.

Kong, Kim, Bae, "HiFi-GAN: generative adversarial networks for efficient and high fidelity speech
synthesis", NeurIPS 2020, sizes V1 to V3. Every layer looks a bounded way ahead, so the network
streams as it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import leaky_relu

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import fill
from voicenym.nets.streaming import Conv, Interpolate, Memory, Upsample, align
from voicenym.nets.weights.weight_norm import normalize_weights, plain

SLOPE = 0.1
LAST_SLOPE = 0.01
"""Slope of the last rectifier: torch's default, as in the published generator."""
INTERPOLATED = 0.1
"""Deviation of the initial weights before an interpolation, which are one to a channel."""
RATES = {160: (5, 4, 2, 2, 2), 256: (8, 8, 2, 2), 320: (5, 4, 4, 2, 2)}
"""Upsampling by hop: of SSL-SAS, of HiFi-GAN, of speech resynthesis."""
SHORT_RATES = {160: (8, 5, 4), 256: (8, 8, 4), 320: (8, 8, 5)}
"""For the three stages of V3; the one for a hop of 256 is the paper's."""


@dataclass(frozen=True)
class GeneratorSize:
    """Sizes of a generator; the defaults are V1's.

    Args:
        rates: of upsampling, stage by stage.
        kernels: of upsampling; empty for twice the rate, made odd with it.
        channels: after the first convolution; each stage halves them.
        two_convolutions: residual blocks of the first type (pairs) or of the second (single).
        block_kernels: of the residual blocks that are averaged.
        block_dilations: for each of them.
        entrance: kernel of the first convolution, in frames.
        interpolated: whether stages upsample by linear interpolation instead of transposed
            convolutions, whose kernels are then of no account.
    """

    rates: tuple[int, ...] = (8, 8, 2, 2)
    kernels: tuple[int, ...] = ()
    channels: int = 512
    two_convolutions: bool = True
    block_kernels: tuple[int, ...] = (3, 7, 11)
    block_dilations: tuple[tuple[int, ...], ...] = ((1, 3, 5), (1, 3, 5), (1, 3, 5))
    entrance: int = 7
    interpolated: bool = False

    def __post_init__(self) -> None:
        kernels = self.kernels or tuple(2 * rate + rate % 2 for rate in self.rates)
        dilations = tuple(tuple(some) for some in self.block_dilations)
        object.__setattr__(self, "rates", tuple(self.rates))
        object.__setattr__(self, "kernels", tuple(kernels))
        object.__setattr__(self, "block_kernels", tuple(self.block_kernels))
        object.__setattr__(self, "block_dilations", dilations)

    @property
    def hop(self) -> int:
        return math.prod(self.rates)

    @classmethod
    def v1(cls, hop: int = 256) -> GeneratorSize:
        """V1: 13.9 million parameters for 80 mels.

        Raises:
            KeyError: if no rates are known for the hop; give them to the constructor.
        """
        return cls(RATES[hop])

    @classmethod
    def v2(cls, hop: int = 256) -> GeneratorSize:
        """V2: V1 with a quarter of the channels, 0.9 million parameters."""
        return cls(RATES[hop], channels=128)

    @classmethod
    def v3(cls, hop: int = 256) -> GeneratorSize:
        """V3: three stages, single convolutions, 1.5 million parameters."""
        return cls(
            SHORT_RATES[hop],
            channels=256,
            two_convolutions=False,
            block_kernels=(3, 5, 7),
            block_dilations=((1, 2), (2, 6), (3, 12)),
        )

    @classmethod
    def published(cls, config: Mapping[str, Any]) -> GeneratorSize:
        """Sizes from the ``config.json`` beside a published checkpoint.

        Raises:
            VoicenymError: if it describes no generator.
        """
        try:
            return cls(
                rates=tuple(config["upsample_rates"]),
                kernels=tuple(config["upsample_kernel_sizes"]),
                channels=int(config["upsample_initial_channel"]),
                two_convolutions=str(config["resblock"]) == "1",
                block_kernels=tuple(config["resblock_kernel_sizes"]),
                block_dilations=tuple(tuple(d) for d in config["resblock_dilation_sizes"]),
            )
        except KeyError as error:
            raise VoicenymError(
                f"the configuration has no {error}: give the config.json that was published with "
                "the HiFi-GAN checkpoint"
            ) from None


class ResidualBlock(torch.nn.Module):
    """Residual block of dilated convolutions, single or in pairs.

    Names of parameters are the published ones: ``convs1``, ``convs2`` for pairs, ``convs`` else.
    """

    def __init__(self, channels: int, kernel: int, dilations: tuple[int, ...], pairs: bool) -> None:
        super().__init__()
        dilated = torch.nn.ModuleList(Conv(channels, channels, kernel, d) for d in dilations)
        self.pairs = pairs
        if pairs:
            self.convs1 = dilated
            self.convs2 = torch.nn.ModuleList(Conv(channels, channels, kernel) for _ in dilations)
        else:
            self.convs = dilated

    def forward(self, x: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """``[batch, channel, step]`` to the same shape."""
        for i, conv in enumerate(self.convs1 if self.pairs else self.convs):
            y = conv(leaky_relu(x, SLOPE), memory)
            if self.pairs:
                y = self.convs2[i](leaky_relu(y, SLOPE), memory)
            x, y = align(memory, (self, i), x, y)
            x = x + y
        return x


class Generator(torch.nn.Module):
    """HiFi-GAN generator: frames ``[batch, inputs, frame]`` to a waveform ``[batch, frame * hop]``.

    Args:
        inputs: channels: 80 for the published mel vocoders.
        size: the shape.
        weight_norm: weights as direction and length, for training; see
            :mod:`voicenym.nets.weights.weight_norm`.
    """

    def __init__(self, inputs: int, size: GeneratorSize, weight_norm: bool = False) -> None:
        super().__init__()
        self.size = size
        self.conv_pre = Conv(inputs, size.channels, size.entrance)
        self.ups = torch.nn.ModuleList()
        self.resblocks = torch.nn.ModuleList()
        channels = size.channels
        for rate, kernel in zip(size.rates, size.kernels, strict=True):
            self.ups.append(
                Interpolate(channels, channels // 2, rate)
                if size.interpolated
                else Upsample(channels, channels // 2, kernel, rate)
            )
            channels //= 2
            for of_block, dilations in zip(size.block_kernels, size.block_dilations, strict=True):
                self.resblocks.append(
                    ResidualBlock(channels, of_block, dilations, size.two_convolutions)
                )
        self.conv_post = Conv(channels, 1, 7)
        for part in (*self.ups.modules(), *self.resblocks.modules(), self.conv_post):
            if isinstance(part, (torch.nn.Conv1d, torch.nn.ConvTranspose1d)):
                deviation = INTERPOLATED if isinstance(part, Interpolate) else 0.01
                torch.nn.init.normal_(part.weight, 0.0, deviation)
        if weight_norm:
            normalize_weights(self)

    def forward(self, frames: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        x = self.conv_pre(frames, memory)
        for i in range(len(self.ups)):
            x = self.stage(i, x, memory)
        return self.finish(x, memory)

    def stage(self, i: int, x: torch.Tensor, memory: Memory | None) -> torch.Tensor:
        """Upsampling stage ``i`` with the mean of its residual blocks."""
        return self.refine(i, self.ups[i](leaky_relu(x, SLOPE), memory), memory)

    def refine(self, i: int, x: torch.Tensor, memory: Memory | None) -> torch.Tensor:
        """Mean of the residual blocks of stage ``i``."""
        count = len(self.size.block_kernels)
        blocks = self.resblocks[i * count : (i + 1) * count]
        parts = align(memory, (self, i), *(block(x, memory) for block in blocks))
        return sum(parts[1:], parts[0]) / count

    def finish(self, x: torch.Tensor, memory: Memory | None) -> torch.Tensor:
        """Output convolution, ``[batch, channel, time]`` to ``[batch, time]`` within [-1, 1]."""
        return torch.tanh(self.conv_post(leaky_relu(x, LAST_SLOPE), memory))[:, 0]

    @classmethod
    def from_published(
        cls, state: Mapping[str, torch.Tensor], config: Mapping[str, Any], source: Path | str
    ) -> Generator:
        """Generator with published weights, with or without weight norm.

        Args:
            state: tensors by their published names.
            config: read from the ``config.json`` beside the checkpoint.
            source: of the weights, for errors.

        Raises:
            VoicenymError: the weights are of another network than the configuration says.
        """
        state = plain(dict(state))
        if "conv_pre.weight" not in state:
            raise VoicenymError(f"{source}: no HiFi-GAN generator in it (no conv_pre)")
        generator = cls(state["conv_pre.weight"].shape[1], GeneratorSize.published(config))
        fill(generator, state, f"{source}, after its config.json")
        return generator.eval()
