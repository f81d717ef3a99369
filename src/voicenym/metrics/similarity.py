"""Voice similarity matrices, and what they say: distinctiveness and de-identification.

Noé et al., "Speech pseudonymisation assessment using voice similarity matrices", Interspeech 2020;
equations 4 to 8 of Tomashenko et al., "The VoicePrivacy 2020 Challenge: Results and findings".
Equation 4 is misprinted: of one speaker, a segment is not compared with itself (k != l where
i = j, not n_j = n_j), and the mean is over the pairs that remain, n_i (n_i - 1) of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.interval import Interval, percentiles
from voicenym.metrics.pav import pool, spread
from voicenym.metrics.scores import Array, Sorted

Calibrate = Callable[[Array], npt.ArrayLike]
"""Scores to LLRs in nats, of the same shape."""

CELLS = 1 << 16
"""Of the grid on which scores are counted: a cell's number takes 16 bits."""
STRIP = 1 << 17
"""Pairs that are treated at a time, few enough for the processor's cache."""


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
        calibrate, _ = _fit(_Trials.of(tables["oo"], names, names, itself))
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
    trials = _Trials.of(scores, rows, columns, same_segment)
    matrix = np.full((len(trials.names),) * 2, math.nan)
    if calibrate is None:
        steps, cells = _fit(trials)
        if steps is not None:
            matrix = trials.similarity(lambda strip: steps.at(trials.scores[strip], cells[strip]))
    elif isinstance(calibrate, _Steps):
        matrix = trials.similarity(lambda strip: calibrate(trials.scores[strip]))
    else:
        ratios = np.asarray(calibrate(trials.scores), dtype=np.float64)
        if ratios.shape != trials.scores.shape:
            raise ScoreError(f"LLRs {ratios.shape} do not fit scores {trials.scores.shape}")
        matrix = trials.similarity(lambda strip: ratios[strip].copy())
    return Similarity(matrix, tuple(trials.names.tolist()))


@dataclass(frozen=True)
class _Trials:
    """All pairs of segments, in strips of rows that fit the processor's cache.

    Args:
        scores: ``[row, column]``.
        row, column: index of the speaker of each.
        names: of the speakers, sorted.
        itself: ``[row, column]``, pairs that are one segment.
        weight: 0.5 where each pair of segments is there twice.
    """

    scores: Array
    row: np.ndarray
    column: np.ndarray
    names: np.ndarray
    itself: np.ndarray
    weight: float

    @classmethod
    def of(
        cls,
        scores: npt.ArrayLike,
        rows: Sequence[str] | np.ndarray,
        columns: Sequence[str] | np.ndarray,
        same_segment: np.ndarray | None,
    ) -> _Trials:
        table = np.asarray(scores, dtype=np.float64)
        row_names, column_names = (np.array(list(names)) for names in (rows, columns))
        if not table.size or table.shape != (len(row_names), len(column_names)):
            raise ScoreError(
                f"{len(row_names)} and {len(column_names)} segments do not fit scores {table.shape}"
            )
        if np.isnan(table.min()):
            bad = np.argwhere(np.isnan(table))[0]
            raise ScoreError(f"the score of segments {bad[0]} and {bad[1]} is NaN")
        itself = np.zeros(table.shape, bool) if same_segment is None else np.asarray(same_segment)
        if itself.shape != table.shape or itself.dtype != bool:
            raise ScoreError(
                f"same_segment is {itself.dtype} {itself.shape}, not bool {table.shape}"
            )
        names, index = np.unique(np.concatenate([row_names, column_names]), return_inverse=True)
        row, column = index[: len(row_names)], index[len(row_names) :]
        twice = np.array_equal(row, column) and np.array_equal(table, table.T)
        return cls(table, row, column, names, itself, 0.5 if twice else 1.0)

    def strips(self) -> Iterator[slice]:
        height = max(1, STRIP // self.scores.shape[1])
        return (slice(at, at + height) for at in range(0, len(self.scores), height))

    def similarity(self, llr: Callable[[slice], Array]) -> Array:
        """Sigmoid of mean LLRs by speakers, of LLRs by segments in strips."""
        size = len(self.names)
        by_column = np.empty((size, len(self.row)))
        one = np.zeros((size, size))
        sum_columns = _summer(self.column, size)
        with np.errstate(invalid="ignore", divide="ignore"):
            for strip in self.strips():
                ratios = llr(strip)
                ratios[self.itself[strip]] = 0.0
                by_column[:, strip] = sum_columns(ratios.T)
            total = _summer(self.row, size)(by_column.T)
            at = np.nonzero(self.itself)
            np.add.at(one, (self.row[at[0]], self.column[at[1]]), 1.0)
            count = np.outer(*(np.bincount(i, minlength=size) for i in (self.row, self.column)))
            mean = total / (count - one)
        similarity: Array = 0.5 * (1.0 + np.tanh(0.5 * mean))
        return similarity


def _summer(group: np.ndarray, size: int) -> Callable[[Array], Array]:
    """Sums of rows by group ``[size, ...]``; no products, in which infinities would become NaN."""
    order = np.argsort(group, kind="stable")
    sorted_already = bool((order[1:] > order[:-1]).all())
    present, start = np.unique(group[order], return_index=True)

    def summed(values: Array) -> Array:
        sums = np.zeros((size, values.shape[1]))
        sums[present] = np.add.reduceat(values if sorted_already else values[order], start, axis=0)
        return sums

    return summed


@dataclass(frozen=True)
class _Grid:
    """Cells of equal width on the axis of scores: a rising map that needs no sorting."""

    low: float
    scale: float

    @classmethod
    def over(cls, scores: Array) -> _Grid:
        low, high = float(scores.min()), float(scores.max())
        if not math.isfinite(high - low):
            known = scores[np.isfinite(scores)]
            low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
        scale = (CELLS - 1) / (high - low) if high > low else 1.0
        return cls(low, scale if 0.0 < scale < math.inf else 1.0)

    def __call__(self, scores: Array) -> np.ndarray:
        place = scores - self.low
        place *= self.scale
        return np.clip(place, 0, CELLS - 1, out=place).astype(np.intp)


@dataclass(frozen=True)
class _Steps:
    """A calibration by PAV that is looked up by cell, and by score in doubtful cells.

    Args:
        grid: of the cells.
        llr: ``[cell]`` in nats; in a doubtful cell, that of the last score before it.
        doubtful: ``[cell]``, whether a step may begin within.
        scores, cells, score_llr: ``[score]``, those of doubtful cells, ascending.
    """

    grid: _Grid
    llr: Array
    doubtful: np.ndarray
    scores: Array
    cells: np.ndarray
    score_llr: Array

    def __call__(self, scores: Array) -> Array:
        return self.at(scores, self.grid(scores))

    def at(self, scores: Array, cells: np.ndarray) -> Array:
        """LLRs of scores whose cells are known."""
        found: Array = self.llr.take(cells)
        if self.scores.size:
            inside = self.doubtful[cells]
            below = np.searchsorted(self.scores, scores[inside], side="right") - 1
            known = (below >= 0) & (self.cells[below] == cells[inside])
            found[inside] = np.where(known, self.score_llr[below], found[inside])
        return found


def _fit(trials: _Trials) -> tuple[_Steps | None, np.ndarray]:
    """PAV with Laplace's rule of all pairs, exactly but without sorting them; and each pair's cell.

    PAV is the greatest convex minorant of targets against trials, both counted upward in score
    (its slope is the share of targets). That of the cells as points can only change within a
    cell if, with all of its non-targets before its targets, the sum would come to lie below the
    minorant. Only pairs in such cells are sorted: for millions of pairs, some thousands.
    """
    grid = _Grid.over(trials.scores)
    everything, targets = np.zeros((2, CELLS), dtype=np.int64)
    table = np.empty(trials.scores.shape, dtype=np.uint16)
    for strip in trials.strips():
        cells = grid(trials.scores[strip])
        table[strip] = cells
        itself = trials.itself[strip]
        same = (trials.row[strip, None] == trials.column) & ~itself
        everything += np.bincount(cells.ravel(), minlength=CELLS)
        everything -= np.bincount(cells[itself], minlength=CELLS)
        targets += np.bincount(cells[same], minlength=CELLS)
    if not targets.any() or (targets == everything).all():
        return None, table
    target: Array = targets * np.float64(trials.weight)
    nontarget: Array = (everything - targets) * np.float64(trials.weight)
    there = np.flatnonzero(everything)
    mixed = _doubtful(target[there], nontarget[there])
    doubtful = np.zeros(CELLS, dtype=bool)
    doubtful[there[mixed]] = True
    clear = there[~mixed]

    gathered: list[tuple[Array, np.ndarray]] = []
    for strip in trials.strips():
        part = trials.scores[strip]
        inside = doubtful[table[strip]] & ~trials.itself[strip]
        gathered.append((part[inside], (trials.row[strip, None] == trials.column)[inside]))
    values, same = (np.concatenate(parts) for parts in zip(*gathered, strict=True))
    scores, which = np.unique(values, return_inverse=True)
    fine = np.bincount(which, minlength=len(scores)) * trials.weight
    fine_target = np.bincount(which[same], minlength=len(scores)) * trials.weight
    place = np.concatenate([clear, grid(scores)])
    order = np.argsort(place, kind="stable")
    points = Sorted(
        np.arange(len(place), dtype=np.float64),
        np.concatenate([target[clear], fine_target])[order],
        np.concatenate([nontarget[clear], fine - fine_target])[order],
    )
    ratios = spread(points, laplace=True)
    before, behind = (
        np.searchsorted(place[order], np.arange(CELLS), side=side) for side in ("left", "right")
    )
    llr = ratios[np.maximum(np.where(doubtful, before, behind) - 1, 0)]
    found = np.empty(len(place))
    found[order] = ratios
    # most doubts were unfounded: no step begins within the cell, and it is looked up as a whole
    cells, score_llr = place[len(clear) :], found[len(clear) :]
    first = np.flatnonzero(np.diff(cells, prepend=-1))
    last = np.append(first[1:], len(cells))[: len(first)] - 1
    whole = first[score_llr[first] == score_llr[last]]
    llr[cells[whole]], doubtful[cells[whole]] = score_llr[whole], False
    kept = doubtful[cells]
    return _Steps(grid, llr, doubtful, scores[kept], cells[kept], score_llr[kept]), table


def _doubtful(target: Array, nontarget: Array) -> np.ndarray:
    """Cells within which the minorant may bend."""
    # Laplace's rule: a target and a non-target, in violating order, at both ends
    target = np.concatenate([[1.0, 0.0], target, [1.0, 0.0]])
    nontarget = np.concatenate([[0.0, 1.0], nontarget, [0.0, 1.0]])
    total = target + nontarget
    edges = pool(target, nontarget)
    x, y = (np.concatenate([[0.0], np.cumsum(counts)]) for counts in (total, target))
    corner = x[:-1] + nontarget
    minorant = np.interp(corner, x[edges], y[edges])
    both = (target > 0) & (nontarget > 0)
    doubtful: np.ndarray = both & (y[:-1] < minorant + 1e-9 * y[-1])
    return doubtful[2:-2]


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

    def gain(before: Array, after: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            decibels: Array = 10.0 * np.log10(after / np.where(before > 0.0, before, math.nan))
        return decibels

    return _figure(gain, oo, aa, "dB", level, replicates, seed)


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
    size = len(before.speakers)
    if before.speakers != after.speakers:
        raise ScoreError("the two matrices are not of the same speakers in the same order")
    drawn = np.random.default_rng(seed).integers(0, size, (replicates, size))
    times = np.ones((replicates + 1, size))  # the first: everybody once
    for row, people in enumerate(drawn, 1):
        times[row] = np.bincount(people, minlength=size)
    values = figure(_dominance(before.matrix, times), _dominance(after.matrix, times))
    alone = tuple(name for name in before.speakers if name in {*before.alone, *after.alone})
    return Figure(float(values[0]), percentiles(values[1:], level), unit, alone)


def _dominance(matrix: Array, times: Array) -> Array:
    """|mean of the diagonal - mean of the rest| for each row of times that speakers were drawn.

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
    dominance: Array = np.abs(own - rest)
    return dominance
