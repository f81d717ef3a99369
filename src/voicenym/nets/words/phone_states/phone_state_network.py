"""Time-delay network for frame-level classification of phone states, every 30 ms.

A time-delay neural network (Waibel et al. 1989; Peddinti, Povey and Khudanpur, Interspeech 2015):
dilated convolutions over time, here with residual connections, at a third of the spectrum's frame
rate from the second layer on, as in lattice-free models (Povey et al., Interspeech 2016). Training
uses frame-level targets, which takes a fraction of the time of a flat start with CTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from voicenym.nets.masked_batch import MaskedBatchNorm, valid
from voicenym.nets.words.log_mel import HOP, RATE, mels, normalised

EVERY = 3
FRAME = EVERY * HOP / RATE
"""Seconds from one frame of scores to the next."""


@dataclass(frozen=True)
class FrameNetConfig:
    """Sizes of the network.

    Args:
        tokens: states of the output.
        bands: of the mel spectrum.
        width: channels of layers.
        gaps: dilations of the residual layers, in frames of 30 ms.
        dropout: share of channels that is left out of whole recordings while training.
    """

    tokens: int
    bands: int = 64
    width: int = 256
    gaps: Sequence[int] = (1, 1, 1, 2, 1, 3, 1, 3)
    dropout: float = 0.15

    def __post_init__(self) -> None:
        if min(self.gaps, default=1) < 1:
            raise ValueError("gaps are 1 or more")
        object.__setattr__(self, "gaps", tuple(self.gaps))


class FrameNet(torch.nn.Module):
    """Phone-state network: logits of recordings, a frame every 30 ms, the first at time 0.

    Args:
        config: sizes.

    Example:
        >>> net = FrameNet(FrameNetConfig(tokens=79, width=16, gaps=(1,))).eval()
        >>> logits, frames = net(torch.zeros(2, 16_000), torch.tensor([16_000, 8_000]))
        >>> list(logits.shape), frames.tolist()
        ([2, 34, 79], [34, 17])
    """

    def __init__(self, config: FrameNetConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.mel = mels(config.bands)
        self.fine = torch.nn.Conv1d(config.bands, width, 3, padding=1)
        self.fine_norm = MaskedBatchNorm(width)
        self.coarse = torch.nn.Conv1d(width, width, 5, stride=EVERY, padding=2)
        self.coarse_norm = MaskedBatchNorm(width)
        self.layers = torch.nn.ModuleList(
            [Residual(width, gap, config.dropout) for gap in config.gaps]
        )
        self.output = torch.nn.Linear(width, config.tokens)

    def features(
        self, samples: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log mel frames with mean 0 and deviation 1 in each band and recording, zeros after its
        end.

        Args:
            samples: ``[batch, time]`` at 16 kHz, zeros behind each recording.
            lengths: ``[batch]`` in samples.

        Returns:
            ``[batch, frame, band]`` and frames ``[batch]``, of 10 ms.
        """
        return normalised(self.mel, samples, lengths)

    def logits(
        self, features: torch.Tensor, frames: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits ``[batch, frame / 3, token]`` of :meth:`features`, and numbers of frames
        ``[batch]``.
        """
        x = torch.relu(self.fine(features.transpose(1, 2))).transpose(1, 2)
        x = self.fine_norm(x, valid(frames, x.shape[1]))
        frames = coarse(frames)
        x = torch.relu(self.coarse(x.transpose(1, 2))).transpose(1, 2)
        mask = valid(frames, x.shape[1])
        x = self.coarse_norm(x, mask)
        for layer in self.layers:
            x = layer(x, mask)
        return self.output(x), frames

    def forward(
        self, samples: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of states ``[batch, frame, token]`` of recordings, and numbers of frames
        ``[batch]``.
        """
        return self.logits(*self.features(samples, lengths))

    def freeze(self) -> FrameNet:
        """Freezes weights and statistics for use in a loss; returns the network."""
        return self.eval().requires_grad_(False)


class Residual(torch.nn.Module):
    """Residual layer: dilated convolution of three taps, rectifier, batch normalisation."""

    def __init__(self, width: int, gap: int, dropout: float) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv1d(width, width, 3, dilation=gap, padding=gap)
        self.norm = MaskedBatchNorm(width)
        self.dropout = dropout

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """``[batch, frame, width]`` to the same, zeros where ``mask`` is false."""
        y = torch.relu(self.convolution(x.transpose(1, 2))).transpose(1, 2)
        y = self.norm(y, mask)
        if self.training and self.dropout:
            kept = 1.0 - self.dropout
            y = y * (torch.rand(y.shape[0], 1, y.shape[2], device=y.device) < kept) / kept
        return x + y


def coarse(frames: torch.Tensor) -> torch.Tensor:
    """Number of 30 ms frames of so many 10 ms frames."""
    return frames.add(EVERY - 1).div(EVERY, rounding_mode="floor")
