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
from voicenym.metrics.interval_options import checked_replicates
from voicenym.metrics.intervals.bootstrap_draws import Drawn
from voicenym.metrics.intervals.interval import FEW_PEOPLE, Interval, enough, percentiles
from voicenym.metrics.intervals.jackknife import limits
from voicenym.metrics.metric import JACKKNIFE, Axis, Display, Estimate, Metric
from voicenym.metrics.metric_inputs import VoiceVectors
from voicenym.metrics.trials.scores import Array
from voicenym.metrics.voice_similarity.similarity import Similarity, dominance, means


@dataclass(frozen=True)
class Figure:
    """A figure of similarity matrices with its interval over speakers.

    Of matrices of :func:`.similarity_matrices`, it is that of :mod:`.jackknife`, which computes and
    calibrates them anew up to 20 times. Where the matrices alone are known, it is a bootstrap that
    takes them as they are: about half as wide as it would have to be, if each was calibrated by its
    own pairs.

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
        level: of the interval.
        replicates, seed: of the bootstrap, where the matrices alone are known.

    Example:
        >>> found = similarity_within(Similarity(np.array([[0.9, 0.1], [0.1, 0.7]]), ("a", "b")))
        >>> round(found.value, 2), found.interval
        (0.8, (nan, nan))
    """
    return _mean(similarity, 0, level, replicates, seed, similarity.alone)


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
    return _mean(similarity, 1, level, replicates, seed)


def _mean(
    similarity: Similarity,
    kind: int,
    level: float,
    replicates: int,
    seed: int,
    alone: tuple[str, ...] = (),
) -> Figure:
    """Mean of the diagonal (``kind`` 0) or of the rest (1)."""
    everybody, draws = (
        means(similarity.matrix, times)[kind] for times in _draws(similarity, replicates, seed)
    )
    value, people = float(everybody[0]), len(similarity.speakers)
    if similarity.others is None or people < FEW_PEOPLE:
        return Figure(value, enough(people, percentiles(draws, level)), "", alone)
    others = [_whole(part.matrix, kind) for part in similarity.others()]
    low, high = limits(value, others, people, level)
    return Figure(value, (max(low, 0.0), min(high, 1.0)), "", alone)


def _whole(matrix: Array, kind: int) -> float:
    return float(means(matrix, np.ones((1, len(matrix))))[kind][0])


def gain_of_voice_distinctiveness(
    oo: Similarity, aa: Similarity, *, level: float = 0.95, replicates: int = 1000, seed: int = 0
) -> Figure:
    """G_VD = 10 log10 (D(M_aa) / D(M_oo)) in dB: 0 keeps voices as distinct as they were.

    Minus infinity where anonymized voices do not stand out at all (equation 7).

    Args:
        oo, aa: of original and of anonymized speech, of the same speakers.
        level: of the interval.
        replicates, seed: of the bootstrap, where the matrices alone are known.

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
        level: of the interval.
        replicates, seed: of the bootstrap, where the matrices alone are known.

    Raises:
        ScoreError: matrices of different speakers.

    Example:
        >>> clear = Similarity(np.array([[0.9, 0.1], [0.1, 0.9]]), ("a", "b"))
        >>> deidentification(clear, clear).value
        0.0
    """

    def hidden(before: Array, after: Array) -> Array:
        return 1.0 - after / np.where(before > 0.0, before, math.nan)

    return _figure(hidden, oo, oa, "", level, replicates, seed, most=1.0)


def _figure(
    figure: Callable[[Array, Array], Array],
    before: Similarity,
    after: Similarity,
    unit: str,
    level: float,
    replicates: int,
    seed: int,
    most: float = math.inf,
) -> Figure:
    """A figure of two dominances; a draw takes a speaker's row and column in both matrices."""
    if before.speakers != after.speakers:
        raise ScoreError("the two matrices are not of the same speakers in the same order")
    everybody, draws = (
        figure(dominance(before.matrix, times), dominance(after.matrix, times))
        for times in _draws(before, replicates, seed)
    )
    alone = tuple(name for name in before.speakers if name in {*before.alone, *after.alone})
    value, people = float(everybody[0]), len(before.speakers)
    if before.others is None or after.others is None or people < FEW_PEOPLE:
        return Figure(value, enough(people, percentiles(draws, level)), unit, alone)
    parts = zip(before.others(), after.others(), strict=True)
    others = [float(figure(np.array(b.dominance), np.array(a.dominance))) for b, a in parts]
    low, high = limits(value, others, people, level)
    return Figure(value, (low, min(high, most)), unit, alone)


def _draws(similarity: Similarity, replicates: int, seed: int) -> tuple[Array, Array]:
    """Bootstrap counts of speakers: all ones ``[1, speaker]``, and draws ``[draw, speaker]``."""
    size = len(similarity.speakers)
    drawn = np.random.default_rng(seed).integers(0, size, (checked_replicates(replicates), size))
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
        return _whole(voices.similarity(block).matrix, kind)

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
