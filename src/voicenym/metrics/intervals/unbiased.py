"""Intervals of figures that chance moves in one direction, from bootstrap replicates.

Few trials make scores look more informative than they are: bins and steps of PAV fit noise. A
replicate, which repeats trials, has more of it, so that percentiles of replicates may lie beyond
the truth altogether.
"""

from __future__ import annotations

import math

from voicenym.metrics.interval_options import few_speakers_factor
from voicenym.metrics.intervals.interval import Interval, percentiles
from voicenym.metrics.trials.scores import Array


def unbiased(
    value: float,
    draws: Array,
    level: float = 0.95,
    most: float = 1.0,
    people: int | None = None,
) -> tuple[float, Interval]:
    """A figure of information without its bias, and its interval, from bootstrap replicates.

    Such a figure is 0 where scores say nothing, and chance makes it greater. Where nothing is
    linked D_sys, for example, is a mean of max(0, noise), and so proportional to the noise's
    deviation; a replicate has the noise twice, so that its square is doubled. Where much is linked,
    figure and replicate exceed the truth by v and 2 v for some small variance v. In both cases the
    square of the truth is 2 value^2 - mean(draws)^2, up to the square of v. Its limits are the
    squares of the value's, which lie as far from it as the replicates' from their mean, less the
    same difference.

    In simulations of D_sys (24 and 60 speakers, Gaussian scores 0 to 4 deviations apart, trials
    independent or not) intervals of 95 % hold the truth in 87 to 100 % of cases; percentiles of the
    replicates hold it in none where nothing is linked, and in one of ten where D_sys is 0.045.
    Where it is missed, it mostly lies above: a bootstrap of few speakers is too narrow. With
    ``people`` the distances are wider by :func:`.few_speakers_factor`, and the upper one, which
    shows most of the speakers, is no shorter than the lower.

    Args:
        value: the figure of the trials.
        draws: of the replicates.
        level: of the interval.
        most: the largest figure that there can be.
        people: number of speakers; None leaves the distances as they are drawn.

    Returns:
        The figure without its bias, and an interval that holds ``value``.
    """
    mean = float(draws.mean())
    low, high = percentiles(draws, level)
    excess = mean * mean - value * value
    down, up = high - mean, mean - low
    if people is not None:
        wider = few_speakers_factor(people, level)
        down, up = wider * down, wider * max(down, up)
    below, above = max(0.0, value - down), value + up
    squares = (x * x - excess for x in (value, below, above))
    corrected, lower, upper = (math.sqrt(max(0.0, x)) for x in squares)
    return min(corrected, most), (min(lower, value), max(min(upper, most), value))


def unbiased_loss(value: float, draws: Array, most: float, level: float = 0.95) -> Interval:
    """The interval of a loss that is ``most`` without information, and too low by chance.

    Where scores say little, limits are those of :func:`unbiased` for the rest of the loss. Where
    they say much, few trials of few speakers bear the loss, so that replicates spread in proportion
    to it, and a replicate, which repeats speakers whole, adds only 0.4 of the bias that few
    speakers have. The upper limit is therefore at least high (value / mean)^2 of the replicates,
    plus twice the bias that they show.

    In simulations of min C_llr, D_ECE and ROCCH-EER (20 to 50 speakers with 3 or 5 recordings,
    Gaussian scores 0 to 4 deviations apart, trials independent or not) intervals of 95 % hold the
    truth in 86 to 99 % of cases; without the last two parts in 67 to 99 %, the fewest where the
    equal error rate is 3 %; percentiles in none where the scores say nothing.

    Args:
        value: the loss of the trials, such as min C_llr in bits.
        draws: of the replicates.
        most: the loss without information.
        level: of the interval.

    Example:
        >>> import numpy as np
        >>> low, high = unbiased_loss(0.5, np.array([0.42, 0.47, 0.52]), 1.0)
        >>> round(low, 3), round(high, 3)
        (0.479, 0.649)
    """
    _, (low, high) = unbiased(most - value, most - draws, level, most)
    mean, upper = float(draws.mean()), most - low
    if mean > 0.0:
        upper = max(upper, percentiles(draws, level)[1] * (value / mean) ** 2)
    upper = min(upper + 2.0 * max(0.0, value - mean), most)
    # differences of differences are rounded
    return min(most - high, value), max(upper, value)
