"""Pairs of speakers of trials: how often both are drawn, and sums over their trials.

The weight of a trial depends on its two speakers alone, so that everything that replicates of a
bootstrap add up is a product of a sparse table by pairs with the weights of the pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.trials.scores import Array, Speakers

Places = npt.NDArray[np.integer]
AT_ONCE = 1 << 20
"""Numbers that an array of several replicates may hold: 8 MB."""
SAMPLE = 64
"""Pairs that show of most replicates that a class has not lost all of its trials."""


class SpeakerPairs:
    """The different pairs of speakers of trials, whichever of both was enrolled.

    Args:
        speakers: of the trials.
        sizes: numbers of target and non-target trials.

    Raises:
        ScoreError: speakers that do not fit the trials.
    """

    def __init__(self, speakers: Speakers, sizes: tuple[int, int]) -> None:
        both = np.asarray(speakers.target), np.asarray(speakers.nontarget)
        if (len(both[0]), len(both[1])) != sizes:
            raise ScoreError(
                f"speakers of {len(both[0])} and {len(both[1])} trials do not fit {sizes[0]} "
                f"target and {sizes[1]} non-target scores"
            )
        self.names, index = numbered(np.concatenate(both).ravel())
        ends = index.reshape(-1, 2)
        low, high = ends.min(1), ends.max(1)
        self.of: list[Places] = []
        self.first: list[Places] = []
        self.second: list[Places] = []
        for part in (slice(0, sizes[0]), slice(sizes[0], None)):
            keys, of = numbered(low[part] * len(self.names) + high[part])
            self.of.append(of)
            self.first.append(keys // len(self.names))
            self.second.append(keys % len(self.names))

    def drawn(self, replicates: int, rng: np.random.Generator) -> npt.NDArray[np.int32]:
        """How often each speaker is drawn, ``[replicate, speaker]``.

        A replicate that has lost all trials of a class (few speakers) is drawn again.
        """
        size = len(self.names)
        found = np.empty((replicates, size), dtype=np.int32)
        for rows in steps(replicates, size):
            done = rows.start
            while done < rows.stop:
                times = drawn_times(rows.stop - done, size, rng)
                times = times[self._valid(times)]
                found[done : done + len(times)] = times
                done += len(times)
        return found

    def _valid(self, times: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """Whether trials of both classes are left, ``[replicate]``."""
        valid = np.ones(len(times), dtype=bool)
        for first, second in zip(self.first, self.second, strict=True):
            there = times > 0
            spread = slice(None, None, -(-len(first) // SAMPLE))  # neighbours share a speaker
            few = there[:, first[spread]] & there[:, second[spread]]
            some = np.asarray(few.any(1))
            for row in np.flatnonzero(~some):
                some[row] = (there[row, first] & there[row, second]).any()
            valid &= some
        return valid

    def weights(self, which: int, pairs: slice, rows: Array, out: tuple[Array, Array]) -> Array:
        """Weights ``[pair, replicate]`` of some pairs of a class (0 targets).

        Args:
            which: class.
            pairs: a slice of its pairs.
            rows: how often each speaker was drawn, ``[speaker, replicate]``; by rows, which are
                copied whole.
            out: room for the weights, which are in the first, and for as many numbers.
        """
        first, second = self.first[which][pairs], self.second[which][pairs]
        weights, others = (room[: len(first)] for room in out)
        # other modes go by a copy
        np.take(rows, first, axis=0, out=weights, mode="clip")
        np.take(rows, second, axis=0, out=others, mode="clip")
        others[first == second] = 1.0
        weights *= others
        return weights

    def steps(self, replicates: int, rows: int) -> Iterator[slice]:
        """Slices of the replicates that are computed at once.

        Args:
            replicates: how many.
            rows: of the tables that are multiplied.
        """
        most = max(len(first) for first in self.first)
        # few where pairs are many, so that the drawn speakers stay in the processor's cache
        return steps(replicates, max(rows, 3 * len(self.names), most // 16))

    def counts(self, which: int, at: Places, count: int) -> PairTable:
        """Numbers of trials of a class by bin and pair.

        Args:
            which: class, 0 for targets.
            at: ``[trial]``, bin of each trial of the class, from 0.
            count: of the bins.
        """
        shape = count, len(self.first[which])
        try:
            from scipy.sparse import coo_array
        except ImportError:
            return PairTable(self, which, _Dense(np.asarray(at), self.of[which], shape))
        where = np.asarray(at), self.of[which]
        return PairTable(self, which, coo_array((np.ones(len(at)), where), shape=shape).tocsc())

    def sums(self, which: int, values: Array) -> PairTable:
        """Sum of the finite figures of a class, number of infinite ones, and of trials, by pair.

        Args:
            which: class, 0 for targets.
            values: ``[trial]``.
        """
        finite = np.isfinite(values)
        parts = np.where(finite, values, 0.0), (~finite).astype(np.float64), np.ones(len(values))
        count = len(self.first[which])
        table = np.stack([np.bincount(self.of[which], part, minlength=count) for part in parts])
        return PairTable(self, which, table)


@dataclass
class PairTable:
    """A table ``[row, pair]`` of the pairs of a class.

    Args:
        pairs: of speakers.
        which: class, 0 for targets.
        table: dense, or sparse by columns.
    """

    pairs: SpeakerPairs
    which: int
    table: Any

    def __post_init__(self) -> None:
        self._parts: dict[int, list[tuple[slice, Any]]] = {}

    def __call__(self, times: np.ndarray) -> Array:
        """Sums over the pairs, each as often as it was drawn, ``[replicate, row]``.

        Pairs are weighed in blocks: those of 10,000 speakers are as many as their trials.

        Args:
            times: how often each speaker was drawn, ``[replicate, speaker]``.
        """
        rows = np.ascontiguousarray(times.T, dtype=np.float64)
        width = max(1, AT_ONCE // 2 // max(rows.shape[1], 1))
        if width not in self._parts:
            columns = range(0, self.table.shape[1], width)
            blocks = [slice(begin, begin + width) for begin in columns]
            self._parts[width] = [(block, self._columns(block)) for block in blocks]
        found = np.zeros((self.table.shape[0], rows.shape[1]))
        room = np.empty((2, min(width, self.table.shape[1]), rows.shape[1]))
        for block, part in self._parts[width]:
            found += part @ self.pairs.weights(self.which, block, rows, (room[0], room[1]))
        return np.ascontiguousarray(found.T)

    def _columns(self, block: slice) -> Any:
        part = self.table[:, block]
        return part.tocsr() if hasattr(part, "tocsr") else part


class _Dense:
    """Numbers of trials ``[bin, pair]`` as a matrix that is made in blocks of bins."""

    def __init__(self, at: Places, of: Places, shape: tuple[int, int]) -> None:
        self.at, self.of, self.shape = at, of, shape

    def __getitem__(self, part: tuple[slice, slice]) -> _Dense:
        begin, end, _ = part[1].indices(self.shape[1])
        there = np.flatnonzero((self.of >= begin) & (self.of < end))
        there = there[np.argsort(self.at[there], kind="stable")]
        return _Dense(self.at[there], self.of[there] - begin, (self.shape[0], end - begin))

    def __matmul__(self, weights: Array) -> Array:
        bins, pairs = self.shape
        found = np.empty((bins, weights.shape[1]))
        for rows in steps(bins, pairs):
            part = slice(*np.searchsorted(self.at, [rows.start, rows.stop]))
            flat = (self.at[part] - rows.start) * pairs + self.of[part]
            block = np.bincount(flat, minlength=(rows.stop - rows.start) * pairs)
            found[rows] = block.reshape(-1, pairs) @ weights
        return found


def drawn_times(replicates: int, size: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """How often each of some speakers is drawn, with replacement, ``[replicate, speaker]``."""
    people = rng.integers(0, size, (replicates, size))
    people += size * np.arange(replicates)[:, None]
    return np.bincount(people.ravel(), minlength=replicates * size).reshape(replicates, size)


def steps(count: int, width: int) -> Iterator[slice]:
    """Slices of ``count`` rows of ``width`` numbers, each of at most :data:`AT_ONCE` numbers."""
    step = max(1, min(256, AT_ONCE // max(width, 1)))
    for begin in range(0, count, step):
        yield slice(begin, min(begin + step, count))


def numbered(values: np.ndarray) -> tuple[np.ndarray, npt.NDArray[np.intp]]:
    """The different values, ascending, and which of them each is, without sorting small integers.

    Args:
        values: ``[value]``.

    Example:
        >>> numbered(np.array([7, 3, 7]))
        (array([3, 7]), array([1, 0, 1]))
    """
    if values.size and values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if low >= 0 and high < 4 * values.size:
            there = np.bincount(values, minlength=high + 1) > 0
            rank: npt.NDArray[np.intp] = np.cumsum(there) - 1
            return np.flatnonzero(there).astype(values.dtype), rank[values]
    return np.unique(values, return_inverse=True)
