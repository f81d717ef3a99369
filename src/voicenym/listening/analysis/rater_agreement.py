"""Agreement of listeners: intraclass correlation and Krippendorff's alpha, with intervals."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voicenym.errors import DependencyError
from voicenym.libraries import library
from voicenym.listening.ratings import Rating
from voicenym.metrics.intervals.interval import percentiles
from voicenym.metrics.metric import Measured

REPLICATES = 200


@dataclass(frozen=True)
class Agreement:
    """Agreement of listeners on one question.

    Args:
        single: ICC(2,1) after Shrout and Fleiss: reliability of one listener's rating.
        average: ICC(2,k): reliability of the mean of as many listeners as rated an item.
        alpha: Krippendorff's, ordinal for ratings and nominal for right and wrong.
        raters: k, the mean number of listeners of an item.
        items, listeners: numbers.
    """

    single: Measured
    average: Measured
    alpha: Measured
    raters: float
    items: int
    listeners: int


def agreement(
    ratings: Sequence[Rating], *, nominal: bool = False, level: float = 0.95, seed: int = 0
) -> Agreement | None:
    """Agreement on one question; None where no item has two listeners, or all ratings are equal.

    Items are recordings of systems. Intervals are bootstraps over items.

    Args:
        ratings: of one question.
        nominal: whether scores are classes.
        level: of the intervals.
        seed: of the bootstrap.

    Raises:
        DependencyError: the package for alpha is missing.
    """
    table = matrix(ratings)
    table = table[:, (~np.isnan(table)).sum(0) > 1]  # items that two listeners rated
    table = table[(~np.isnan(table)).any(1)]
    if table.shape[0] < 2 or table.shape[1] < 2 or np.nanstd(table) == 0.0:
        return None
    raters = float((~np.isnan(table)).sum(0).mean())
    rng = np.random.default_rng(seed)
    draws = [table[:, rng.integers(table.shape[1], size=table.shape[1])] for _ in range(REPLICATES)]
    drawn = [icc(one) for one in draws]
    alphas = [_alpha(one, nominal) for one in draws]
    single, average = icc(table)
    return Agreement(
        _measured(single, [one for one, _ in drawn], level),
        _measured(average, [one for _, one in drawn], level),
        _measured(_alpha(table, nominal), alphas, level),
        raters,
        table.shape[1],
        table.shape[0],
    )


def matrix(ratings: Sequence[Rating]) -> np.ndarray:
    """Ratings ``[listener, item]``, NaN where there is none; several are averaged."""
    listeners, who = np.unique([one.listener for one in ratings], return_inverse=True)
    names = [f"{one.system}\0{one.kind}\0{one.utterance}\0{one.other}" for one in ratings]
    items, what = np.unique(names, return_inverse=True)
    sums, counts = np.zeros((2, len(listeners), len(items)))
    np.add.at(sums, (who, what), [one.score for one in ratings])
    np.add.at(counts, (who, what), 1.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / np.where(counts > 0.0, counts, math.nan))


def icc(table: np.ndarray) -> tuple[float, float]:
    """ICC(2,1) and ICC(2,k) of ratings ``[listener, item]`` with gaps.

    Variances of items, listeners and the rest follow from the mean squared differences of two
    ratings of one listener, of one item, and of neither: unbiased for any pattern of gaps, and
    without gaps those of the mean squares of Shrout and Fleiss, "Intraclass correlations",
    Psychological Bulletin 86 (1979).

    Returns:
        NaN where no item has two listeners or no listener two items.

    Example:
        >>> tuple(round(v, 2) for v in icc(np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]])))
        (0.67, 0.8)
    """
    known = ~np.isnan(table)
    x = np.where(known, table, 0.0)
    within_listener = _half_squares(x, known, 1)
    within_item = _half_squares(x, known, 0)
    count, total, squares = known.sum(), x.sum(), (x**2).sum()
    pairs = count**2 - count
    parts = (within_listener, within_item)
    pairs_both = pairs - sum(many for _, many in parts)
    both = count * squares - total**2 - sum(found for found, _ in parts)
    if pairs_both <= 0 or any(many <= 0 for _, many in parts):
        return math.nan, math.nan
    different = both / pairs_both
    # two ratings of one listener differ by items and the rest, two of one item by listeners and
    # the rest, others by all three
    items = different - within_item[0] / within_item[1]
    rest = different - items
    raters = count / known.any(0).sum()
    if items + rest <= 0.0:
        return math.nan, math.nan
    return float(items / (items + rest)), float(items / max(items + rest / raters, 1e-300))


def _half_squares(x: np.ndarray, known: np.ndarray, axis: int) -> tuple[float, float]:
    """Sum of (a - b)^2 / 2 over ordered pairs in each line, and their number."""
    count, total, squares = known.sum(axis), x.sum(axis), (x**2).sum(axis)
    return float((count * squares - total**2).sum()), float((count**2 - count).sum())


def _alpha(table: np.ndarray, nominal: bool) -> float:
    try:
        alpha: Any = library("krippendorff").alpha
    except ImportError as error:
        raise DependencyError("Krippendorff's alpha: pip install 'voicenym[listen]'") from error
    kind = "nominal" if nominal else "ordinal"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return float(alpha(reliability_data=table, level_of_measurement=kind))
        except ValueError:  # a replicate with one value alone
            return math.nan


def _measured(value: float, drawn: Sequence[float], level: float) -> Measured:
    low, high = (
        None if math.isnan(limit) else limit for limit in percentiles(np.array(drawn), level)
    )
    return Measured(value, low, high)
