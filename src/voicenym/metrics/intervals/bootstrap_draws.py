"""Joint bootstrap of several figures: each replicate draws the speakers once for all of them.

Figures of the same speakers are correlated. Differences between systems, and means over parts of a
benchmark, have correct intervals only if a replicate uses the same speakers for all figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.interval_options import checked_replicates
from voicenym.metrics.trials.scores import Array
from voicenym.metrics.trials.speaker_pairs import Places, SpeakerPairs


@dataclass(frozen=True)
class Drawn:
    """A figure as a function of how often each speaker was drawn.

    Args:
        value: with every speaker drawn once.
        speakers: that it depends on, without duplicates: names, or numbers that mean the same in
            all figures that are drawn together.
        again: the figure from how often each of ``speakers`` was drawn, ``[speaker]``; NaN where
            too few trials are left.
        every: the same of several replicates at once, ``[replicate, speaker]`` to ``[replicate]``;
            None where there is no quicker way than one after another.
        trials: number of the trials of which the figure is the share of errors; 0 of others.
    """

    value: float
    speakers: np.ndarray
    again: Callable[[Array], float]
    every: Callable[[Array], Array] | None = None
    trials: int = 0

    def all(self, times: Array) -> Array:
        """The figure of each replicate, ``[replicate]``.

        Args:
            times: how often each speaker was drawn, ``[replicate, speaker]``.
        """
        if self.every is not None:
            return self.every(times)
        return np.array([self.again(row) for row in times])


def of_bins(
    value: float,
    pairs: SpeakerPairs,
    places: tuple[Places, Places],
    count: int,
    figure: Callable[[Array, Array], Array],
) -> Drawn:
    """A figure of the numbers of trials by bin of their scores.

    A trial has the product of how often both of its speakers were drawn as its weight.

    Args:
        value: with every speaker drawn once.
        pairs: of the trials' speakers.
        places: bin of each target and of each non-target trial, from 0.
        count: of the bins.
        figure: from both classes' weights ``[replicate, bin]`` to ``[replicate]``.
    """
    tables = [pairs.counts(which, place, count) for which, place in enumerate(places)]

    def every(times: Array) -> Array:
        found = np.full(len(times), math.nan)
        for rows in pairs.steps(len(times), count):
            target, nontarget = (table(times[rows]) for table in tables)
            both = (target.sum(1) > 0) & (nontarget.sum(1) > 0)
            if both.any():
                found[rows][both] = figure(target[both], nontarget[both])
        return found

    return Drawn(value, pairs.names, lambda times: float(every(times[None])[0]), every)


def share(
    numerators: npt.ArrayLike, denominators: npt.ArrayLike, speakers: Sequence[str] | np.ndarray
) -> Drawn:
    """sum(numerators) / sum(denominators) over recordings: error rates, and means.

    Args:
        numerators, denominators: ``[recording]``.
        speakers: of each recording.

    Raises:
        ScoreError: lengths that differ, NaN, or nothing to divide by.

    Example:
        >>> share([1, 3], [2, 2], ["ann", "bob"]).again(np.array([0.0, 2.0]))
        1.5
    """
    above, below = (np.asarray(x, dtype=np.float64) for x in (numerators, denominators))
    if not above.shape == below.shape == (len(speakers),):
        raise ScoreError(f"{above.shape} over {below.shape} of {len(speakers)} recordings")
    if not (np.isfinite(above).all() and np.isfinite(below).all() and below.sum() > 0.0):
        raise ScoreError("a share needs finite parts, and something to divide by")
    names, index = np.unique(list(speakers), return_inverse=True)
    a, b = (np.bincount(index, x, minlength=len(names)) for x in (above, below))

    def every(times: Array) -> Array:
        divisors = times @ b
        found = np.full(len(times), math.nan)
        np.divide(times @ a, divisors, out=found, where=divisors > 0)
        return found

    value = float(above.sum() / below.sum())
    return Drawn(value, names, lambda times: float(every(times[None])[0]), every)


def replicate(figures: Sequence[Drawn], replicates: int, seed: int) -> Array:
    """Figures of drawn speakers, ``[figure, replicate]``.

    Speakers are drawn with replacement, as many as there are. Groups of figures without a common
    speaker are strata: the number of speakers in each stratum is constant.

    Args:
        figures: that are drawn together.
        replicates: how many.
        seed: of the draws.
    """
    names = np.unique(np.concatenate([figure.speakers for figure in figures]))
    at = [np.searchsorted(names, figure.speakers) for figure in figures]
    strata = _strata(at)
    rng = np.random.default_rng(seed)
    times = np.empty((checked_replicates(replicates), len(names)))
    for row in times:
        people = np.concatenate([rng.choice(group, len(group)) for group in strata])
        row[:] = np.bincount(people, minlength=len(names))
    return np.stack([f.all(times[:, who]) for f, who in zip(figures, at, strict=True)])


def _strata(figures: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Strata: speakers of figures that are connected by common speakers."""
    groups: list[set[int]] = []
    for speakers in figures:
        mine = set(speakers.tolist())
        shared = [group for group in groups if group & mine]
        groups = [group for group in groups if not group & mine] + [mine.union(*shared)]
    return [np.array(sorted(group)) for group in groups]
