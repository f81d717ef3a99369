"""Folded NSF: a harmonic-plus-noise neural source-filter model that a laptop trains in an hour.

The parts are those of :class:`~voicenym.nets.synthesis.nsf.Nsf` (Wang, Takaki, Yamagishi 2020; Wang
and Yamagishi, SSW 2019): a condition network at the rate of frames, sources of harmonics and of
noise, blocks of dilated convolutions that filter them sample by sample, and a limit between the two
that follows the frames. Four things differ, for which the published model needs days of training:

- A step of the filters has ``fold`` neighbouring samples as its channels, so that each convolution
  has ``fold`` times fewer steps.
- The level is given: the filters see a source of constant power, and their output is multiplied by
  the level of the mels. The published filters have to learn products of source and level.
- The harmonic source is a pulse train of all harmonics, not the first eight sines.
- Every block has a linear map of its own from the condition network.
"""

from __future__ import annotations

from typing import Any

import torch

from voicenym.nets.architectures import Network
from voicenym.nets.streaming import Conv
from voicenym.nets.synthesis.excitation import NOISE_OF_SINES, Noise, Pulses, gaussian, held
from voicenym.nets.synthesis.nsf import (
    LIMIT_RANGE,
    UNVOICED_LIMIT,
    VOICED_LIMIT,
    Standardize,
    filtered,
    interpolated,
    low_pass,
)
from voicenym.nets.synthesis.synthesizer import Conditions

SOURCE_DEVIATION = 0.3
"""Of pulses and of noise, in the middle of what tanh passes without saturation."""
NARROWED = 0.3
"""Factor before the last tanh of a block, whose input is a sum over all convolutions."""
LOG_LEVEL = -3.0
"""Initial logarithm of amplitude over level of the mels: about that of speech of peak 0.95."""


class FoldedFilterBlock(torch.nn.Module):
    """Neural filter block over steps of several samples, whose output is added to the signal.

    Args:
        fold: samples of a step.
        channels: within the block.
        convolutions: with dilations 1, 2, 4, ... steps.
        kernel: of each.
    """

    def __init__(self, fold: int, channels: int, convolutions: int, kernel: int) -> None:
        super().__init__()
        self.fold = fold
        self.enter = torch.nn.Conv1d(fold, channels, 1, bias=False)
        self.convs = torch.nn.ModuleList(
            Conv(channels, channels, kernel, dilation=2**i, bias=False) for i in range(convolutions)
        )
        self.narrow = torch.nn.Conv1d(channels, channels // 2, 1, bias=False)
        self.leave = torch.nn.Conv1d(channels // 2, fold, 1, bias=False)

    def forward(self, signal: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        """``[batch, time]`` and ``[batch, channel, time / fold]`` to ``[batch, time]``."""
        steps = signal.unflatten(1, (-1, self.fold)).transpose(1, 2)
        hidden = torch.tanh(self.enter(steps))
        for conv in self.convs:
            hidden = hidden + torch.tanh(conv(hidden) + context)
        hidden = torch.tanh(self.narrow(hidden * NARROWED))
        return signal + self.leave(hidden).transpose(1, 2).flatten(1)


class FoldedNsf(Network):
    """Vocoder: waveforms from log mels, F0 and a speaker vector.

    Args:
        features, speaker: elements of a frame of log mels, and of a speaker vector.
        rate: of the waveform, in Hz.
        hop: samples of a frame; a multiple of ``fold``.
        fold: samples of a step of the filters.
        channels: of the filters.
        blocks: of the harmonic branch; the noise branch has one.
        convolutions, kernel: of a block.
        width: of the condition network.
        speaker_width: elements that the speaker vector is projected to.
        taps: of the filters that separate harmonics and noise.

    Raises:
        ValueError: if a frame is not a whole number of steps.
    """

    kind = "folded-nsf"

    def __init__(
        self,
        features: int,
        speaker: int,
        rate: int = 16_000,
        hop: int = 160,
        fold: int = 4,
        channels: int = 32,
        blocks: int = 3,
        convolutions: int = 6,
        kernel: int = 3,
        width: int = 64,
        speaker_width: int = 16,
        taps: int = 31,
    ) -> None:
        super().__init__()
        if fold < 1 or hop % fold:
            raise ValueError(f"fold {fold} must divide the hop, {hop}")
        self._config = {
            "features": features,
            "speaker": speaker,
            "rate": rate,
            "hop": hop,
            "fold": fold,
            "channels": channels,
            "blocks": blocks,
            "convolutions": convolutions,
            "kernel": kernel,
            "width": width,
            "speaker_width": speaker_width,
            "taps": taps,
        }
        self.hop, self.fold, self.taps = hop, fold, taps
        self.conditions = Conditions(features, speaker, "log", speaker_width)
        self.standardize = Standardize(features)
        self.lstm = torch.nn.LSTM(
            self.conditions.size, width // 2, batch_first=True, bidirectional=True
        )
        self.conv = Conv(width, width, 3)
        self.pulses, self.noise = Pulses(rate, hop), Noise()
        self.contexts = torch.nn.ModuleList(
            torch.nn.Conv1d(width + 2, channels, 1) for _ in range(blocks + 1)
        )
        self.border = torch.nn.Conv1d(width, 1, 1)
        self.harmonic_blocks = torch.nn.ModuleList(
            FoldedFilterBlock(fold, channels, convolutions, kernel) for _ in range(blocks)
        )
        self.noise_block = FoldedFilterBlock(fold, channels, convolutions, kernel)
        self.log_level = torch.nn.Parameter(torch.tensor(LOG_LEVEL))

    def config(self) -> dict[str, Any]:
        return dict(self._config)

    def forward(
        self, features: torch.Tensor, f0: torch.Tensor, speaker: torch.Tensor, seed: torch.Tensor
    ) -> torch.Tensor:
        """Waveforms ``[batch, frame * hop]``.

        Args:
            features: ``[batch, frame, element]``, natural logarithms.
            f0: ``[batch, frame]`` in Hz, 0 where unvoiced.
            speaker: ``[batch, element]``.
            seed: ``[batch]`` int64.
        """
        frames = self.conditions(self.standardize(features), f0, speaker)
        hidden, _ = self.lstm(frames)
        hidden = torch.tanh(self.conv(hidden.transpose(1, 2)))
        pitch = torch.stack([self.conditions.octaves(f0), (f0 > 0).to(hidden)], dim=1)
        frames = torch.cat([hidden, pitch], dim=1)
        contexts = [interpolated(part(frames), self.hop // self.fold) for part in self.contexts]
        tone = SOURCE_DEVIATION * self._source(f0, seed)
        breath = SOURCE_DEVIATION * self.noise(tone.shape[1], seed)
        for block, context in zip(self.harmonic_blocks, contexts, strict=False):
            tone = block(tone, context)
        breath = self.noise_block(breath, contexts[-1])
        low = low_pass(self._limit(hidden, f0), self.taps)
        # the low-pass of harmonics and the high-pass of noise, complements, in one filter
        mixed = breath + filtered(tone - breath, low)
        level = features.exp().square().mean(2, keepdim=True).sqrt().transpose(1, 2)
        return mixed * interpolated(level, self.hop)[:, 0] * self.log_level.exp()

    def _source(self, f0: torch.Tensor, seed: torch.Tensor) -> torch.Tensor:
        """Pulses where voiced, noise elsewhere, ``[batch, time]``."""
        pulses = self.pulses(f0)
        white = gaussian(seed, NOISE_OF_SINES, 0, pulses.shape[1])
        return torch.where(held(f0, self.hop) > 0, pulses.to(white), white)

    def _limit(self, hidden: torch.Tensor, f0: torch.Tensor) -> torch.Tensor:
        """Maximum voiced frequency ``[batch, time]``, as a share of half the rate."""
        middle = torch.where(f0 > 0, VOICED_LIMIT, UNVOICED_LIMIT)[:, None]
        return interpolated(middle + LIMIT_RANGE * torch.tanh(self.border(hidden)), self.hop)[:, 0]
