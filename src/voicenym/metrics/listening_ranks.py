"""Ranks of listeners' scores, and the Mann-Whitney test of two systems.

Rosenberg and Ramabhadran, "Bias and statistical significance in evaluating speech synthesis with
mean opinion scores", Interspeech 2017; used by Tomashenko et al. 2022 (section 4.2) and by Turner
et al. 2022 (appendix B).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.trials.scores import Array


@dataclass(frozen=True)
class MannWhitney:
    """Mann-Whitney test.

    Args:
        u: pairs in which the first sample is greater, and half of the equal ones.
        p: two-sided, by the normal approximation with ties and continuity.
    """

    u: float
    p: float


def ranks(scores: npt.ArrayLike) -> Array:
    """Ranks from 1, ties averaged.

    Example:
        >>> ranks([10.0, 20.0, 20.0]).tolist()
        [1.0, 2.5, 2.5]
    """
    x = np.asarray(scores, dtype=np.float64)
    _, place, count = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    found: Array = (last - (count - 1) / 2.0)[place]
    return found


def normalised_ranks(scores: npt.ArrayLike, groups: Sequence[Hashable]) -> Array:
    """Normalised ranks (rank - 1) / N within each group, ties averaged: 0 to below 1.

    With the listener as the group they remove differences in the use of the scale.

    Args:
        scores: ``[answer]``.
        groups: of each answer.

    Raises:
        ScoreError: a score that is not finite, or lengths that differ.

    Example:
        >>> normalised_ranks([2, 1, 2, 10, 4, 5, 6, 4, 5, 7], ["ann"] * 10).tolist()
        [0.15, 0.0, 0.15, 0.9, 0.35, 0.55, 0.7, 0.35, 0.55, 0.8]
    """
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim != 1 or len(x) != len(groups):
        raise ScoreError(f"{x.shape} scores of {len(groups)} answers: give one for each")
    if not np.isfinite(x).all():
        raise ScoreError("a listener's score is not a finite number")
    found = np.empty(len(x))
    members: dict[Hashable, list[int]] = {}
    for index, group in enumerate(groups):
        members.setdefault(group, []).append(index)
    for places in members.values():
        found[places] = (ranks(x[places]) - 1.0) / len(places)
    return found


def mann_whitney(first: npt.ArrayLike, second: npt.ArrayLike) -> MannWhitney:
    """Two-sided Mann-Whitney test of two samples.

    Args:
        first, second: samples ``[answer]``.

    Raises:
        ScoreError: an empty sample.

    Example:
        >>> mann_whitney([1.0, 2.0], [3.0, 4.0]).u
        0.0
    """
    a, b = (np.asarray(x, dtype=np.float64) for x in (first, second))
    if not a.size or not b.size:
        raise ScoreError("a Mann-Whitney test needs scores in both samples")
    both = np.concatenate([a, b])
    order = ranks(both)
    u = float(order[: a.size].sum() - a.size * (a.size + 1) / 2.0)
    _, tied = np.unique(both, return_counts=True)
    return MannWhitney(u, p_of(u, a.size, b.size, tied))


def p_of(u: float, first: int, second: int, tied: npt.ArrayLike = ()) -> float:
    """Two-sided p of a U statistic by the normal approximation.

    Args:
        u: of one of the samples; that of the other one is ``first * second - u``.
        first, second: sizes of the samples.
        tied: sizes of the groups of equal scores; none is a test without ties.

    Returns:
        1 where all scores are equal.
    """
    n = first + second
    t = np.asarray(tied, dtype=np.float64)
    ties = float((t**3 - t).sum()) / (n * (n - 1)) if n > 1 else 0.0
    variance = first * second / 12.0 * (n + 1 - ties)
    if variance <= 0.0:
        return 1.0
    z = max(0.0, abs(u - first * second / 2.0) - 0.5) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2.0))


def holm(p: npt.ArrayLike) -> Array:
    """P-values after Holm's correction, which bounds the chance of any false finding.

    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6 (1979).

    Args:
        p: of each test, ``[test]``.

    Example:
        >>> holm([0.01, 0.04, 0.03]).tolist()
        [0.03, 0.06, 0.06]
    """
    x = np.asarray(p, dtype=np.float64)
    order = np.argsort(x, kind="stable")
    steps = x[order] * np.arange(len(x), 0, -1)
    found = np.empty(len(x))
    found[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if len(x) else steps
    return found
