"""Harmonic-plus-noise neural source-filter model (hn-sinc-NSF).

Wang, Takaki, Yamagishi, "Neural source-filter waveform models for statistical parametric speech
synthesis", IEEE/ACM TASLP 28 (2020); with the trainable limit between harmonics and noise of Wang
and Yamagishi, "Neural harmonic-plus-noise waveform model with trainable maximum voice frequency for
text-to-speech synthesis", SSW 2019 (hn-sinc-NSF), which the challenge baseline B1.a uses.

A bidirectional LSTM reads the whole recording, so the model does not stream.
"""

from __future__ import annotations

import math

import torch

from voicenym.nets.streaming import Conv
from voicenym.nets.synthesis.excitation import Noise
from voicenym.nets.synthesis.hifigan_nsf import Source
from voicenym.nets.synthesis.synthesizer import Conditions

NOISE_DEVIATION = 0.1 / 3.0
VOICED_LIMIT, UNVOICED_LIMIT, LIMIT_RANGE = 0.7, 0.3, 0.2
"""Limits between harmonics and noise, voiced and unvoiced, and their range, as shares of half the
rate.
"""
SMOOTHED_FRAMES = 4
BLOCK_SCALE = 0.1


class Standardize(torch.nn.Module):
    """Mean and variance normalisation by statistics of the training data.

    Args:
        size: elements of a frame.
    """

    mean: torch.Tensor
    deviation: torch.Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("deviation", torch.ones(size))

    def fit(self, frames: torch.Tensor) -> None:
        """Estimates mean and deviation from ``[..., size]``; constant elements are divided by 1."""
        flat = frames.flatten(0, -2)
        deviation = flat.std(0)
        self.mean.copy_(flat.mean(0))
        self.deviation.copy_(torch.where(deviation > 0, deviation, 1.0))

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        return (frames - self.mean) / self.deviation

    def inverse(self, frames: torch.Tensor) -> torch.Tensor:
        return frames * self.deviation + self.mean


def interpolated(frames: torch.Tensor, hop: int) -> torch.Tensor:
    """Linear interpolation, ``[batch, channel, frame]`` to ``[batch, channel, frame * hop]``."""
    return torch.nn.functional.interpolate(frames, scale_factor=hop, mode="linear")


def low_pass(limit: torch.Tensor, taps: int) -> torch.Tensor:
    """Time-varying windowed-sinc low-pass filters, one for every sample, of gain 1 at 0 Hz.

    Args:
        limit: ``[batch, time]``, share of half the rate.
        taps: odd.

    Returns:
        ``[batch, time, taps]``.
    """
    n = torch.arange(taps, device=limit.device) - (taps - 1) // 2
    window = torch.hamming_window(taps, periodic=False, device=limit.device)
    filters = limit[:, :, None] * torch.sinc(limit[:, :, None] * n) * window
    return filters / filters.sum(2, keepdim=True)


def filtered(signal: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
    """Signal ``[batch, time]`` through a symmetric filter of its own at every sample, without
    delay.
    """
    side = (filters.shape[2] - 1) // 2
    padded = torch.nn.functional.pad(signal, (side, side))
    return (padded.unfold(1, filters.shape[2], 1) * filters).sum(2)


class FilterBlock(torch.nn.Module):
    """Neural filter block: conditioned dilated convolutions whose output is added to the signal.

    Args:
        channels: within the block, and of the context.
        convolutions: with dilations 1, 2, 4, ...
        kernel: of each.
    """

    def __init__(self, channels: int, convolutions: int, kernel: int) -> None:
        super().__init__()
        self.enter = torch.nn.Conv1d(1, channels, 1, bias=False)
        self.convs = torch.nn.ModuleList(
            Conv(channels, channels, kernel, dilation=2**i, bias=False) for i in range(convolutions)
        )
        self.narrow = torch.nn.Conv1d(channels, channels // 4, 1, bias=False)
        self.leave = torch.nn.Conv1d(channels // 4, 1, 1, bias=False)

    def forward(self, signal: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        """``[batch, 1, time]`` and ``[batch, channel, time]`` to ``[batch, 1, time]``."""
        hidden = torch.tanh(self.enter(signal))
        for conv in self.convs:
            hidden = hidden + torch.tanh(conv(hidden)) + context
        hidden = torch.tanh(self.narrow(hidden * BLOCK_SCALE))
        return signal + torch.tanh(self.leave(hidden))


class Nsf(torch.nn.Module):
    """NSF vocoder: waveforms from features, F0 and a speaker vector.

    Args:
        features, speaker: elements of a frame and of a speaker vector: 80 mels and 512 in B1.a.
        rate: of the waveform, in Hz.
        hop: samples of a frame.
        channels: of the filters.
        blocks: of the harmonic branch; the noise branch has one of half the convolutions.
        convolutions, kernel: of a block.
        taps: of the filters that separate harmonics and noise.
        harmonics: of the source.
    """

    def __init__(
        self,
        features: int,
        speaker: int,
        rate: int = 16_000,
        hop: int = 160,
        channels: int = 64,
        blocks: int = 5,
        convolutions: int = 10,
        kernel: int = 3,
        taps: int = 31,
        harmonics: int = 8,
    ) -> None:
        super().__init__()
        self.hop, self.taps = hop, taps
        self.conditions = Conditions(features, speaker, "log")
        self.standardize = Standardize(features)
        self.lstm = torch.nn.LSTM(
            self.conditions.size, channels // 2, batch_first=True, bidirectional=True
        )
        # one channel of the last is the limit; its place in the context is taken by F0
        self.conv = Conv(channels, channels, kernel)
        self.source = Source(rate, hop, harmonics)
        self.noise = Noise()
        self.harmonic_blocks = torch.nn.ModuleList(
            FilterBlock(channels, convolutions, kernel) for _ in range(blocks)
        )
        self.noise_block = FilterBlock(channels, convolutions // 2, kernel)

    def forward(
        self, features: torch.Tensor, f0: torch.Tensor, speaker: torch.Tensor, seed: torch.Tensor
    ) -> torch.Tensor:
        """Waveforms ``[batch, frame * hop]``.

        Args:
            features: ``[batch, frame, element]``.
            f0: ``[batch, frame]`` in Hz, 0 where unvoiced.
            speaker: ``[batch, element]``.
            seed: ``[batch]`` int64.
        """
        frames = self.conditions(self.standardize(features), f0, speaker)
        hidden, _ = self.lstm(frames)
        hidden = torch.tanh(self.conv(hidden.transpose(1, 2)))
        octaves = self.conditions.octaves(f0)[:, None]
        context = interpolated(torch.cat([hidden[:, :-1], octaves], dim=1), self.hop)
        tone = self.source(f0, seed)
        for block in self.harmonic_blocks:
            tone = block(tone, context)
        breath = NOISE_DEVIATION * self.noise(tone.shape[2], seed)[:, None]
        breath = self.noise_block(breath, context)
        low = low_pass(self.limit(hidden[:, -1], f0), self.taps)
        # the two filters sum to nothing changed: what one stops, the other lets pass
        return filtered(tone[:, 0], low) + breath[:, 0] - filtered(breath[:, 0], low)

    def limit(self, hidden: torch.Tensor, f0: torch.Tensor) -> torch.Tensor:
        """Maximum voiced frequency ``[batch, time]``, as a fraction of half the rate.

        Args:
            hidden: ``[batch, frame]`` within [-1, 1].
            f0: ``[batch, frame]`` in Hz.
        """
        middle = torch.where(f0 > 0, VOICED_LIMIT, UNVOICED_LIMIT)
        limit = (middle + LIMIT_RANGE * hidden)[:, None]
        before, after = (SMOOTHED_FRAMES - 1) // 2, math.ceil((SMOOTHED_FRAMES - 1) / 2)
        limit = torch.nn.functional.pad(limit, (before, after), mode="replicate")
        smooth = torch.nn.functional.avg_pool1d(limit, SMOOTHED_FRAMES, 1)
        return interpolated(smooth, self.hop)[:, 0]
