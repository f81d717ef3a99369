"""F0 predicted from content: a distribution of F0 and voicing for every frame, and draws from it.

A copied F0 contour identifies speakers even after its mean and deviation are changed. This network
predicts voicing, and mean and deviation of normalised ln F0, from content alone; a key draws a
contour within the predicted deviation. Nothing of the speaker's own contour enters.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from voicenym.dsp.random_contours import random_contours
from voicenym.nets.architectures import Kinds
from voicenym.nets.synthesis.content_network import ContentNetwork

RATE = 16_000
LEAST_DEVIATION = 0.05
"""Of normalised ln F0, so that the likelihood is bounded."""
FARTHEST = 3.0
"""Largest drawn deviation from the speaker's mean, in the speaker's deviations."""


class PredictedF0(NamedTuple):
    """Distribution of F0, of frames ``[batch, frame]``.

    Args:
        voicing: logit of the probability that a frame is voiced.
        mean, deviation: of ln F0, normalised to mean 0 and deviation 1 of the speaker.
    """

    voicing: torch.Tensor
    mean: torch.Tensor
    deviation: torch.Tensor


class F0Predictor(ContentNetwork):
    """ConvNeXt network from content frames to a distribution of F0.

    Args:
        content: elements of a content frame.
        every: F0 frames of a content frame.
        hop: samples of an F0 frame.
        width, inner, blocks, kernel: of the ConvNeXt blocks, at the rate of content.

    Raises:
        ValueError: sizes below 1, or an even kernel.
    """

    kind = "f0-predictor"

    def __init__(
        self,
        content: int,
        every: int = 1,
        hop: int = 160,
        width: int = 192,
        inner: int = 384,
        blocks: int = 6,
        kernel: int = 9,
    ) -> None:
        outputs = 3 * every
        super().__init__(content, outputs, width, inner, blocks, kernel, every=every, hop=hop)
        self.every, self.hop = every, hop

    def forward(self, content: torch.Tensor, lengths: torch.Tensor | None = None) -> PredictedF0:
        """Distribution for ``every`` F0 frames of each content frame.

        Args:
            content: ``[batch, frame, element]``.
            lengths: ``[batch]``, content frames of each row; None where all are whole. A row does
                not depend on what follows its end.
        """
        return self._distribution(self.numbers(content, lengths))

    def _distribution(self, numbers: torch.Tensor) -> PredictedF0:
        """Distribution for F0 frames of outputs ``[batch, content frame, output]``."""
        found = numbers.unflatten(2, (self.every, 3)).flatten(1, 2)
        voicing, mean, deviation = found.unbind(2)
        return PredictedF0(voicing, mean, torch.nn.functional.softplus(deviation) + LEAST_DEVIATION)

    def drawn(
        self,
        content: torch.Tensor,
        mean: torch.Tensor,
        std: torch.Tensor,
        seeds: torch.Tensor,
        start: int = 0,
        wanted: slice | None = None,
    ) -> torch.Tensor:
        """A contour drawn from the distribution, ``[batch, frame]`` in Hz, 0 where unvoiced.

        A frame's random part depends on its position in the recording and the seed alone, so that
        windows of a recording fit each other.

        Args:
            content: ``[batch, content frame, element]``.
            mean, std: of ln F0 of the target voices, ``[batch]``.
            seeds: ``[batch]`` int64.
            start: F0 frame at which the content begins.
            wanted: content frames for which a contour is wanted, at the cost of what it depends on;
                None for all.
        """
        if wanted is None:
            found = self(content)
        else:
            found = self._distribution(self.some_numbers(content, wanted))
            start += wanted.indices(content.shape[1])[0] * self.every
        seconds = (start + torch.arange(found.mean.shape[1])) * (self.hop / RATE)
        noise = random_contours(seeds.tolist(), seconds).to(found.mean)
        z = (found.mean + found.deviation * noise).clamp(-FARTHEST, FARTHEST)
        f0 = (mean[:, None] + std[:, None] * z).exp()
        return torch.where(found.voicing > 0, f0, 0.0)


KINDS: Kinds[F0Predictor] = Kinds(
    "F0 predictor", {F0Predictor.kind: "voicenym.nets.synthesis.f0_predictor:F0Predictor"}
)
make, save, load = KINDS.make, KINDS.save, KINDS.load
