"""Weights of trials in the replicates of a bootstrap, many replicates at a time.

A replicate draws speakers with replacement. A trial then weighs as often as its two speakers were
drawn, multiplied (once where they are one person). Trials of the same two speakers in the same bin
are counted once for all replicates; a replicate is then a product of these counts, a sparse matrix,
with the weights of the pairs of speakers. Its cost depends on the pairs and the bins, not on the
order of the trials, and there is no Python loop over replicates.

Trials without speakers count as independent: a bootstrap over trials that are counted in bins is a
multinomial draw of the bins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.score_bins import EXACT, grid
from voicenym.metrics.scores import Array, Speakers

Seed = int | np.random.Generator
Places = npt.NDArray[np.integer]
AT_ONCE = 1 << 20
"""Numbers that an array of several replicates may hold: 8 MB."""
SAMPLE = 64
"""Pairs that show of most replicates that a class has not lost all of its trials."""


class TrialDraws:
    """Draws of the speakers of trials.

    Args:
        targets, nontargets: numbers of trials.
        speakers: of the trials; None takes trials as independent.
        replicates: how many.
        seed: of the draws, or a generator, which is then advanced.

    Raises:
        ScoreError: speakers that do not fit the trials.
    """

    def __init__(
        self,
        targets: int,
        nontargets: int,
        speakers: Speakers | None,
        replicates: int,
        seed: Seed = 0,
    ) -> None:
        self.replicates = replicates
        self.sizes = targets, nontargets
        self.seed = seed
        self.pairs = None if speakers is None else SpeakerPairs(speakers, self.sizes)
        if self.pairs is not None:
            self.times = self.pairs.drawn(replicates, np.random.default_rng(seed))

    def counted(
        self, target: Places, nontarget: Places, count: int | tuple[int, int]
    ) -> Iterator[tuple[Array, Array]]:
        """Weights ``[replicate, bin]`` of targets and non-targets, some replicates at a time.

        Args:
            target, nontarget: ``[trial]``, bin of each trial, from 0.
            count: of the bins, or of those of each class.
        """
        sizes = (count, count) if isinstance(count, int) else count
        both = list(zip((target, nontarget), sizes, strict=True))
        if self.pairs is None:
            rng = np.random.default_rng(self.seed)
            shares = [np.bincount(at, minlength=size) / at.size for at, size in both]
            for rows in steps(self.replicates, max(sizes)):
                t, n = (
                    rng.multinomial(size, share, size=rows.stop - rows.start).astype(np.float64)
                    for size, share in zip(self.sizes, shares, strict=True)
                )
                yield t, n
            return
        counts = [self.pairs.table(which, *places) for which, places in enumerate(both)]
        wide = max(*sizes, self.pairs.most, len(self.pairs.names))
        for rows in steps(self.replicates, wide):
            weights = self.pairs.weights(self.times[rows])
            t, n = (
                np.ascontiguousarray((table @ weigh).T)
                for table, weigh in zip(counts, weights, strict=True)
            )
            yield t, n

    def means(self, target: Array, nontarget: Array) -> tuple[Array, Array]:
        """Means of figures of the trials of each class, ``[replicate]``.

        Of independent trials, those with neighbouring figures are drawn as one mean of theirs: the
        cells of :func:`voicenym.metrics.score_bins.grid`.

        Args:
            target, nontarget: ``[trial]``, finite or positively infinite; an infinite figure counts
                in the replicates that draw it.
        """
        if self.pairs is None:
            rng = np.random.default_rng(self.seed)
            t, n = (self._independent(values, rng) for values in (target, nontarget))
            return t, n
        known = [self.pairs.sums(which, values) for which, values in enumerate((target, nontarget))]
        found: list[list[Array]] = [[], []]
        for rows in steps(self.replicates, max(self.pairs.most, len(self.pairs.names))):
            weights = self.pairs.weights(self.times[rows])
            for weigh, sums, means in zip(weights, known, found, strict=True):
                total, infinite, count = sums @ weigh
                means.append(np.where(infinite > 0, np.inf, total / count))
        return np.concatenate(found[0]), np.concatenate(found[1])

    def _independent(self, values: Array, rng: np.random.Generator) -> Array:
        finite = np.sort(values[np.isfinite(values)])
        endless = values.size - finite.size
        cell = grid(np.arange(finite.size + 1.0))[:-1] if finite.size > EXACT else np.empty(0)
        begin = np.arange(finite.size)
        if cell.size:
            begin = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))
        sizes = np.diff(begin, append=finite.size)
        means = np.add.reduceat(finite, begin) / sizes if finite.size else finite
        sums = []
        for rows in steps(self.replicates, len(sizes) + 1):
            shares = np.append(sizes, endless) / values.size
            drawn = rng.multinomial(values.size, shares, size=rows.stop - rows.start)
            mean = drawn[:, :-1] @ means / values.size
            sums.append(np.where(drawn[:, -1] > 0, np.inf, mean))
        return np.concatenate(sums)


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
        self.most = max(len(first) for first in self.first)

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
            few = there[:, first[:SAMPLE]] & there[:, second[:SAMPLE]]
            some = np.asarray(few.any(1))
            for row in np.flatnonzero(~some):
                some[row] = (there[row, first] & there[row, second]).any()
            valid &= some
        return valid

    def weights(self, times: np.ndarray) -> tuple[Array, Array]:
        """Weights ``[pair, replicate]`` of the pairs of both classes.

        Args:
            times: how often each speaker was drawn, ``[replicate, speaker]``.
        """
        # by rows, which are copied whole
        rows = np.ascontiguousarray(times.T, dtype=np.float64)
        found = []
        for first, second in zip(self.first, self.second, strict=True):
            weights = rows[first]
            weights *= np.where((first == second)[:, None], 1.0, rows[second])
            found.append(weights)
        return found[0], found[1]

    def sums(self, which: int, values: Array) -> Array:
        """Of each pair of a class, ``[3, pair]``: sum of finite figures, infinite ones, trials."""
        finite = np.isfinite(values)
        parts = np.where(finite, values, 0.0), (~finite).astype(np.float64), np.ones(len(values))
        count = len(self.first[which])
        return np.stack([np.bincount(self.of[which], part, minlength=count) for part in parts])

    def table(self, which: int, at: Places, count: int) -> Any:
        """Numbers of trials ``[bin, pair]`` of a class (0 targets), sparse where scipy is."""
        pairs = len(self.first[which])
        try:
            from scipy.sparse import coo_array
        except ImportError:
            return _Dense(at, self.of[which], (count, pairs))
        where = (np.asarray(at), self.of[which])
        return coo_array((np.ones(len(at)), where), shape=(count, pairs)).tocsr()


class _Dense:
    """Numbers of trials ``[bin, pair]`` as a matrix that is made in blocks of bins."""

    def __init__(self, at: Places, of: Places, shape: tuple[int, int]) -> None:
        order = np.argsort(at, kind="stable")
        self.at, self.of, self.shape = np.asarray(at)[order], of[order], shape

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
