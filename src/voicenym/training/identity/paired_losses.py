"""Losses of speakers and pseudo-speakers as classes (Miao et al., 2023, section III-D)."""

from __future__ import annotations

import math

import torch

from voicenym.training.speakers.margin_softmax import AngularMargin


class PairedMargin(AngularMargin):
    """Weighted additive angular margin (w-AAM) softmax, equation 14.

    Speaker y is class y, the pseudo-speaker of y class y + C; each is the other's pair. The
    logit of the own class is ``s cos(theta + m1)``, that of the pair ``s cos(theta - m2)``, and
    those of all others ``s cos(theta)``. With m2 = 0 it is AAM softmax over 2C classes, equation
    13. In the sum of the equation's Z, the indices are those of the two classes, not of samples.

    Args:
        size: of the vectors.
        speakers: C.
        scale: s.
        margin: m1, in radians.
        pair_margin: m2, in radians.
    """

    def __init__(
        self,
        size: int,
        speakers: int,
        scale: float = 30.0,
        margin: float = 0.2,
        pair_margin: float = 0.2,
    ) -> None:
        super().__init__(size, 2 * speakers, scale, margin)
        self.speakers, self.pair_margin = speakers, pair_margin

    def logits(self, vectors: torch.Tensor, labels: torch.Tensor | None = None) -> torch.Tensor:
        """Logits ``[row, class]``; with labels 0 to 2C - 1, margins are applied."""
        normal = torch.nn.functional.normalize
        # In single precision: near one, a half-precision cosine cannot resolve the angle.
        with torch.autocast(vectors.device.type, enabled=False):
            cosine = normal(vectors.float(), dim=1) @ normal(self.weight.float(), dim=1).T
            if labels is None:
                return self.scale * cosine
            classes = torch.stack((labels, (labels + self.speakers) % (2 * self.speakers)), dim=1)
            own, pair = cosine.gather(1, classes).unbind(1)
            moved = torch.stack(
                (_turned(own, self.margin), -_turned(-pair, self.pair_margin)), dim=1
            )
            return self.scale * cosine.scatter(1, classes, moved)


def _turned(cosine: torch.Tensor, margin: float) -> torch.Tensor:
    """``cos(theta + margin)``; beyond pi - margin, where the cosine rises again, a falling line.

    Its mirror image, ``-turned(-cosine)``, is ``cos(theta - margin)``, and a line below margin.
    """
    sine = (1.0 - cosine.square()).clamp_min(1e-7).sqrt()
    turned = cosine * math.cos(margin) - sine * math.sin(margin)
    line = cosine - margin * math.sin(margin)
    return torch.where(cosine < -math.cos(margin), line, turned)


def likeness(original: torch.Tensor, turned: torch.Tensor, margin: float = 0.0) -> torch.Tensor:
    """Mean of ``max(0, cos - margin)`` between vectors and their pseudo-speakers, ``[row, size]``.

    The L_s of Miao et al. (2023) (equation 5), whose margin is 0.
    """
    cosine = torch.nn.functional.cosine_similarity(original, turned, dim=1)
    return (cosine - margin).clamp_min(0.0).mean()
