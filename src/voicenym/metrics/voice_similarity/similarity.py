"""Voice similarity matrices of speakers before and after anonymization.

Noé et al., "Speech pseudonymisation assessment using voice similarity matrices", Interspeech 2020;
equations 4 to 8 of the supplement to Tomashenko et al., "The VoicePrivacy 2020 Challenge: Results
and findings".
Equation 4 is misprinted: of one speaker, a segment is not compared with itself (k != l where
i = j, not n_j = n_j), and the mean is over the pairs that remain, n_i (n_i - 1) of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError, UnmeasurableError
from voicenym.metrics.intervals import jackknife
from voicenym.metrics.trials.scores import Array
from voicenym.metrics.voice_similarity.pav_histogram import StepsByBin, fit
from voicenym.metrics.voice_similarity.segment_pairs import SegmentPairs

Calibrate = Callable[[Array], npt.ArrayLike]
"""Scores to LLRs in nats, of the same shape."""


@dataclass(frozen=True)
class Similarity:
    """Similarity of voices by pairs of speakers.

    Args:
        matrix: ``[speaker, speaker]``, 0 to 1; NaN where there was nothing to compare.
        speakers: names of rows and columns.
        others: computes the matrices without each group of speakers (:mod:`.jackknife`), calibrated
            anew, by which figures have intervals; None where the matrix alone is known.
    """

    matrix: Array
    speakers: tuple[str, ...]
    others: Callable[[], list[Similarity]] | None = field(default=None, repr=False, compare=False)

    @property
    def dominance(self) -> float:
        """|mean of the diagonal - mean of the rest|: the dominance of the diagonal.

        The absolute value is the paper's (equation 6): an inverted diagonal looks like a good one.
        """
        return float(dominance(self.matrix, np.ones((1, len(self.matrix))))[0])

    @property
    def alone(self) -> tuple[str, ...]:
        """Speakers without a pair of segments of their own: their diagonal element is NaN."""
        return tuple(np.array(self.speakers)[np.isnan(np.diagonal(self.matrix))].tolist())


@dataclass(frozen=True)
class Matrices:
    """Original with original, original (rows) with anonymized (columns), anonymized with both."""

    oo: Similarity
    oa: Similarity
    aa: Similarity


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
            their order allows; ``original``: that of M_oo for all three, as with one
            calibrated recogniser; or a function of scores.
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
    sides = {"oo": (o, o), "oa": (o, a), "aa": (a, a)}
    itself = np.eye(len(names), dtype=bool)
    if not (callable(calibration) or calibration in ("matrix", "original")):
        raise UnmeasurableError(
            f"calibration is matrix, original or a function, not {calibration!r}"
        )
    calibrate: Calibrate | None = calibration if callable(calibration) else None
    found = {}
    for name, (rows, columns) in sides.items():
        # one table of scores at a time: of 10,000 segments it is 800 MB
        table = np.asarray(compare(rows, columns))
        if compat and name == "oa":
            table = _mirrored(table, names)
        if calibration == "original" and name == "oo":
            calibrate, _ = fit(SegmentPairs.of(table, names, names, itself))
        found[name] = similarity_matrix(table, names, names, itself, calibrate)
        del table

    @cache
    def others() -> list[Matrices]:
        left_out = [np.isin(names, group) for group in jackknife.groups(names)]
        return [
            similarity_matrices(
                o[~out], a[~out], names[~out], score=score, calibration=calibration, compat=compat
            )
            for out in left_out
        ]

    def of_block(block: str) -> list[Similarity]:
        return [getattr(one, block) for one in others()]

    return Matrices(**{k: replace(v, others=partial(of_block, k)) for k, v in found.items()})


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
        steps, bins = fit(trials)
        if steps is not None:
            matrix = trials.similarity(lambda strip: steps.at(trials.scores[strip], bins[strip]))
    elif isinstance(calibrate, StepsByBin):
        matrix = trials.similarity(lambda strip: calibrate(trials.scores[strip]))
    else:
        ratios = np.asarray(calibrate(trials.scores), dtype=np.float64)
        if ratios.shape != trials.scores.shape:
            raise ScoreError(f"LLRs {ratios.shape} do not fit scores {trials.scores.shape}")
        matrix = trials.similarity(lambda strip: ratios[strip].copy())
    return Similarity(matrix, tuple(trials.names.tolist()))


def dominance(matrix: Array, times: Array) -> Array:
    """|mean of the diagonal - mean of the rest| for each row of times that speakers were drawn."""
    own, rest = means(matrix, times)
    dominance: Array = np.abs(own - rest)
    return dominance


def means(matrix: Array, times: Array) -> tuple[Array, Array]:
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
