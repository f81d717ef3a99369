"""Smooth random functions of time that a seed determines: sums of cosines."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch

COSINES = 24
"""Components of a contour."""
PROSODY = (0.2, 4.0)
"""Modulation frequencies in Hz of phrases and accents of speech."""


def random_contours(
    seeds: Iterable[int], seconds: torch.Tensor, hertz: tuple[float, float] = PROSODY
) -> torch.Tensor:
    """Smooth random functions of time, nearly Gaussian of mean 0 and variance 1, ``[row, time]``
    float64.

    Sums of cosines whose frequencies and phases depend on the seed; the value at a time depends on
    nothing else.

    Args:
        seeds: one a row, below 2**63.
        seconds: ``[time]``.
        hertz: least and greatest frequency; the cosines are uniform between them on a logarithmic
            scale.
    """
    slowest, fastest = hertz
    rows = []
    for seed in seeds:
        generator = torch.Generator().manual_seed(int(seed))
        ratio, phase = torch.rand(2, COSINES, generator=generator, dtype=torch.float64)
        rates = slowest * (fastest / slowest) ** ratio
        turns = rates[:, None] * seconds.double() + phase[:, None]
        rows.append((2.0 * math.pi * turns).cos().sum(0) * math.sqrt(2.0 / COSINES))
    return torch.stack(rows) if rows else torch.zeros(0, len(seconds), dtype=torch.float64)
