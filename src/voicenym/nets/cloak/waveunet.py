"""Wave-U-Net with VP-Modulation and Throttle, the generator of V-Cloak.

Deng et al., "V-Cloak: intelligibility-, naturalness- & timbre-preserving real-time voice
anonymization", USENIX Security 2023, section 4.1 and figure 4, on the Wave-U-Net of Stoller, Ewert
and Dixon (ISMIR 2018): K downsampling and K upsampling blocks, each of two unpadded convolutions;
skip connections from the first convolution of a block to the second one of its counterpart. A
linear map of the target's voiceprint rescales the channels of every skip connection and of the last
downsampling block (VP-Modulation); a linear map of epsilon to K numbers weighs the skip connections
(Throttle). Without padding an output depends only on the samples around it: 41,641 samples give
32,089, and windows on a grid of ``stride ** K`` samples give the same output as the whole signal.
:class:`voicenym.nets.cloak.stream_state.Flow` computes each value once, block by block.

The paper does not specify the resampling and the normalisation. Here the resampling is Wave-U-Net's
own (decimation; linear interpolation), which needs no padding; the normalisation is batch
normalisation, which does not depend on the window in inference. Decimated steps are not computed,
and convolutions after interpolation are computed before it
(:mod:`voicenym.nets.cloak.interpolated_convolution`), which leaves four of seven multiply-adds.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from voicenym.nets.cloak.convolutions import Layer, Lifted
from voicenym.nets.cloak.geometry import WaveUNetConfig
from voicenym.nets.cloak.stream_state import Flow

TYPICAL_EPSILON = 0.05
"""Unit of epsilon at the input of Throttle."""


class Down(torch.nn.Module):
    """Downsampling block; the first convolution gives the skip connection, the second decimates."""

    def __init__(self, inputs: int, channels: int, below: int, kernel: int) -> None:
        super().__init__()
        self.first = Layer(inputs, channels, kernel)
        self.second = Layer(channels, below, kernel)


class Up(torch.nn.Module):
    """Upsampling block; the skip connection enters the second convolution."""

    def __init__(self, below: int, channels: int, kernel: int) -> None:
        super().__init__()
        self.first = Lifted(below, channels, kernel)
        self.second = Layer(2 * channels, channels, kernel)


@dataclass(frozen=True)
class Factors:
    """Gains of the skip connections' channels for a target and epsilon, for each row.

    Args:
        shortcuts: K tensors ``[batch, channels, 1]``.
        bottom: of the last block down, ``[batch, channels, 1]``.
    """

    shortcuts: tuple[torch.Tensor, ...]
    bottom: torch.Tensor

    def to(self, dtype: torch.dtype) -> Factors:
        """The gains in another precision."""
        return Factors(tuple(x.to(dtype) for x in self.shortcuts), self.bottom.to(dtype))


class WaveUNet(torch.nn.Module):
    """Perturbation generator.

    Args:
        config: sizes.

    Example:
        >>> net = WaveUNet(WaveUNetConfig((4, 8, 8), stride=2)).eval()
        >>> net(torch.zeros(2, 200), torch.zeros(2, 192), torch.tensor([0.05, 0.1])).shape
        torch.Size([2, 132])
    """

    def __init__(self, config: WaveUNetConfig) -> None:
        super().__init__()
        self.config = config
        channels, kernel = config.channels, config.kernel
        above = (1, *channels[1:-1])
        self.down = torch.nn.ModuleList(
            Down(above[i], channels[i], channels[i + 1], kernel) for i in range(config.blocks)
        )
        self.bottom = Layer(channels[-1], channels[-1], kernel)
        self.up = torch.nn.ModuleList(
            Up(channels[i + 1], channels[i], kernel) for i in range(config.blocks)
        )
        # the waveform goes into the last layer too, as in Wave-U-Net
        self.out = torch.nn.Conv1d(channels[0] + 1, 1, 1)
        self.modulation = torch.nn.ModuleList(
            torch.nn.Linear(config.voiceprint, size) for size in channels
        )
        self.throttle = torch.nn.Linear(1, config.blocks) if config.throttle else None
        linears = [*self.modulation] if self.throttle is None else [*self.modulation, self.throttle]
        # an untrained network, or no target, changes no shortcut
        for linear in linears:
            assert isinstance(linear, torch.nn.Linear)
            torch.nn.init.normal_(linear.weight, std=0.3 / linear.in_features**0.5)
            torch.nn.init.ones_(linear.bias)
        torch.nn.init.normal_(self.out.weight, std=0.05)

    def factors(self, voiceprints: torch.Tensor, epsilons: torch.Tensor) -> Factors:
        """Gains for rows with a target and a radius each.

        Args:
            voiceprints: ``[batch, voiceprint]``, of any length; zeros for no target.
            epsilons: ``[batch]``.
        """
        # elements of about one, whatever their number; no target stays none
        length = voiceprints.norm(dim=1, keepdim=True).clamp_min(1e-9)
        condition = voiceprints / length * voiceprints.shape[1] ** 0.5
        scales = [linear(condition)[:, :, None] for linear in self.modulation]
        if self.throttle is None:
            return Factors(tuple(scales[:-1]), scales[-1])
        weights = self.throttle(epsilons[:, None] / TYPICAL_EPSILON)
        shortcuts = tuple(scale * weights[:, i, None, None] for i, scale in enumerate(scales[:-1]))
        return Factors(shortcuts, scales[-1])

    def forward(
        self, signal: torch.Tensor, voiceprints: torch.Tensor, epsilons: torch.Tensor
    ) -> torch.Tensor:
        """Network output ``[batch, output(time)]`` for ``[batch, time]``, without the ``side`` at
        both ends.

        Args:
            signal: at 16 kHz.
            voiceprints, epsilons: as of :meth:`factors`.

        Raises:
            ValueError: if the signal is too short for any output.
        """
        if self.config.output(signal.shape[1]) == 0:
            raise ValueError(
                f"{signal.shape[1]} samples are less than the {self.config.input(1)} that an "
                "output needs"
            )
        return self.run(signal, self.factors(voiceprints, epsilons), Flow.whole(self.config))

    def run(self, signal: torch.Tensor, factors: Factors, flow: Flow) -> torch.Tensor:
        """Finished output ``[batch, time']`` for ``[batch, time]``, of a stream or a whole
        signal.
        """
        x = signal[:, None].to(flow.dtype)
        for i, block in enumerate(self.down):
            assert isinstance(block, Down)
            x = flow.filtered(("down", i), x, block.first)
            flow.put(i, x * factors.shortcuts[i])
            x = flow.filtered(("down", i, 2), x, block.second, self.config.stride)
        x = flow.filtered("bottom", x * factors.bottom, self.bottom)
        for i in reversed(range(self.config.blocks)):
            block = self.up[i]
            assert isinstance(block, Up)
            x = flow.lifted(("up", i), x, block.first)
            x = torch.cat([x, flow.take(i, x.shape[2])], dim=1)
            x = flow.filtered(("up", i, 2), x, block.second)
        flow.put("input", signal[:, None])
        x = torch.cat([x.to(signal), flow.take("input", x.shape[2])], dim=1)
        return self.out(x)[:, 0] if x.shape[2] else x[:, 0]
