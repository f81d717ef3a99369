"""Wave-U-Net with VP-Modulation and Throttle: from a waveform to what is to be added to it.

Deng et al., "V-Cloak: intelligibility-, naturalness- & timbre-preserving real-time voice
anonymization", USENIX Security 2023, section 4.1 and figure 4, on the Wave-U-Net of Stoller, Ewert
and Dixon (ISMIR 2018): K blocks down and K up, each of two convolutions without padding; shortcuts
from the first convolution down to the second one up. A linear map of the target's voiceprint
rescales the channels of every shortcut and of the last block down (VP-Modulation); a linear map of
epsilon to K numbers weighs the shortcuts (Throttle). Without padding an output depends on the
samples around it alone: 41,641 samples give 32,089, and windows on a grid of ``stride ** K``
samples give what the whole gives. :class:`Flow` computes each value once, block by block.

The paper leaves open the resampling and the normalisation. Here the first is Wave-U-Net's own
(every n-th step is kept; straight lines between steps), which needs no padding; the second is batch
normalisation, which when it no longer learns treats every window alike. Steps that are not kept are
not computed, and what follows straight lines is computed before they are drawn
(:mod:`voicenym.nets.cloak.lines`): that takes four of seven multiply-adds.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch.nn import functional

from voicenym.nets.cloak import lines

SLOPE = 0.2
"""Of the leaky rectifier below zero."""
TYPICAL_EPSILON = 0.05
"""Throttle is told epsilon in these units."""
FEW_STEPS, FEW_WEIGHTS = 32, 768
"""Outputs up to which a convolution is a product of matrices, where each has so many weights."""
Folded = tuple[torch.Tensor, torch.Tensor]
"""Weight and bias."""


@dataclass(frozen=True)
class WaveUNetConfig:
    """Sizes; the defaults are the paper's, as far as its numbers 41,641 and 32,089 tell them.

    Args:
        channels: of each level, from the waveform's rate down to the bottleneck's: K + 1 numbers.
        kernel: of all convolutions, odd.
        stride: from level to level.
        voiceprint: elements of a voiceprint.

    Raises:
        ValueError: sizes of which there is no such network.

    Example:
        >>> WaveUNetConfig().output(41_641), WaveUNetConfig().side
        (32089, 4776)
    """

    channels: tuple[int, ...] = (32, 64, 128, 256, 512, 1024)
    kernel: int = 5
    stride: int = 4
    voiceprint: int = 192

    def __post_init__(self) -> None:
        if len(self.channels) < 2 or min(self.channels) < 1:
            raise ValueError(f"channels need two levels at least, not {self.channels}")
        if self.kernel < 1 or self.kernel % 2 == 0:
            raise ValueError(f"the kernel must be odd, not {self.kernel}")
        if self.stride < 2:
            raise ValueError(f"the stride must be 2 or more, not {self.stride}")

    @property
    def blocks(self) -> int:
        """K, blocks down and blocks up."""
        return len(self.channels) - 1

    @property
    def grid(self) -> int:
        """Samples from a step of the bottleneck to the next."""
        return self.stride**self.blocks

    def output(self, samples: int) -> int:
        """Samples that come out for so many that go in; 0 where they are too few."""
        lost = 2 * (self.kernel - 1)
        for _ in range(self.blocks):
            samples = -(-max(0, samples - lost) // self.stride)
        samples = max(0, samples - self.kernel + 1)
        for _ in range(self.blocks):
            samples = max(0, self.stride * (samples - 1) + 1 - lost) if samples else 0
        return samples

    def input(self, samples: int) -> int:
        """Least number of samples to put in, of a grid's length more or less, for so many."""
        steps = samples
        for _ in range(self.blocks):
            steps = -(-(steps + 2 * (self.kernel - 1) - 1) // self.stride) + 1
        steps += self.kernel - 1
        for _ in range(self.blocks):
            steps = self.stride * (steps - 1) + 1 + 2 * (self.kernel - 1)
        return steps

    @cached_property
    def side(self) -> int:
        """Samples that a window has more on either side than it gives.

        An output hears less than a grid's step beyond them: where straight lines are drawn.
        """
        return (self.kernel - 1) * sum(2 * self.stride**i for i in range(self.blocks)) + (
            self.kernel - 1
        ) // 2 * self.grid

    @cached_property
    def latency(self) -> int:
        """Samples by which :class:`Flow` is late at most: the side, and the wait for the grid."""
        start = self.input(1)
        most = 0
        for samples in range(start, start + self.grid):
            most = max(most, samples - self.side - self.output(samples))
        return most

    @property
    def operations(self) -> int:
        """Multiply-adds for a second at 16 kHz, of all convolutions."""
        total, inputs = 0.0, 1
        for level, channels in enumerate(self.channels[:-1]):
            below = self.channels[level + 1]
            weights = self.kernel * channels * (inputs + 2 * below / self.stride + 2 * channels)
            drawn = channels * lines.operations(self.kernel, self.stride)
            total += (weights + drawn) / self.stride**level
            inputs = below
        total += self.kernel * self.channels[-1] ** 2 / self.grid + self.channels[0] + 1
        return round(16_000 * total)


class Layer(torch.nn.Module):
    """Convolution without padding, batch normalisation, leaky rectifier."""

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(inputs, outputs, kernel, bias=False)
        self.norm = torch.nn.BatchNorm1d(outputs)

    def forward(
        self, signal: torch.Tensor, stride: int = 1, folded: Folded | None = None
    ) -> torch.Tensor:
        """``[batch, inputs, step]`` to ``[batch, outputs, step']``.

        Args:
            signal: without what padding would add.
            stride: from one output to the next.
            folded: of :meth:`folded`, computed before; only when the layer does not learn.
        """
        if self.training:
            made = self.norm(
                self._convolved(signal, self._arranged(self.conv.weight), None, stride)
            )
        else:
            made = self._convolved(signal, *(folded or self.folded()), stride)
        return functional.leaky_relu(made, SLOPE, inplace=True)

    def folded(self) -> Folded:
        """The convolution and, as a part of it, the normalisation: weight and bias."""
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
        steps = (signal.shape[2] - weight.shape[2]) // stride + 1
        few = len(signal) * steps <= FEW_STEPS and weight[0].numel() >= FEW_WEIGHTS
        if not few or self.training or signal.device.type != "cpu":
            return functional.conv1d(signal, weight, bias, stride)
        # of a stream's short blocks: a convolution would arrange all weights anew
        frames = signal.unfold(2, weight.shape[2], stride).transpose(1, 2).flatten(2)
        return functional.linear(frames, weight.flatten(1), bias).transpose(1, 2)


class Lifted(Layer):
    """The same over straight lines between steps; ``stride`` is the samples from step to step."""

    def _arranged(self, weight: torch.Tensor) -> torch.Tensor:
        return lines.arranged(weight)

    def _convolved(
        self, signal: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, stride: int
    ) -> torch.Tensor:
        return lines.convolved(signal, weight, bias, self.conv.kernel_size[0], stride)


class Down(torch.nn.Module):
    """A block down; what the first convolution gives is the shortcut, the second thins it out."""

    def __init__(self, inputs: int, channels: int, below: int, kernel: int) -> None:
        super().__init__()
        self.first = Layer(inputs, channels, kernel)
        self.second = Layer(channels, below, kernel)


class Up(torch.nn.Module):
    """A block up; the shortcut goes into the second convolution."""

    def __init__(self, below: int, channels: int, kernel: int) -> None:
        super().__init__()
        self.first = Lifted(below, channels, kernel)
        self.second = Layer(2 * channels, channels, kernel)


@dataclass(frozen=True)
class Factors:
    """What target and epsilon make of the shortcuts: factors of each channel, for each row.

    Args:
        shortcuts: K tensors ``[batch, channels, 1]``.
        bottom: of the last block down, ``[batch, channels, 1]``.
    """

    shortcuts: tuple[torch.Tensor, ...]
    bottom: torch.Tensor


class WaveUNet(torch.nn.Module):
    """The anonymizer's network.

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
        self.throttle = torch.nn.Linear(1, config.blocks)
        # an untrained network, or no target, changes no shortcut
        for linear in (*self.modulation, self.throttle):
            assert isinstance(linear, torch.nn.Linear)
            torch.nn.init.normal_(linear.weight, std=0.3 / linear.in_features**0.5)
            torch.nn.init.ones_(linear.bias)
        torch.nn.init.normal_(self.out.weight, std=0.05)

    def factors(self, voiceprints: torch.Tensor, epsilons: torch.Tensor) -> Factors:
        """Of rows with a target and a radius each.

        Args:
            voiceprints: ``[batch, voiceprint]``, of any length; zeros for no target.
            epsilons: ``[batch]``.
        """
        # elements of about one, whatever their number; no target stays none
        length = voiceprints.norm(dim=1, keepdim=True).clamp_min(1e-9)
        heard = voiceprints / length * voiceprints.shape[1] ** 0.5
        scales = [linear(heard)[:, :, None] for linear in self.modulation]
        weights = self.throttle(epsilons[:, None] / TYPICAL_EPSILON)
        shortcuts = tuple(scale * weights[:, i, None, None] for i, scale in enumerate(scales[:-1]))
        return Factors(shortcuts, scales[-1])

    def forward(
        self, signal: torch.Tensor, voiceprints: torch.Tensor, epsilons: torch.Tensor
    ) -> torch.Tensor:
        """``[batch, time]`` to ``[batch, output(time)]``, without the ``side`` at both ends.

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
        """``[batch, time]``, of a stream or whole, to ``[batch, time']``: what is ready."""
        x = signal[:, None]
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
        x = torch.cat([x, flow.take("input", x.shape[2])], dim=1)
        return self.out(x)[:, 0] if x.shape[2] else x[:, 0]


class Flow:
    """What the layers keep between blocks of a stream; a whole signal is a stream of one block.

    Args:
        config: of the network.
        keeping: False where no further block will come.
    """

    def __init__(self, config: WaveUNetConfig, keeping: bool = True) -> None:
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
        """For a signal that is there at once."""
        return cls(config, keeping=False)

    def filtered(
        self, place: Any, signal: torch.Tensor, layer: Layer, stride: int = 1
    ) -> torch.Tensor:
        """A layer over what came before and what comes now, every ``stride``-th step of it."""
        signal = self._joined(place, signal)
        kernel = self._config.kernel
        steps = max(0, (signal.shape[2] - kernel) // stride + 1)
        self._keep(place, signal, steps * stride)
        if steps == 0:
            return signal.new_zeros(signal.shape[0], layer.conv.out_channels, 0)
        return layer(signal, stride, self._folded(place, layer))

    def lifted(self, place: Any, signal: torch.Tensor, layer: Lifted) -> torch.Tensor:
        """A layer over straight lines between steps, those before and those of now."""
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
            # where a stride is longer than a kernel, some steps to come are heard by none
            self._skip[place] += max(0, start - signal.shape[2])

    def _folded(self, place: Any, layer: Layer) -> Folded | None:
        if layer.training or not self._keeping:
            return None
        if place not in self._layers:
            self._layers[place] = layer.folded()
        return self._layers[place]

    def put(self, place: Any, signal: torch.Tensor) -> None:
        """Keep a shortcut until what it meets is there."""
        skipped = min(self._skip[place], signal.shape[2])
        self._skip[place] -= skipped
        signal = signal[:, :, skipped:]
        if place in self._waiting:
            signal = torch.cat([self._waiting[place], signal], dim=2)
        self._waiting[place] = signal

    def take(self, place: Any, steps: int) -> torch.Tensor:
        """The next steps of a shortcut."""
        signal = self._waiting[place]
        self._waiting[place] = signal[:, :, steps:]
        return signal[:, :, :steps]
