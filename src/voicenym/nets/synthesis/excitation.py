"""Excitation signals: harmonic sines, pulse trains, and counter-based noise.

The source of Wang, Takaki, Yamagishi, "Neural source-filter waveform models for statistical
parametric speech synthesis", IEEE/ACM TASLP 28 (2020), equations 2 and 3, and of its
harmonic-plus-noise form (SSW 2019). F0 is held over a frame, as in the published models; the phase
goes on from frame to frame and from block to block.

Noise is a function of a seed and a sample index, not the state of a generator: sample ``n`` does
not depend on earlier calls, on block sizes or on other rows.
"""

from __future__ import annotations

import math

import torch

from voicenym.dsp.voice_source import pulses
from voicenym.nets.streaming import Memory

GOLDEN = 0x9E3779B97F4A7C15
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB
NOISE_OF_SINES, NOISE_OF_BRANCH, START_OF_SINES = 1, 2, 3
"""Names of independent noise streams under one seed."""


def _signed(value: int) -> int:
    """Reinterpretation of an unsigned 64-bit integer as torch's int64."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def splitmix(seed: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Number ``index`` of the generator SplitMix64 with a seed: 64 bits, as int64.

    Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. Arithmetic
    wraps at 64 bits.

    Args:
        seed, index: int64 of shapes that broadcast; the first number has index 0.
    """

    def folded(z: torch.Tensor, shift: int) -> torch.Tensor:
        return z ^ ((z >> shift) & ((1 << (64 - shift)) - 1))

    z = seed + (index + 1) * _signed(GOLDEN)
    z = folded(z, 30) * _signed(FIRST_FACTOR)
    z = folded(z, 27) * _signed(SECOND_FACTOR)
    return folded(z, 31)


def gaussian(seed: torch.Tensor, purpose: int, start: int, length: int) -> torch.Tensor:
    """White Gaussian noise of unit power, by the Box-Muller transform.

    Args:
        seed: ``[row]`` int64.
        purpose: name of an independent noise stream.
        start, length: which samples.

    Returns:
        ``[row, length]`` float32.
    """
    stream = splitmix(seed, torch.full_like(seed, purpose))
    place = torch.arange(start, start + length, device=seed.device)
    bits = splitmix(stream[:, None], place[None])
    # float64, so that a last digit that differs between vector units is rounded away
    first = (((bits >> 32) & 0xFFFFFFFF).double() + 0.5) / 2.0**32
    second = (bits & 0xFFFFFFFF).double() / 2.0**32
    return (torch.sqrt(-2.0 * first.log()) * torch.cos(2.0 * math.pi * second)).float()


def held(frames: torch.Tensor, hop: int) -> torch.Tensor:
    """Zero-order hold: ``[..., frame]`` to ``[..., frame * hop]``."""
    return frames.repeat_interleave(hop, dim=-1)


class Phase(torch.nn.Module):
    """Running phase of F0, in periods; constant where F0 is 0.

    Args:
        rate: in Hz.
        hop: samples of a frame.
    """

    def __init__(self, rate: int, hop: int) -> None:
        super().__init__()
        self.rate, self.hop = rate, hop

    def forward(self, f0: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """``[batch, frame]`` in Hz to ``[batch, frame * hop]`` float64, from 0 to 1.

        A sample's phase includes its own step: the first is F0 / rate.
        """
        step = f0.double() / self.rate
        ends = torch.cumsum(step * self.hop, dim=1)
        if memory is not None:
            before = memory.kept.get(self)
            if before is not None:
                ends = ends + before
            if ends.shape[1]:
                memory.kept[self] = ends[:, -1:] % 1.0
        within = torch.arange(1 - self.hop, 1, device=f0.device, dtype=torch.float64)
        return ((ends[:, :, None] + step[:, :, None] * within) % 1.0).flatten(1)


def samples_so_far(memory: Memory | None, place: object, length: int) -> int:
    """Number of samples before this block; adds ``length`` to the count."""
    if memory is None:
        return 0
    before = memory.kept.get((place, "count"), torch.zeros((), dtype=torch.int64))
    memory.kept[(place, "count")] = before + length
    return int(before)


class Sines(torch.nn.Module):
    """Harmonics of F0 with weak noise in voiced frames, noise alone in unvoiced ones.

    The fundamental starts at phase 0, the others at random phases drawn by the seed. Harmonics
    above half the rate are omitted (the published models let them alias).

    Args:
        rate: in Hz.
        hop: samples of a frame.
        harmonics: the fundamental included.
        amplitude: of a sine; unvoiced noise has a third of it as standard deviation.
        voiced_noise: standard deviation.
    """

    def __init__(
        self,
        rate: int,
        hop: int,
        harmonics: int = 8,
        amplitude: float = 0.1,
        voiced_noise: float = 0.003,
    ) -> None:
        super().__init__()
        self.rate, self.hop, self.harmonics = rate, hop, harmonics
        self.amplitude, self.voiced_noise = amplitude, voiced_noise
        self.phase = Phase(rate, hop)

    @torch.no_grad()
    def forward(
        self, f0: torch.Tensor, seed: torch.Tensor, memory: Memory | None = None
    ) -> torch.Tensor:
        """``[batch, harmonic, frame * hop]``.

        Args:
            f0: ``[batch, frame]`` in Hz, 0 where unvoiced.
            seed: ``[batch]`` int64.
            memory: of a stream.
        """
        count = self.harmonics
        number = torch.arange(1, count + 1, device=f0.device)
        start = splitmix(splitmix(seed, torch.full_like(seed, START_OF_SINES))[:, None], number)
        start = ((start >> 32) & 0xFFFFFFFF).double() / 2.0**32
        start[:, 0] = 0.0
        phase = self.phase(f0, memory)
        turns = (phase[:, None] * number[:, None] + start[:, :, None]) % 1.0
        pitch = held(f0, self.hop)[:, None]
        audible = (pitch > 0) & (pitch * number[:, None] < self.rate / 2)
        sines = torch.sin(2.0 * math.pi * turns.float()) * audible * self.amplitude
        length = phase.shape[1]
        first = samples_so_far(memory, self, length) * count
        noise = gaussian(seed, NOISE_OF_SINES, first, length * count)
        noise = noise.unflatten(1, (length, count)).transpose(1, 2)
        return sines + noise * torch.where(pitch > 0, self.voiced_noise, self.amplitude / 3.0)


class Noise(torch.nn.Module):
    """White noise of unit power as the source of a noise branch."""

    def forward(
        self, length: int, seed: torch.Tensor, memory: Memory | None = None
    ) -> torch.Tensor:
        """``[batch, length]``.

        Args:
            length: in samples.
            seed: ``[batch]`` int64.
            memory: of a stream.
        """
        start = samples_so_far(memory, self, length)
        return gaussian(seed, NOISE_OF_BRANCH, start, length)


class Pulses(torch.nn.Module):
    """Band-limited pulse train: all harmonics of F0 in phase, of unit power; 0 where unvoiced.

    Args:
        rate: in Hz.
        hop: samples of a frame.
    """

    def __init__(self, rate: int, hop: int) -> None:
        super().__init__()
        self.rate, self.hop = rate, hop
        self.phase = Phase(rate, hop)

    @torch.no_grad()
    def forward(self, f0: torch.Tensor, memory: Memory | None = None) -> torch.Tensor:
        """``[batch, frame]`` in Hz to ``[batch, frame * hop]``."""
        pitch = held(f0, self.hop)
        voiced = pitch > 0
        phase = 2.0 * math.pi * self.phase(f0, memory)
        train = pulses(phase, torch.where(voiced, pitch, self.rate / 4.0), self.rate)
        return torch.where(voiced, train, 0.0)
