"""Trials in the order of their scores, sorted and resampled once for all metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError
from voicenym.metrics.trials.pav import joined_steps
from voicenym.metrics.trials.pav_batches import Blocks, blocks
from voicenym.metrics.trials.score_bins import bins
from voicenym.metrics.trials.scores import Array, Scores, Sorted, Speakers, check
from voicenym.metrics.trials.speaker_pairs import numbered
from voicenym.metrics.trials.trial_draws import Seed, TrialDraws

KEPT = 1 << 24
"""Numbers that the kept weights of replicates may have: 128 MB."""


class SortedTrials:
    """Scores of trials with what several metrics need of them: each part is computed once.

    The functions of trial scores, such as :func:`voicenym.metrics.eer`, have one in place of the
    scores. They then share one sort, one calibration by PAV, and the replicates of a bootstrap.

    Args:
        target, nontarget: scores.
        speakers: of the trials; None counts trials as independent.

    Raises:
        ScoreError: NaN, a class without trials, or speakers that are none.

    Example:
        >>> from voicenym.metrics import eer, min_cllr
        >>> trials = SortedTrials([2.0, 3.0], [0.0, 1.0])
        >>> eer(trials).value, min_cllr(trials, interval=None).value
        (0.0, 0.0)
    """

    def __init__(self, target: Scores, nontarget: Scores, speakers: Speakers | None = None) -> None:
        self.target, self.nontarget = check(target, nontarget)
        if not (speakers is None or isinstance(speakers, Speakers)):
            raise ScoreError(
                f"speakers of trials are Speakers(target, nontarget), not {type(speakers).__name__}"
            )
        self.speakers = speakers
        self._drawn: dict[tuple[int, int], TrialDraws] = {}
        self._weighted: dict[tuple[int, int], Replicates] = {}

    @classmethod
    def of(
        cls,
        target: Scores | SortedTrials,
        nontarget: Scores | None = None,
        speakers: Speakers | None = None,
    ) -> SortedTrials:
        """Sorted trials from the arguments of a metric: themselves, or scores.

        Raises:
            TypeError: sorted trials with further scores or speakers, or scores of one class.
        """
        if isinstance(target, SortedTrials):
            if nontarget is not None or speakers is not None:
                raise TypeError("sorted trials have their non-target scores and their speakers")
            return target
        if nontarget is None:
            raise TypeError("non-target scores are missing")
        return cls(target, nontarget, speakers)

    @cached_property
    def people(self) -> int:
        """Number of speakers of the target trials; of these trials where speakers are unknown."""
        if self.speakers is None:
            return self.target.size
        return len(numbered(np.asarray(self.speakers.target)[:, 1])[0])

    @cached_property
    def whole(self) -> Sorted:
        """All trials, each counted once."""
        return Sorted.of(self.target, self.nontarget)

    @cached_property
    def pooled(self) -> tuple[Sorted, Array]:
        """Trials and LLR in nats of each step of PAV."""
        return joined_steps(self.whole)

    @cached_property
    def bins(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], int]:
        """Bin of each trial of both classes, and the number of bins (:mod:`.score_bins`)."""
        lowest = self.whole.thresholds[bins(self.whole)]
        at_t, at_n = (
            np.searchsorted(lowest, scores, side="right") - 1
            for scores in (self.target, self.nontarget)
        )
        return at_t, at_n, len(lowest)

    def draws(self, count: int, seed: Seed = 0) -> TrialDraws:
        """Draws of a bootstrap; those of a seed are drawn once.

        Args:
            count: of the replicates.
            seed: of the draws, or a generator, which is then advanced.

        Raises:
            ScoreError: speakers that do not fit the trials.
        """
        sizes = self.target.size, self.nontarget.size
        if isinstance(seed, np.random.Generator):
            return TrialDraws(*sizes, self.speakers, count, seed)
        if (count, seed) not in self._drawn:
            self._drawn[count, seed] = TrialDraws(*sizes, self.speakers, count, seed)
        return self._drawn[count, seed]

    def replicates(self, count: int, seed: Seed = 0) -> Replicates:
        """Replicates of the order of the scores; those of a seed are computed once.

        Args:
            count, seed: as for :meth:`draws`.

        Raises:
            ScoreError: speakers that do not fit the trials.
        """
        if isinstance(seed, np.random.Generator):
            return Replicates(self.draws(count, seed), *self.bins)
        if (count, seed) not in self._weighted:
            self._weighted[count, seed] = Replicates(self.draws(count, seed), *self.bins)
        return self._weighted[count, seed]


class Replicates:
    """Replicates of a bootstrap of trials: weights of bins of the order of their scores.

    Args:
        draws: of the trials.
        target, nontarget: bin of each trial.
        bins: number of them.
    """

    def __init__(
        self,
        draws: TrialDraws,
        target: npt.NDArray[np.intp],
        nontarget: npt.NDArray[np.intp],
        bins: int,
    ) -> None:
        self._draws, self._places = draws, (target, nontarget, bins)
        self._keep = 2 * draws.replicates * bins <= KEPT
        self._weights: list[tuple[Array, Array]] = []

    def weights(self) -> Iterator[tuple[Array, Array]]:
        """Weights ``[replicate, bin]`` of targets and non-targets, some replicates at a time."""
        if self._weights:
            yield from self._weights
            return
        found = []
        for target, nontarget in self._draws.counted(*self._places):
            if self._keep:
                found.append((target, nontarget))
            yield target, nontarget
        self._weights = found

    def each(self, statistic: Callable[[Array, Array], Array]) -> Array:
        """A statistic of all replicates, ``[replicate, ...]``.

        Args:
            statistic: of the weights ``[replicate, bin]`` of targets and non-targets.
        """
        return np.concatenate([statistic(*weights) for weights in self.weights()])

    @cached_property
    def blocks(self) -> list[Blocks]:
        """Blocks of PAV of the replicates, some in each item."""
        return [blocks(*weights) for weights in self.weights()]

    def of_blocks(self, statistic: Callable[[Blocks], Array]) -> Array:
        """A statistic of the blocks of PAV of all replicates, ``[replicate, ...]``."""
        return np.concatenate([statistic(some) for some in self.blocks])
