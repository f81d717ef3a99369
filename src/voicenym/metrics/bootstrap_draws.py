"""Draws of speakers that several figures share, so that they vary together.

Two systems that were tried on the same people err on the same people; the mean of figures of
parts with the same people is hardly surer than one of them. Both are seen only if each replicate
draws everybody once, for all figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.eer import crossing
from voicenym.metrics.scores import Array, Scores, Sorted, Speakers, check, places
from voicenym.metrics.similarity import Similarity, gains


@dataclass(frozen=True)
class Drawn:
    """A figure that can be had again of speakers who were drawn.

    Args:
        value: of everybody once.
        speakers: whom it depends on, each once: names, or numbers that mean the same in all
            figures that are drawn together.
        again: the figure from how often each of ``speakers`` was drawn, ``[speaker]``; NaN where
            too little is left.
    """

    value: float
    speakers: np.ndarray
    again: Callable[[Array], float]


def equal_error(target: Scores, nontarget: Scores, speakers: Speakers) -> Drawn:
    """The equal error rate; a trial counts as often as both of its speakers were drawn, multiplied.

    Args:
        target, nontarget: scores.
        speakers: of the trials.

    Raises:
        ScoreError: NaN, a class without trials, or speakers that do not fit the trials.

    Example:
        >>> who = Speakers(np.array([[0, 0], [1, 1]]), np.array([[0, 1]]))
        >>> found = equal_error([0.0, 3.0], [1.0], who)
        >>> round(found.value, 3), found.again(np.array([0.0, 2.0]))
        (0.5, nan)
    """
    t, n = check(target, nontarget)
    pairs = np.concatenate([np.asarray(speakers.target), np.asarray(speakers.nontarget)])
    if len(pairs) != t.size + n.size:
        raise ScoreError(f"speakers of {len(pairs)} trials do not fit {t.size + n.size} scores")
    thresholds, at_t, at_n = places(t, n)
    counts = (np.bincount(at, minlength=len(thresholds)) for at in (at_t, at_n))
    whole = Sorted(thresholds, *(count.astype(np.float64) for count in counts))
    # neighbours of one class are one point: the rate is the same, and fewer are left
    begin = whole.runs()
    at_t, at_n = (np.searchsorted(begin, at, side="right") - 1 for at in (at_t, at_n))
    names, index = np.unique(pairs, return_inverse=True)
    first, second = index.reshape(-1, 2).T
    flat = first * len(names) + second
    of_t, of_n = flat[: t.size], flat[t.size :]

    def again(times: Array) -> float:
        both = np.outer(times, times)
        np.fill_diagonal(both, times)
        weights = both.ravel()
        drawn = [
            np.bincount(at, weights[of], minlength=len(begin)).astype(np.float64)
            for at, of in ((at_t, of_t), (at_n, of_n))
        ]
        if not all(counts.any() for counts in drawn):
            return math.nan
        return crossing(Sorted(thresholds[begin], drawn[0], drawn[1]))[0]

    return Drawn(crossing(whole)[0], names, again)


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

    def again(times: Array) -> float:
        divisor = float(times @ b)
        return float(times @ a) / divisor if divisor else math.nan

    return Drawn(float(above.sum() / below.sum()), names, again)


def distinctiveness(oo: Similarity, aa: Similarity) -> Drawn:
    """G_VD in dB (:func:`voicenym.metrics.gain_of_voice_distinctiveness`).

    Args:
        oo, aa: of original and of anonymized speech, of the same speakers.

    Raises:
        ScoreError: matrices of different speakers.
    """
    if oo.speakers != aa.speakers:
        raise ScoreError("the two matrices are not of the same speakers in the same order")

    def again(times: Array) -> float:
        return float(gains(oo, aa, times[None])[0])

    names = np.array(oo.speakers)
    return Drawn(again(np.ones(len(names))), names, again)


def replicate(figures: Sequence[Drawn], replicates: int, seed: int) -> Array:
    """Figures of drawn speakers, ``[figure, replicate]``.

    As many are drawn as there are, with replacement; those of figures that share none of them
    apart, so that each keeps its number.

    Args:
        figures: that are drawn together.
        replicates: how many.
        seed: of the draws.
    """
    names = np.unique(np.concatenate([figure.speakers for figure in figures]))
    at = [np.searchsorted(names, figure.speakers) for figure in figures]
    strata = _strata(at)
    rng = np.random.default_rng(seed)
    found = np.empty((len(figures), replicates))
    for column in found.T:
        people = np.concatenate([rng.choice(group, len(group)) for group in strata])
        times = np.bincount(people, minlength=len(names)).astype(np.float64)
        column[:] = [f.again(times[who]) for f, who in zip(figures, at, strict=True)]
    return found


def _strata(figures: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Speakers of the figures, those of figures that share some together."""
    groups: list[set[int]] = []
    for speakers in figures:
        mine = set(speakers.tolist())
        shared = [group for group in groups if group & mine]
        groups = [group for group in groups if not group & mine] + [mine.union(*shared)]
    return [np.array(sorted(group)) for group in groups]
