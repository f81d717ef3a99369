"""Sizes of a Wave-U-Net, and what follows from them: windows, delay, operations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from voicenym.nets.cloak import interpolated_convolution


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
            drawn = channels * interpolated_convolution.operations(self.kernel, self.stride)
            total += (weights + drawn) / self.stride**level
            inputs = below
        total += self.kernel * self.channels[-1] ** 2 / self.grid + self.channels[0] + 1
        return round(16_000 * total)
