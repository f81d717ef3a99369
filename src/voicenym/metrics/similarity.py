"""Voice similarity matrices, and what they say: distinctiveness and de-identification.

Noé et al., "Speech pseudonymisation assessment using voice similarity matrices", Interspeech 2020;
equations 4 to 7 of Tomashenko et al., "The VoicePrivacy 2020 Challenge: Results and findings".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.metrics.interval import Interval, percentiles
from voicenym.metrics.pav import llr
from voicenym.metrics.scores import Array


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
        """|mean of the diagonal - mean of the rest|: how far a voice stands out from others."""
        return _dominance(self.matrix)


@dataclass(frozen=True)
class Figure:
    """A figure of similarity matrices with its bootstrap interval over speakers."""

    value: float
    interval: Interval
    unit: str


def similarity_matrix(
    scores: np.ndarray,
    rows: Sequence[str] | np.ndarray,
    columns: Sequence[str] | np.ndarray,
    same_segment: np.ndarray | None = None,
    calibrate: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Similarity:
    """M(i, j) = sigmoid of the mean LLR over pairs of segments of speakers i and j.

    Scores are calibrated *before* they are averaged; by default by PAV with Laplace's rule on the
    matrix's own pairs, as the challenges do for each matrix. M_oa is not symmetric and is not made
    so (the challenges mirror one half of it). The diagonal leaves out pairs of a segment with
    itself; a speaker with a single segment has no diagonal element (NaN).

    Args:
        scores: ``[segment, segment]``, higher for the same speaker.
        rows, columns: speaker of each segment.
        same_segment: ``[segment, segment]``, true where both are one segment (in its original and
            its anonymized form, for M_oa).
        calibrate: scores to LLRs in nats, for one calibration of several matrices.

    Example:
        >>> s = np.array([[9., 9, 1], [9, 9, 1], [1, 1, 9]])
        >>> similarity_matrix(s, "aab", "aab", np.eye(3, dtype=bool)).matrix.round(2)
        array([[0.86, 0.29],
               [0.29,  nan]])
    """
    row_names, column_names = (np.array(list(names)) for names in (rows, columns))
    names, index = np.unique(np.concatenate([row_names, column_names]), return_inverse=True)
    row, column = index[: len(row_names)], index[len(row_names) :]
    used = np.ones(scores.shape, bool) if same_segment is None else ~same_segment
    same = row[:, None] == column
    if calibrate is None:
        ratios = np.zeros(scores.shape)
        if (used & same).any() and (used & ~same).any():
            ratios[used & same], ratios[used & ~same] = llr(
                scores[used & same], scores[used & ~same], laplace=True
            )
    else:
        ratios = np.asarray(calibrate(scores), dtype=np.float64)
    left, right = (np.eye(len(names))[who] for who in (row, column))
    total = left.T @ np.where(used, ratios, 0.0) @ right
    count = left.T @ used @ right
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
    return Similarity(0.5 * (1.0 + np.tanh(0.5 * mean)), tuple(names.tolist()))


def gain_of_voice_distinctiveness(
    oo: Similarity, aa: Similarity, *, level: float = 0.95, replicates: int = 1000, seed: int = 0
) -> Figure:
    """G_VD = 10 log10 (D(M_aa) / D(M_oo)) in dB: 0 keeps voices as distinct as they were.

    Args:
        oo, aa: of original and of anonymized speech, of the same speakers.
        level, replicates, seed: of the bootstrap over speakers.
    """

    def value(pick: np.ndarray) -> float:
        after, before = _picked(aa.matrix, pick), _picked(oo.matrix, pick)
        if before == 0.0 or math.isnan(before) or math.isnan(after):
            return math.nan
        return 10.0 * math.log10(after / before) if after > 0.0 else -math.inf

    return _figure(value, len(oo.matrix), "dB", level, replicates, seed)


def deidentification(
    oo: Similarity, oa: Similarity, *, level: float = 0.95, replicates: int = 1000, seed: int = 0
) -> Figure:
    """DeID = 1 - D(M_oa) / D(M_oo): 1 where anonymized voices are unlike their own originals.

    Args:
        oo, oa: of original speech, and of original against anonymized speech.
        level, replicates, seed: of the bootstrap over speakers.
    """

    def value(pick: np.ndarray) -> float:
        before = _picked(oo.matrix, pick)
        return 1.0 - _picked(oa.matrix, pick) / before if before else math.nan

    return _figure(value, len(oo.matrix), "", level, replicates, seed)


def _figure(
    value: Callable[[np.ndarray], float],
    speakers: int,
    unit: str,
    level: float,
    replicates: int,
    seed: int,
) -> Figure:
    rng = np.random.default_rng(seed)
    draws = [value(rng.integers(0, speakers, speakers)) for _ in range(replicates)]
    return Figure(value(np.arange(speakers)), percentiles(draws, level), unit)


def _picked(matrix: Array, pick: np.ndarray) -> float:
    """Dominance of a matrix of drawn speakers; one who is drawn twice is nobody else."""
    return _dominance(matrix[np.ix_(pick, pick)], pick[:, None] == pick)


def _dominance(matrix: Array, same: np.ndarray | None = None) -> float:
    own = np.eye(len(matrix), dtype=bool)
    others = ~(own if same is None else same)
    diagonal, rest = matrix[own], matrix[others]
    diagonal, rest = diagonal[~np.isnan(diagonal)], rest[~np.isnan(rest)]
    if not diagonal.size or not rest.size:
        return math.nan
    return float(abs(diagonal.mean() - rest.mean()))
