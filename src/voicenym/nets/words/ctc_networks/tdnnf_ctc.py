"""TDNN-F recogniser with CTC, which trains the bottleneck features of
:mod:`voicenym.nets.content.tdnnf`.

A layer widens the bottleneck again, as in Kaldi before the output, and every third frame is kept:
30 ms, the rate of lattice-free models (Povey et al., Interspeech 2016).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch

from voicenym.nets.content.content_encoder import RATE
from voicenym.nets.content.tdnnf import HOP, TdnnF, TdnnFConfig
from voicenym.nets.masked_batch import MaskedBatchNorm, valid

EVERY = 3
"""Bottleneck frames per output frame."""
FRAME = EVERY * HOP / RATE


@dataclass(frozen=True)
class TdnnFRecogniserConfig(TdnnFConfig):
    """Sizes of a TDNN-F and the number of its tokens.

    Args:
        tokens: of the output, CTC's blank included.
    """

    tokens: int = 29

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.every != 1:
            raise ValueError(f"every is 1 in a recogniser with CTC, not {self.every}")


class TdnnFRecogniser(torch.nn.Module):
    """TDNN-F recogniser: CTC logits of recordings, a frame every 30 ms.

    Args:
        config: sizes.
    """

    def __init__(self, config: TdnnFRecogniserConfig) -> None:
        super().__init__()
        self.config = config
        options: dict[str, Any] = asdict(config)
        tokens = options.pop("tokens")
        self.content = TdnnF(**options)
        self.widen = torch.nn.Linear(config.size, config.width)
        self.norm = MaskedBatchNorm(config.width)
        self.output = torch.nn.Linear(config.width, tokens)

    def features(
        self, samples: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Normalised log mel bands.

        Args:
            samples: ``[batch, time]`` at 16 kHz, zeros behind each recording.
            lengths: ``[batch]`` in samples.

        Returns:
            ``[batch, frame, band]`` and frames ``[batch]``.
        """
        samples = torch.nn.functional.pad(samples, (0, -samples.shape[1] % HOP))
        frames = lengths.add(HOP - 1).div(HOP, rounding_mode="floor")
        return self.content.features(samples, frames), frames

    def bottleneck(self, features: torch.Tensor, frames: torch.Tensor) -> torch.Tensor:
        """Bottleneck features ``[batch, frame, size]``."""
        return self.content.through(features, frames)

    def scores(
        self, bottleneck: torch.Tensor, frames: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits ``[batch, frame / 3, token]`` of :meth:`bottleneck`, and numbers of frames
        ``[batch]``.
        """
        x = bottleneck[:, ::EVERY]
        frames = frames.add(EVERY - 1).div(EVERY, rounding_mode="floor")
        x = self.norm(torch.relu(self.widen(x)), valid(frames, x.shape[1]))
        return self.output(x), frames

    def logits(
        self, features: torch.Tensor, frames: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits ``[batch, frame / 3, token]`` of :meth:`features`, and numbers of frames
        ``[batch]``.
        """
        return self.scores(self.bottleneck(features, frames), frames)

    def forward(
        self, samples: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits ``[batch, frame, token]`` of recordings, and numbers of frames ``[batch]``."""
        return self.logits(*self.features(samples, lengths))
