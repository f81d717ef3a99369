"""Voice similarity matrices, and what they say: distinctiveness and de-identification.

Noé et al., "Speech pseudonymisation assessment using voice similarity matrices", Interspeech 2020;
equations 4 to 8 of Tomashenko et al., "The VoicePrivacy 2020 Challenge: Results and findings".
Equation 4 is misprinted: of one speaker, a segment is not compared with itself (k != l where
i = j, not n_j = n_j), and the mean is over the pairs that remain, n_i (n_i - 1) of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.interval import Interval, percentiles
from voicenym.metrics.pav_histogram import StepsByCell, fit
from voicenym.metrics.scores import Array
from voicenym.metrics.segment_pairs import SegmentPairs

Calibrate = Callable[[Array], npt.ArrayLike]
"""Scores to LLRs in nats, of the same shape."""


@dataclass(frozen=True)
class Similarity:
    """How alike voices are held to be.

    Args:
        matrix: ``[speaker, speaker]``, 0 to 1; NaN where there was nothing to compare.
        speakers: names of rows and columns.
    """

    matrix: Array
    speakers: tuple[str, ...]

    @property
    def dominance(self) -> float:
        """|mean of the diagonal - mean of the rest|: how far a voice stands out from others.

        The absolute value is the paper's (equation 6): an inverted diagonal looks like a good one.
        """
        return float(_dominance(self.matrix, np.ones((1, len(self.matrix))))[0])

    @property
    def alone(self) -> tuple[str, ...]:
        """Speakers who could not be compared with themselves: the diagonal is NaN."""
        return tuple(np.array(self.speakers)[np.isnan(np.diagonal(self.matrix))].tolist())


@dataclass(frozen=True)
class Matrices:
    """Original with original, original (rows) with anonymized (columns), anonymized with both."""

    oo: Similarity
    oa: Similarity
    aa: Similarity


@dataclass(frozen=True)
class Figure:
    """A figure of similarity matrices with its bootstrap interval over speakers.

    Args:
        value: NaN where original voices do not stand out at all, or nothing could be compared.
        interval: NaN with a single speaker.
        unit: ``dB``, or none.
        alone: speakers with no element on the diagonal of either matrix, who count as others only.
    """

    value: float
    interval: Interval
    unit: str
    alone: tuple[str, ...] = ()


def similarity_matrices(
    original: npt.ArrayLike,
    anonymized: npt.ArrayLike,
    speakers: Sequence[str] | np.ndarray,
    *,
    score: Callable[[Array, Array], npt.ArrayLike] | None = None,
    calibration: str | Calibrate = "matrix",
    compat: bool = False,
) -> Matrices:
    """M_oo, M_oa and M_aa of the same segments before and after.

    Args:
        original, anonymized: vectors ``[segment, dimension]``, in one order.
        speakers: of each segment.
        score: vectors ``[m, dimension]`` and ``[n, dimension]`` to scores ``[m, n]``; by default
            the cosine.
        calibration: ``matrix`` as in the challenges: PAV with Laplace's rule on each matrix's own
            pairs, which makes voices that anonymization brought together distinct again as far as
            their order allows; ``original``: that of M_oo for all three, which is how one
            recogniser would judge them; or a function of scores.
        compat: M_oa as the challenges' program makes it: of two segments only that of the earlier
            original and the later anonymized one counts, speaker by speaker, and the upper half is
            mirrored to the lower. By default all pairs count and M_oa is not symmetric.

    Raises:
        ScoreError: shapes that do not fit, or a score that is NaN.

    Example:
        >>> voices = np.repeat(np.eye(3), 2, axis=0)
        >>> found = similarity_matrices(voices, voices[[0, 1] * 3], "aabbcc")
        >>> found.oo.matrix.round(2)
        array([[0.94, 0.24, 0.24],
               [0.24, 0.94, 0.24],
               [0.24, 0.24, 0.94]])
        >>> deidentification(found.oo, found.oa).value
        1.0
    """
    names = np.array(list(speakers))
    o, a = (np.asarray(v, dtype=np.float64) for v in (original, anonymized))
    for vectors in (o, a):
        if vectors.ndim != 2 or len(vectors) != len(names):
            raise ScoreError(f"{len(names)} speakers do not fit vectors {vectors.shape}")
    if score is None:
        with np.errstate(invalid="ignore"):
            o, a = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (o, a))
    elif not callable(score):
        raise TypeError("score is a function of two sets of vectors")
    compare = score or (lambda x, y: x @ y.T)
    tables = {"oo": compare(o, o), "oa": compare(o, a), "aa": compare(a, a)}
    if compat:
        tables["oa"] = _mirrored(np.asarray(tables["oa"]), names)
    itself = np.eye(len(names), dtype=bool)
    calibrate: Calibrate | None
    if calibration == "matrix":
        calibrate = None
    elif calibration == "original":
        calibrate, _ = fit(SegmentPairs.of(tables["oo"], names, names, itself))
    elif callable(calibration):
        calibrate = calibration
    else:
        raise ValueError(f"calibration is matrix, original or a function, not {calibration!r}")
    found = {
        name: similarity_matrix(table, names, names, itself, calibrate)
        for name, table in tables.items()
    }
    return Matrices(**found)


def _mirrored(scores: Array, names: np.ndarray) -> Array:
    """The upper half on both sides, with segments in the order of their speakers."""
    order = np.argsort(names, kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    mirrored: Array = np.where(rank[:, None] <= rank, scores, scores.T)
    return mirrored


def similarity_matrix(
    scores: npt.ArrayLike,
    rows: Sequence[str] | np.ndarray,
    columns: Sequence[str] | np.ndarray,
    same_segment: np.ndarray | None = None,
    calibrate: Calibrate | None = None,
) -> Similarity:
    """M(i, j) = sigmoid of the mean LLR over pairs of segments of speakers i and j (equation 4).

    Scores are calibrated *before* they are averaged; by default by PAV with Laplace's rule on the
    matrix's own pairs, as the challenges do for each matrix. M_oa is not symmetric and is not made
    so (the challenges mirror one half of it). The diagonal leaves out pairs of a segment with
    itself; a speaker with a single segment has no diagonal element (NaN, and is named in
    ``alone``). Where there are no pairs of one speaker, or none of two, there is nothing to
    calibrate by, and all is NaN.

    Args:
        scores: ``[segment, segment]``, higher for the same speaker. Where they are symmetric, a
            pair of segments is one trial, not two.
        rows, columns: speaker of each segment.
        same_segment: ``[segment, segment]``, true where both are one segment (in its original and
            its anonymized form, for M_oa).
        calibrate: scores to LLRs in nats, for one calibration of several matrices.

    Raises:
        ScoreError: shapes that do not fit, or a score that is NaN (the message names it).

    Example:
        >>> s = np.array([[9., 9, 1], [9, 9, 1], [1, 1, 9]])
        >>> similarity_matrix(s, "aab", "aab", np.eye(3, dtype=bool)).matrix.round(2)
        array([[0.8, 0.4],
               [0.4, nan]])
    """
    trials = SegmentPairs.of(scores, rows, columns, same_segment)
    matrix = np.full((len(trials.names),) * 2, math.nan)
    if calibrate is None:
        steps, cells = fit(trials)
        if steps is not None:
            matrix = trials.similarity(lambda strip: steps.at(trials.scores[strip], cells[strip]))
    elif isinstance(calibrate, StepsByCell):
        matrix = trials.similarity(lambda strip: calibrate(trials.scores[strip]))
    else:
        ratios = np.asarray(calibrate(trials.scores), dtype=np.float64)
        if ratios.shape != trials.scores.shape:
            raise ScoreError(f"LLRs {ratios.shape} do not fit scores {trials.scores.shape}")
        matrix = trials.similarity(lambda strip: ratios[strip].copy())
    return Similarity(matrix, tuple(trials.names.tolist()))


def similarity_within(
    similarity: Similarity, *, level: float = 0.95, replicates: int = 1000, seed: int = 0
) -> Figure:
    """Mean of the diagonal: how alike recordings of one person are held to be.

    Args:
        similarity: a matrix.
        level, replicates, seed: of the bootstrap over speakers.

    Example:
        >>> found = similarity_within(Similarity(np.array([[0.9, 0.1], [0.1, 0.7]]), ("a", "b")))
        >>> round(found.value, 2), found.interval
        (0.8, (0.7, 0.9))
    """
    values = [_means(similarity.matrix, times)[0] for times in _draws(similarity, replicates, seed)]
    return Figure(float(values[0][0]), percentiles(values[1], level), "", similarity.alone)


def similarity_between(
    similarity: Similarity, *, level: float = 0.95, replicates: int = 1000, seed: int = 0
) -> Figure:
    """Mean off the diagonal: how alike those of different people are held to be.

    Args:
        similarity, level, replicates, seed: as for :func:`similarity_within`.

    Example:
        >>> similarity_between(Similarity(np.array([[0.9, 0.2], [0.4, 0.7]]), ("a", "b"))).value
        0.30000000000000004
    """
    values = [_means(similarity.matrix, times)[1] for times in _draws(similarity, replicates, seed)]
    return Figure(float(values[0][0]), percentiles(values[1], level), "")


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


def gains(oo: Similarity, aa: Similarity, times: Array) -> Array:
    """G_VD in dB for each row of how often each speaker was drawn, ``[draw, speaker]``."""
    return _gain(_dominance(oo.matrix, times), _dominance(aa.matrix, times))


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
        figure(_dominance(before.matrix, times), _dominance(after.matrix, times))
        for times in _draws(before, replicates, seed)
    )
    alone = tuple(name for name in before.speakers if name in {*before.alone, *after.alone})
    return Figure(float(everybody[0]), percentiles(draws, level), unit, alone)


def _draws(similarity: Similarity, replicates: int, seed: int) -> tuple[Array, Array]:
    """How often each speaker counts: everybody once, ``[1, speaker]``, and ``[draw, speaker]``."""
    size = len(similarity.speakers)
    drawn = np.random.default_rng(seed).integers(0, size, (replicates, size))
    times = [np.bincount(people, minlength=size) for people in drawn]
    return np.ones((1, size)), np.array(times, dtype=np.float64).reshape(-1, size)


def _dominance(matrix: Array, times: Array) -> Array:
    """|mean of the diagonal - mean of the rest| for each row of times that speakers were drawn."""
    own, rest = _means(matrix, times)
    dominance: Array = np.abs(own - rest)
    return dominance


def _means(matrix: Array, times: Array) -> tuple[Array, Array]:
    """Means of the diagonal and of the rest for each row of times that speakers were drawn.

    Two draws of one person are not a pair of different people, so they count on the diagonal only.
    """
    known = ~np.isnan(matrix)
    filled = np.where(known, matrix, 0.0)
    diagonal, known_diagonal = np.diagonal(filled), np.diagonal(known).astype(np.float64)
    others = ~np.eye(len(matrix), dtype=bool)
    with np.errstate(invalid="ignore", divide="ignore"):
        own = (times @ diagonal) / (times @ known_diagonal)
        total = ((times @ (filled * others)) * times).sum(1)
        rest = total / ((times @ (known & others)) * times).sum(1)
    return own, rest
