"""Additive angular margin softmax (AAM-softmax), the loss of speaker encoders."""

from __future__ import annotations

import math

import torch


class AngularMargin(torch.nn.Module):
    """Cross-entropy over ``s cos(theta + m)`` for the speaker and ``s cos(theta)`` for the others.

    Deng, Guo, Xue, Zafeiriou, "ArcFace", CVPR 2019, equation 3.

    Args:
        size: of the vectors.
        classes: speakers.
        scale: s.
        margin: m, in radians; may be changed while training.
    """

    def __init__(self, size: int, classes: int, scale: float = 30.0, margin: float = 0.2) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(classes, size))
        torch.nn.init.xavier_normal_(self.weight)
        self.scale, self.margin = scale, margin

    def forward(self, vectors: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Mean loss in nats of ``[crop, size]`` and labels ``[crop]``."""
        return torch.nn.functional.cross_entropy(self.logits(vectors, labels), labels)

    def logits(self, vectors: torch.Tensor, labels: torch.Tensor | None = None) -> torch.Tensor:
        """``[crop, class]``; the margin is added where labels are given."""
        normal = torch.nn.functional.normalize
        # In single precision: near one, a half-precision cosine cannot resolve the angle.
        with torch.autocast(vectors.device.type, enabled=False):
            cosine = normal(vectors.float(), dim=1) @ normal(self.weight.float(), dim=1).T
            if labels is None or self.margin == 0.0:
                return self.scale * cosine
            sine = (1.0 - cosine.square()).clamp_min(1e-7).sqrt()
            turned = cosine * math.cos(self.margin) - sine * math.sin(self.margin)
            # Beyond pi - m the cosine rises again: it is continued by a falling line.
            beyond = cosine < -math.cos(self.margin)
            line = cosine - self.margin * math.sin(self.margin)
            own = torch.nn.functional.one_hot(labels, cosine.shape[1]).bool()
            return self.scale * torch.where(own, torch.where(beyond, line, turned), cosine)
