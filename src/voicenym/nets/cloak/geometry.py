"""Sizes of a Wave-U-Net, and the derived windows, latency and operation counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from voicenym.nets.cloak import interpolated_convolution


@dataclass(frozen=True)
class WaveUNetConfig:
    """Sizes of a Wave-U-Net; the defaults reproduce the paper's window sizes of 41,641 and 32,089.

    Args:
        channels: of each level, from the waveform's rate to the bottleneck's: K + 1 numbers.
        kernel: of all convolutions, odd.
        stride: from level to level.
        voiceprint: elements of a voiceprint.
        throttle: whether epsilon weighs the skip connections; False is the ablation of section 5.7.

    Raises:
        ValueError: invalid sizes.

    Example:
        >>> WaveUNetConfig().output(41_641), WaveUNetConfig().side
        (32089, 4776)
    """

    channels: tuple[int, ...] = (32, 64, 128, 256, 512, 1024)
    kernel: int = 5
    stride: int = 4
    voiceprint: int = 192
    throttle: bool = True

    def __post_init__(self) -> None:
        if len(self.channels) < 2 or min(self.channels) < 1:
            raise ValueError(f"channels need two levels at least, not {self.channels}")
        if self.kernel < 1 or self.kernel % 2 == 0:
            raise ValueError(f"the kernel must be odd, not {self.kernel}")
        if self.stride < 2:
            raise ValueError(f"the stride must be 2 or more, not {self.stride}")

    @property
    def blocks(self) -> int:
        """K, the number of downsampling and of upsampling blocks."""
        return len(self.channels) - 1

    @property
    def grid(self) -> int:
        """Samples between steps of the bottleneck."""
        return self.stride**self.blocks

    def output(self, samples: int) -> int:
        """Output length of an input length, in samples; 0 for inputs that are too short."""
        lost = 2 * (self.kernel - 1)
        for _ in range(self.blocks):
            samples = -(-max(0, samples - lost) // self.stride)
        samples = max(0, samples - self.kernel + 1)
        for _ in range(self.blocks):
            samples = max(0, self.stride * (samples - 1) + 1 - lost) if samples else 0
        return samples

    def input(self, samples: int) -> int:
        """Least input length for an output length, up to a grid's length, in samples."""
        steps = samples
        for _ in range(self.blocks):
            steps = -(-(steps + 2 * (self.kernel - 1) - 1) // self.stride) + 1
        steps += self.kernel - 1
        for _ in range(self.blocks):
            steps = self.stride * (steps - 1) + 1 + 2 * (self.kernel - 1)
        return steps

    @cached_property
    def side(self) -> int:
        """Samples that an input window extends beyond its output on either side.

        Interpolation extends the receptive field by less than a grid's step beyond them.
        """
        return (self.kernel - 1) * sum(2 * self.stride**i for i in range(self.blocks)) + (
            self.kernel - 1
        ) // 2 * self.grid

    @cached_property
    def latency(self) -> int:
        """Largest latency of :class:`Flow` in samples: the side, and the wait for the grid."""
        start = self.input(1)
        most = 0
        for samples in range(start, start + self.grid):
            most = max(most, samples - self.side - self.output(samples))
        return most

    @property
    def operations(self) -> int:
        """Multiply-adds per second of audio at 16 kHz, of all convolutions."""
        total, inputs = 0.0, 1
        for level, channels in enumerate(self.channels[:-1]):
            below = self.channels[level + 1]
            weights = self.kernel * channels * (inputs + 2 * below / self.stride + 2 * channels)
            drawn = channels * interpolated_convolution.operations(self.kernel, self.stride)
            total += (weights + drawn) / self.stride**level
            inputs = below
        total += self.kernel * self.channels[-1] ** 2 / self.grid + self.channels[0] + 1
        return round(16_000 * total)
