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

import numpy as np

from voicenym.metrics.interval_options import checked_replicates
from voicenym.metrics.trials.score_bins import EXACT, grid
from voicenym.metrics.trials.scores import Array, Speakers
from voicenym.metrics.trials.speaker_pairs import Places, SpeakerPairs, steps

Seed = int | np.random.Generator


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
        self.replicates = checked_replicates(replicates)
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
        tables = [self.pairs.counts(which, *places) for which, places in enumerate(both)]
        for rows in self.pairs.steps(self.replicates, max(sizes)):
            t, n = (table(self.times[rows]) for table in tables)
            yield t, n

    def means(self, target: Array, nontarget: Array) -> tuple[Array, Array]:
        """Means of figures of the trials of each class, ``[replicate]``.

        Of independent trials, those with neighbouring figures are drawn as one mean of theirs: the
        cells of :func:`voicenym.metrics.trials.score_bins.grid`.

        Args:
            target, nontarget: ``[trial]``, finite or positively infinite; an infinite figure counts
                in the replicates that draw it.
        """
        if self.pairs is None:
            rng = np.random.default_rng(self.seed)
            t, n = (self._independent(values, rng) for values in (target, nontarget))
            return t, n
        found = []
        for which, values in enumerate((target, nontarget)):
            table = self.pairs.sums(which, values)
            drawn = [table(self.times[rows]) for rows in self.pairs.steps(self.replicates, 3)]
            total, infinite, count = np.concatenate(drawn).T
            found.append(np.where(infinite > 0, np.inf, total / count))
        return found[0], found[1]

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
