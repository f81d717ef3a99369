"""Soft units of word codes: mean codebook vectors, weighted by how likely each code is.

A code is the nearest of 512 vectors, and what a sound has between two of them is lost. A soft unit
is a distribution over the codes (van Niekerk et al. 2022, "A comparison of discrete and soft speech
units for improved voice conversion": softmax of similarities over a temperature), here as its mean
vector: a synthesizer that was trained on codebook vectors speaks it as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

SOFTNESS = 0.15
"""Temperature over the mean squared length of the codebook's vectors: a code whose squared distance
is this share more than another's has 1 / e of its weight. Chosen by the words of 84 recordings
(docs/research/pipelines.md)."""


def soft_units(vectors: torch.Tensor, codebooks: Iterable[torch.Tensor]) -> torch.Tensor:
    """Mean codebook vectors ``[..., element]`` of vectors before the quantiser.

    ``p(d|z)`` is proportional to ``exp(-|z - e_d|^2 / T)``, T being :data:`SOFTNESS` of the mean
    ``|e|^2``. A later codebook has what the means of those before leave.

    Args:
        vectors: ``[..., element]``.
        codebooks: ``[code, element]`` each, of a residual quantiser.

    Returns:
        ``[..., element]``.
    """
    rest, total = vectors, torch.zeros_like(vectors)
    for codebook in codebooks:
        lengths = codebook.square().sum(1)
        # |z|^2 is the same for all codes
        distances = lengths - 2.0 * rest @ codebook.T
        mean = torch.softmax(-distances / (SOFTNESS * lengths.mean()), -1) @ codebook
        rest, total = rest - mean, total + mean
    return total
