"""Content made alike in everybody: its mean and its covariance over a recording tell who speaks.

What is said takes its turns in a recording, who says it and where does not: a vocal tract, an
accent's vowels, a room's noise and a microphone shift and stretch content as a whole. So each
recording's content is moved to the mean and the covariance that content has in everybody's, by the
linear map that moves it least (Olkin and Pukelsheim, Linear Algebra and its Applications 48, 1982:
between Gaussians of covariances K and L it is ``K^-1/2 (K^1/2 L K^1/2)^1/2 K^-1/2``). Subtracting
a recording's mean from its features and dividing by their deviation is as old as recognisers;
instance normalisation does it within a network (Chou et al., "One-shot voice conversion by
separating speaker and content representations with instance normalization", Interspeech 2019).

Only frames in which somebody speaks count. A short recording says little about itself: some frames
of everybody's content are added to its own, so that one of no length stays as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from voicenym.nets.content.bottleneck import EVERY

SPEAKING = -2.8
"""Natural logarithm of power: 12 dB below a recording's average, half of a frame counts."""
STEEPNESS = 2.0
"""How abruptly frames begin to count there."""
FRAMES_OF_MEAN, FRAMES_OF_COVARIANCE = 5.0, 25.0
"""Of everybody's content that are added to a recording's."""
LEAST_VARIANCE = 1e-7


class Map(NamedTuple):
    """How content is moved: from a mean, by a matrix, to another mean."""

    mean: torch.Tensor
    """``[..., size]``."""
    matrix: torch.Tensor
    """``[..., size, size]``."""


class Everybody(torch.nn.Module):
    """The content of everybody in the training data.

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
        """Set by example.

        Args:
            sums: ``[recording, 1 + size + size * size]`` of :func:`counted`.
        """
        weight, first, second = parted(sums.double().sum(0))
        mean = first / weight
        self.mean.copy_(mean)
        self.covariance.copy_(second / weight - mean[:, None] * mean)

    def map(self, sums: torch.Tensor) -> Map:
        """How a recording's content is made alike.

        Args:
            sums: ``[..., 1 + size + size * size]`` float64, of :func:`counted`; of one recording
                each.
        """
        mean, covariance = self.mean.double(), self.covariance.double()
        weight, first, second = parted(sums)
        own = first / weight[..., None].clamp_min(1e-9)
        around = second - weight[..., None, None] * own[..., :, None] * own[..., None, :]
        total = weight[..., None] + FRAMES_OF_MEAN
        moved_from = (first + FRAMES_OF_MEAN * mean) / total
        total = weight[..., None, None] + FRAMES_OF_COVARIANCE
        spread = (around + FRAMES_OF_COVARIANCE * covariance) / total
        root, inverse = _roots(spread)
        between, _ = _roots(root @ covariance @ root)
        return Map(moved_from, inverse @ between @ inverse)

    def forward(self, numbers: torch.Tensor, way: Map) -> torch.Tensor:
        """Content alike: ``[row, frame, size]``, within -1 and 1 as it was.

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
    """What each frame adds to a recording's sums: weight, numbers and their products times it.

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
    """Elements of the sums of content of so many numbers."""
    return 1 + size + size * size


def parted(sums: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Weight ``[...]``, weighted numbers ``[..., size]`` and products ``[..., size, size]``."""
    size = round((sums.shape[-1] - 0.75) ** 0.5 - 0.5)
    return sums[..., 0], sums[..., 1 : 1 + size], sums[..., 1 + size :].unflatten(-1, (size, size))


def _roots(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Of positive matrices ``[..., size, size]``: square root, and its inverse."""
    values, vectors = torch.linalg.eigh(matrix)
    scale = values.clamp_min(LEAST_VARIANCE).sqrt()[..., None, :]
    return (vectors * scale) @ vectors.mT, (vectors / scale) @ vectors.mT
