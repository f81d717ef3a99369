"""All pairs of segments of some speakers: their scores, and means of them speaker by speaker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.trials.scores import Array

STRIP = 1 << 17
"""Pairs that are treated at a time, few enough for the processor's cache."""


@dataclass(frozen=True)
class SegmentPairs:
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
    ) -> SegmentPairs:
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
            # of the flat table: in two dimensions, numpy needs fifteen times as long
            row, column = np.divmod(np.flatnonzero(self.itself), len(self.column))
            np.add.at(one, (self.row[row], self.column[column]), 1.0)
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
