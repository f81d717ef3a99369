"""Durations predicted from content: how long each frame would last in typical speech.

Speaking rate, pauses and durations of sounds identify speakers. This network predicts, from content
alone, the ratio of a sound's typical duration to the one that it has; with it, a phrase gets the
duration that its sounds have on average, whoever spoke it (duration predictors of speech synthesis,
Ren et al., "FastSpeech", NeurIPS 2019, predict durations of phones from text).
"""

from __future__ import annotations

import torch

from voicenym.nets.architectures import Kinds
from voicenym.nets.synthesis.content_network import ContentNetwork

MOST = 1.2
"""Largest magnitude of the logarithm of a ratio: 3.3 times as long or as short."""


class DurationPredictor(ContentNetwork):
    """ConvNeXt network from content frames to ratios of durations.

    Args:
        content: elements of a content frame.
        hop: samples of a content frame.
        width, inner, blocks, kernel: of the ConvNeXt blocks.

    Raises:
        ValueError: sizes below 1, or an even kernel.
    """

    kind = "duration-predictor"

    def __init__(
        self,
        content: int,
        hop: int,
        width: int = 64,
        inner: int = 128,
        blocks: int = 2,
        kernel: int = 9,
    ) -> None:
        super().__init__(content, 1, width, inner, blocks, kernel, hop=hop)
        self.hop = hop

    def forward(self, content: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Logarithms of the ratios, ``[batch, frame]``, within :data:`MOST`.

        Args:
            content: ``[batch, frame, element]``.
            lengths: ``[batch]``, frames of each row; None where all are whole. A row does not
                depend on what follows its end.
        """
        found = self.numbers(content, lengths)[:, :, 0]
        return MOST * torch.tanh(found / MOST)

    @torch.inference_mode()
    def ratios(self, content: torch.Tensor) -> torch.Tensor:
        """Typical durations as shares of those in the content, ``[batch, frame]``."""
        return self(content).exp()


KINDS: Kinds[DurationPredictor] = Kinds(
    "duration predictor",
    {DurationPredictor.kind: "voicenym.nets.synthesis.duration_predictor:DurationPredictor"},
)
make, save, load = KINDS.make, KINDS.save, KINDS.load
