"""Content normalisation: mean and covariance of content features are matched to global ones.

Words change within a recording, the speaker and the channel do not: vocal tract, accent, room noise
and microphone shift and stretch the content features as a whole. The mean and covariance of a
recording's content are therefore mapped to those of the training data by the linear map of least
displacement, the optimal transport map between Gaussians (Olkin and Pukelsheim, Linear Algebra and
its Applications 48, 1982: between Gaussians of covariances K and L it is ``K^-1/2 (K^1/2 L
K^1/2)^1/2 K^-1/2``). Mean and variance normalisation of features is standard in speech recognition;
instance normalisation does it within a network (Chou et al., "One-shot voice conversion by
separating speaker and content representations with instance normalization", Interspeech 2019).

Only speech frames count. The statistics of a short recording are unreliable: some frames with
global statistics are added to them, so that an empty recording is left unchanged.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from voicenym.nets.content.bottleneck import EVERY

SPEAKING = -2.8
"""Log power, 12 dB below a recording's average, at which a frame has half weight."""
STEEPNESS = 2.0
"""Steepness of the weight at that level."""
FRAMES_OF_MEAN, FRAMES_OF_COVARIANCE = 5.0, 25.0
"""Frames with the global statistics that are added to a recording's."""
LEAST_VARIANCE = 1e-7


class Map(NamedTuple):
    """Affine map of content features: from a mean, by a matrix, to another mean."""

    mean: torch.Tensor
    """``[..., size]``."""
    matrix: torch.Tensor
    """``[..., size, size]``."""


class ContentStatistics(torch.nn.Module):
    """Global statistics of content features in the training data.

    Args:
        size: numbers of a content frame.

    Attributes:
        mean: ``[size]``.
        covariance: ``[size, size]``.
    """

    mean: torch.Tensor
    covariance: torch.Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("covariance", torch.eye(size))

    def learn(self, sums: torch.Tensor) -> None:
        """Estimates the statistics.

        Args:
            sums: ``[recording, 1 + size + size * size]`` of :func:`counted`.
        """
        weight, first, second = unpacked(sums.double().sum(0))
        mean = first / weight
        self.mean.copy_(mean)
        self.covariance.copy_(second / weight - mean[:, None] * mean)

    def map(self, sums: torch.Tensor) -> Map:
        """Normalising map of recordings.

        Args:
            sums: ``[..., 1 + size + size * size]`` float64, of :func:`counted`; of one recording
                each.
        """
        mean, covariance = self.mean.double(), self.covariance.double()
        weight, first, second = unpacked(sums)
        own = first / weight[..., None].clamp_min(1e-9)
        covariances = second - weight[..., None, None] * own[..., :, None] * own[..., None, :]
        total = weight[..., None] + FRAMES_OF_MEAN
        moved_from = (first + FRAMES_OF_MEAN * mean) / total
        total = weight[..., None, None] + FRAMES_OF_COVARIANCE
        spread = (covariances + FRAMES_OF_COVARIANCE * covariance) / total
        root, inverse = _roots(spread)
        between, _ = _roots(root @ covariance @ root)
        return Map(moved_from, inverse @ between @ inverse)

    def forward(self, numbers: torch.Tensor, way: Map) -> torch.Tensor:
        """Normalised content ``[row, frame, size]``, within -1 and 1.

        Args:
            numbers: ``[row, frame, size]``, noise not yet added.
            way: of :meth:`map`, for rows or for their frames.
        """
        mean, matrix = way
        if mean.dim() < numbers.dim():
            mean, matrix = mean[:, None], matrix[:, None]
        moved = (matrix @ (numbers.double() - mean)[..., None])[..., 0] + self.mean.double()
        return moved.clamp(-1.0, 1.0).to(numbers)


def counted(numbers: torch.Tensor, level: torch.Tensor) -> torch.Tensor:
    """Contributions of each frame to a recording's sums: weight, weighted features and weighted
    products.

    Args:
        numbers: ``[row, frame, size]``, without noise.
        level: ``[row, frame * 2]``, natural logarithm of power, less the recording's average.

    Returns:
        ``[row, frame, 1 + size + size * size]`` float64.
    """
    mean = level.double().unflatten(1, (-1, EVERY)).exp().mean(2).clamp_min(1e-9).log()
    weight = torch.sigmoid(STEEPNESS * (mean - SPEAKING))[..., None]
    numbers = numbers.double()
    products = (numbers[..., :, None] * numbers[..., None, :]).flatten(2)
    return torch.cat([weight, weight * numbers, weight * products], dim=2)


def width(size: int) -> int:
    """Number of elements of the sums for content of a given size."""
    return 1 + size + size * size


def unpacked(sums: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sums split into weight ``[...]``, weighted features ``[..., size]`` and products ``[...,
    size, size]``.
    """
    size = round((sums.shape[-1] - 0.75) ** 0.5 - 0.5)
    return sums[..., 0], sums[..., 1 : 1 + size], sums[..., 1 + size :].unflatten(-1, (size, size))


def _roots(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Square root and inverse square root of positive definite matrices ``[..., size, size]``."""
    values, vectors = torch.linalg.eigh(matrix)
    scale = values.clamp_min(LEAST_VARIANCE).sqrt()[..., None, :]
    return (vectors * scale) @ vectors.mT, (vectors / scale) @ vectors.mT
