"""Figures of voice similarity matrices: distinctiveness, de-identification, mean similarities.

Noé et al., "Speech pseudonymisation assessment using voice similarity matrices", Interspeech 2020;
equations 5 to 8 of the supplement to Tomashenko et al., "The VoicePrivacy 2020 Challenge: Results
and findings".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from voicenym.errors import ScoreError
from voicenym.metrics.bootstrap_draws import Drawn
from voicenym.metrics.interval import FEW_PEOPLE, Interval, enough, percentiles
from voicenym.metrics.jackknife import limits
from voicenym.metrics.metric import JACKKNIFE, Axis, Display, Estimate, Metric
from voicenym.metrics.metric_inputs import VoiceVectors
from voicenym.metrics.scores import Array
from voicenym.metrics.similarity import Similarity, dominance, means


@dataclass(frozen=True)
class Figure:
    """A figure of similarity matrices with its bootstrap interval over speakers.

    The interval takes the matrices as they are. Where each was calibrated by its own pairs, it is
    about half as wide as it would have to be; reports compute matrices anew (:mod:`.jackknife`).

    Args:
        value: NaN where original voices do not stand out at all, or nothing could be compared.
        interval: NaN with fewer than five speakers.
        unit: ``dB``, or none.
        alone: speakers with no element on the diagonal of either matrix, who count as others only.
    """

    value: float
    interval: Interval
    unit: str
    alone: tuple[str, ...] = ()


def similarity_within(
    similarity: Similarity, *, level: float = 0.95, replicates: int = 1000, seed: int = 0
) -> Figure:
    """Mean of the diagonal: similarity of recordings of one speaker.

    Args:
        similarity: a matrix.
        level, replicates, seed: of the bootstrap over speakers.

    Example:
        >>> found = similarity_within(Similarity(np.array([[0.9, 0.1], [0.1, 0.7]]), ("a", "b")))
        >>> round(found.value, 2), found.interval
        (0.8, (nan, nan))
    """
    values = [means(similarity.matrix, times)[0] for times in _draws(similarity, replicates, seed)]
    limits = enough(len(similarity.speakers), percentiles(values[1], level))
    return Figure(float(values[0][0]), limits, "", similarity.alone)


def similarity_between(
    similarity: Similarity, *, level: float = 0.95, replicates: int = 1000, seed: int = 0
) -> Figure:
    """Mean off the diagonal: similarity of recordings of different speakers.

    Args:
        similarity, level, replicates, seed: as for :func:`similarity_within`.

    Example:
        >>> similarity_between(Similarity(np.array([[0.9, 0.2], [0.4, 0.7]]), ("a", "b"))).value
        0.30000000000000004
    """
    values = [means(similarity.matrix, times)[1] for times in _draws(similarity, replicates, seed)]
    limits = enough(len(similarity.speakers), percentiles(values[1], level))
    return Figure(float(values[0][0]), limits, "")


def gain_of_voice_distinctiveness(
    oo: Similarity, aa: Similarity, *, level: float = 0.95, replicates: int = 1000, seed: int = 0
) -> Figure:
    """G_VD = 10 log10 (D(M_aa) / D(M_oo)) in dB: 0 keeps voices as distinct as they were.

    Minus infinity where anonymized voices do not stand out at all (equation 7).

    Args:
        oo, aa: of original and of anonymized speech, of the same speakers.
        level, replicates, seed: of the bootstrap over speakers.

    Raises:
        ScoreError: matrices of different speakers.

    Example:
        >>> clear = Similarity(np.array([[0.9, 0.1], [0.1, 0.9]]), ("a", "b"))
        >>> faint = Similarity(np.array([[0.5, 0.42], [0.42, 0.5]]), ("a", "b"))
        >>> round(gain_of_voice_distinctiveness(clear, faint).value, 6)
        -10.0
    """
    return _figure(_gain, oo, aa, "dB", level, replicates, seed)


def _gains(oo: Similarity, aa: Similarity, times: Array) -> Array:
    """G_VD in dB for each row of how often each speaker was drawn, ``[draw, speaker]``."""
    return _gain(dominance(oo.matrix, times), dominance(aa.matrix, times))


def _gain(before: Array, after: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        decibels: Array = 10.0 * np.log10(after / np.where(before > 0.0, before, math.nan))
    return decibels


def deidentification(
    oo: Similarity, oa: Similarity, *, level: float = 0.95, replicates: int = 1000, seed: int = 0
) -> Figure:
    """DeID = 1 - D(M_oa) / D(M_oo): 1 where anonymized voices are unlike their own originals.

    Below 0 where they stand out more than the originals (equation 8).

    Args:
        oo, oa: of original speech, and of original against anonymized speech.
        level, replicates, seed: of the bootstrap over speakers.

    Raises:
        ScoreError: matrices of different speakers.

    Example:
        >>> clear = Similarity(np.array([[0.9, 0.1], [0.1, 0.9]]), ("a", "b"))
        >>> deidentification(clear, clear).value
        0.0
    """

    def hidden(before: Array, after: Array) -> Array:
        return 1.0 - after / np.where(before > 0.0, before, math.nan)

    return _figure(hidden, oo, oa, "", level, replicates, seed)


def _figure(
    figure: Callable[[Array, Array], Array],
    before: Similarity,
    after: Similarity,
    unit: str,
    level: float,
    replicates: int,
    seed: int,
) -> Figure:
    """A figure of two dominances; each draw takes a speaker's row and column in both matrices."""
    if before.speakers != after.speakers:
        raise ScoreError("the two matrices are not of the same speakers in the same order")
    everybody, draws = (
        figure(dominance(before.matrix, times), dominance(after.matrix, times))
        for times in _draws(before, replicates, seed)
    )
    alone = tuple(name for name in before.speakers if name in {*before.alone, *after.alone})
    limits = enough(len(before.speakers), percentiles(draws, level))
    return Figure(float(everybody[0]), limits, unit, alone)


def _draws(similarity: Similarity, replicates: int, seed: int) -> tuple[Array, Array]:
    """Bootstrap counts of speakers: all ones ``[1, speaker]``, and draws ``[draw, speaker]``."""
    size = len(similarity.speakers)
    drawn = np.random.default_rng(seed).integers(0, size, (replicates, size))
    times = [np.bincount(people, minlength=size) for people in drawn]
    return np.ones((1, size)), np.array(times, dtype=np.float64).reshape(-1, size)


def distinctiveness(oo: Similarity, aa: Similarity) -> Drawn:
    """G_VD in dB (:func:`gain_of_voice_distinctiveness`).

    Args:
        oo, aa: of original and of anonymized speech, of the same speakers.

    Raises:
        ScoreError: matrices of different speakers.
    """
    if oo.speakers != aa.speakers:
        raise ScoreError("the two matrices are not of the same speakers in the same order")

    def again(times: Array) -> float:
        return float(_gains(oo, aa, times[None])[0])

    names = np.array(oo.speakers)
    return Drawn(again(np.ones(len(names))), names, again)


def gain_of(voices: VoiceVectors) -> float:
    """G_VD in dB of vectors, whose matrices are calibrated each by its own pairs."""
    everybody = np.ones((1, len(voices.similarity("oo").speakers)))
    return float(_gains(voices.similarity("oo"), voices.similarity("aa"), everybody)[0])


def _deidentification_of(voices: VoiceVectors) -> float:
    before, after = voices.similarity("oo").dominance, voices.similarity("oa").dominance
    return 1.0 - after / before if before > 0.0 else math.nan


def _recalibrated(
    figure: Callable[[VoiceVectors], float], low: float = -math.inf, high: float = math.inf
) -> Callable[[VoiceVectors], Estimate]:
    """A figure with its interval by :mod:`.jackknife`.

    Args:
        figure: of vectors.
        low, high: the smallest and the largest figure that there can be.
    """

    def measure(voices: VoiceVectors) -> Estimate:
        value = figure(voices)
        people = len(np.unique(voices.speakers))
        others = [figure(part) for part in voices.jackknifed()] if people >= FEW_PEOPLE else []
        below, above = limits(value, others, people)
        return Estimate(value, (max(below, low), min(above, high)))

    return measure


def _mean_of(block: str, kind: int) -> Callable[[VoiceVectors], Estimate]:
    def mean(voices: VoiceVectors) -> float:
        matrix = voices.similarity(block).matrix
        return float(means(matrix, np.ones((1, len(matrix))))[kind][0])

    return _recalibrated(mean, 0.0, 1.0)


GAIN = Metric(
    name="G_VD",
    unit="dB",
    better="higher",
    chance=None,
    interval=JACKKNIFE,
    definition="Gain of voice distinctiveness: how distinct anonymized voices are from each other; "
    "0 dB: as distinct as the originals (Noé et al. 2020)",
    data=VoiceVectors,
    measure=_recalibrated(gain_of),
    display=Display(
        table=None,
        digits=1,
        heading="G_VD, dB",
        summary=True,
        compared=True,
        card=True,
        axis=Axis("keeps voices\napart (G_VD)", worst=-10.0, best=0.0),
    ),
)
DEIDENTIFICATION = Metric(
    name="DeID",
    unit="",
    better="higher",
    chance=1.0,
    interval=JACKKNIFE,
    definition="De-identification: 1 where anonymized voices are as unlike their own originals as "
    "those of other speakers, 0 where nothing changed (Noé et al. 2020)",
    data=VoiceVectors,
    measure=_recalibrated(_deidentification_of, high=1.0),
    display=Display(
        table=None,
        summary=True,
        card=True,
        axis=Axis("unlike originals\n(DeID)", worst=0.0, best=1.0),
    ),
)
OO_OWN, OO_OTHERS, OA_OWN, OA_OTHERS, AA_OWN, AA_OTHERS = (
    Metric(
        name=f"M_{block} {kind}",
        unit="",
        better="neither",
        chance=None,
        interval=JACKKNIFE,
        definition=f"Mean similarity of {forms} of {people}, 0 to 1",
        data=VoiceVectors,
        measure=_mean_of(block, place),
        display=Display(table="similarity"),
    )
    for block, forms in (
        ("oo", "original recordings"),
        ("oa", "original with anonymized recordings"),
        ("aa", "anonymized recordings"),
    )
    for place, (kind, people) in enumerate((("own", "one speaker"), ("others", "two speakers")))
)
