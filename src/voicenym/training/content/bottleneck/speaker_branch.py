"""Speaker branch of a content bottleneck, against which its network learns.

M1c1 of the VoicePrivacy Challenge 2020 (Champion, Jouvet, Larcher) hides the speaker in the
bottleneck of a recogniser: a branch classifies speakers by the bottleneck, and the network learns
against it by gradient reversal (Ganin et al., JMLR 2016). Its architecture and weight are not in
the challenge's papers: the branch here uses means and deviations over the utterance, and its
weight, which grows as Ganin's does, is a setting.
"""

from __future__ import annotations

import math

import torch

from voicenym.nets.gradient_reversal import reversed_gradient
from voicenym.nets.masked_batch import valid

STEEPNESS = 10.0
"""Steepness of the adversary's weight: 2 / (1 + exp(-10 p)) - 1 after a share p."""
LEAST_VARIANCE = 1e-6


def growth(share: float) -> float:
    """Share of the adversary's weight after a share of the training.

    Example:
        >>> growth(0.0), round(growth(0.1), 2), round(growth(1.0), 2)
        (0.0, 0.46, 1.0)
    """
    return 2.0 / (1.0 + math.exp(-STEEPNESS * share)) - 1.0


class SpeakerBranch(torch.nn.Module):
    """Classifies the speakers of utterances by means and deviations of their frames.

    Args:
        size: elements of a frame.
        speakers: classes.
        units: of the hidden layer.
    """

    def __init__(self, size: int, speakers: int, units: int) -> None:
        super().__init__()
        self.hidden = torch.nn.Linear(2 * size, units)
        self.output = torch.nn.Linear(units, speakers)

    def forward(self, x: torch.Tensor, frames: torch.Tensor) -> torch.Tensor:
        """Scores ``[batch, speaker]`` of ``[batch, frame, size]``, of which ``frames`` count."""
        x = x.float()
        mask = valid(frames, x.shape[1])[..., None]
        count = frames.clamp_min(1)[:, None]
        mean = (x * mask).sum(1) / count
        variance = ((x - mean[:, None]) * mask).square().sum(1) / count
        statistics = torch.cat([mean, (variance + LEAST_VARIANCE).sqrt()], dim=1)
        return self.output(torch.relu(self.hidden(statistics)))

    def against(
        self, x: torch.Tensor, frames: torch.Tensor, speakers: torch.Tensor, weight: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The branch's cross-entropy, whose gradient comes back reversed, and the share of
        utterances of which it knows the speaker.

        Args:
            x: ``[batch, frame, size]``.
            frames: that count, ``[batch]``.
            speakers: their numbers, ``[batch]``.
            weight: of the reversed gradient.
        """
        logits = self(reversed_gradient(x, weight), frames).float()
        found = torch.nn.functional.cross_entropy(logits, speakers)
        return found, (logits.argmax(1) == speakers).float().mean()
