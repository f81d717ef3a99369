"""What guessing reaches on given trials: expected rates, and figures of shuffled speakers.

D_ECE and the worst case of ZEBRA are above 0 on any finite number of trials, whatever the scores
are, and a search finds a few people by luck. A permutation test shows how far: the scores stay, and
who spoke the recordings is shuffled, so that the scores tell nothing of it (Good, "Permutation,
Parametric, and Bootstrap Tests of Hypotheses", 3rd ed. 2005).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.metrics.identification import FEWEST_RECORDINGS, FOUND_FOR_SURE, RANK_ONE
from voicenym.metrics.trials.scores import Sorted
from voicenym.metrics.verification.zebra import (
    EXPECTED_DISCLOSURE,
    WORST_CASE,
    disclosure,
    worst_case,
)

SHUFFLES = 1000
"""Shuffles of the speakers. The level that the 95th percentile of so many has in truth lies between
93.6 % and 96.4 % in 95 of 100 cases."""
LEVEL = 0.95
"""Share of the shuffles that stay at or below the level of luck."""
FEWEST_ORDERS = 100
"""Possible orders of the speakers below which recordings are shuffled one by one: of fewer orders,
the true one is too large a share to be told from luck."""
NOBODY = -1


def expected(trials: Trials) -> dict[str, float]:
    """Rates that guessing reaches on average, by metric: rank-1 in percent.

    Rank-1 is the mean, over the recordings that it counts, of the share of the candidates that are
    the speaker: one in the number of candidates where each speaker is enrolled once.

    Args:
        trials: the tested pairs; without a recording that can be searched for there is no rate.
    """
    own, tested = trials.target.sum(0), trials.tested.sum(0)
    searched = (own > 0) & (own < tested)
    if not searched.any():
        return {}
    return {RANK_ONE.name: RANK_ONE.scale * float(np.mean(own[searched] / tested[searched]))}


def by_luck(scores: np.ndarray, trials: Trials, shuffles: int = SHUFFLES) -> dict[str, float]:
    """95th percentiles of figures of the same scores with shuffled speakers, by metric.

    Speakers are shuffled whole, each among the people whom its recordings are tried against, since
    scores of a speaker's recordings resemble each other. Where the speaker's recordings are tried
    against different people, as in some lists of trials, or where there are few orders of so few
    speakers, each recording is shuffled by itself. The percentiles are then rather too low, so that
    luck is rather taken for knowledge than the reverse.

    Args:
        scores: ``[model, trial]``, higher for the same speaker, none of the tested ones NaN.
        trials: the tested pairs, of both kinds.
        shuffles: how many; their seed is fixed.

    Returns:
        Of ``D_ECE`` in bits, of the ``worst case`` as log10 of a ratio, and of ``found for sure``
        in percent, if a speaker has enough recordings for it.
    """
    test = _Searches(scores, trials)
    found: dict[str, list[float]] = defaultdict(list)
    for who in _shuffled(test, shuffles):
        target = trials.tested & (test.models[:, None] == who)
        if not target.any():
            continue
        pooled = test.sorted(target)
        found[EXPECTED_DISCLOSURE.name].append(disclosure(pooled))
        found[WORST_CASE.name].append(worst_case(pooled))
        sure = test.found_for_sure(who, target)
        if sure is not None:
            found[FOUND_FOR_SURE.name].append(FOUND_FOR_SURE.scale * sure)
    return {
        name: float(np.quantile(values, LEVEL, method="higher")) for name, values in found.items()
    }


class _Searches:
    """Scores of trials, sorted once for all shuffles.

    Attributes:
        models, speakers: numbers of the people of the models and of the recordings.
        tested: ``[model, trial]``.
    """

    def __init__(self, scores: np.ndarray, trials: Trials) -> None:
        names = [model.speaker for model in trials.models]
        _, index = np.unique([*names, *(r.speaker for r in trials.recordings)], return_inverse=True)
        self.models, self.speakers = index[: len(names)], index[len(names) :]
        self.tested = trials.tested
        _, places = np.unique(scores[self.tested], return_inverse=True)
        self._places = np.zeros(self.tested.shape, dtype=np.intp)
        self._places[self.tested] = places
        self._count = np.bincount(places).astype(np.float64)
        self._below = np.append(0.0, np.cumsum(self._count))
        found = np.where(self.tested, scores, -np.inf)
        best = found == found.max(0)
        first = self.models[best.argmax(0)]
        # equal scores of two people find nobody for sure
        alone = (~best | (self.models[:, None] == first)).all(0)
        self._first = np.where(alone, first, NOBODY)

    def sorted(self, target: np.ndarray) -> Sorted:
        """The order of the scores with these pairs ``[model, trial]`` as target trials.

        The non-target trials between two target trials are one point, which changes no calibration.
        """
        at, targets = np.unique(self._places[target], return_counts=True)
        points = np.zeros((2, 2 * len(at) + 1))
        points[0, 1::2] = targets
        points[1, 1::2] = self._count[at] - targets
        points[1, ::2] = np.append(self._below[at], self._below[-1])
        points[1, 2::2] -= self._below[at + 1]
        return Sorted(np.arange(points.shape[1], dtype=np.float64), *points)

    def found_for_sure(self, who: np.ndarray, target: np.ndarray) -> float | None:
        """Share of the speakers all of whose recordings are found first; None if nobody has enough
        recordings.
        """
        counted = target.any(0) & (self.tested & ~target).any(0)
        recordings = np.bincount(self.speakers[counted])
        hits = np.bincount(self.speakers[counted & (self._first == who)], minlength=len(recordings))
        enough = recordings >= FEWEST_RECORDINGS
        return float(np.mean(hits[enough] == recordings[enough])) if enough.any() else None


def _shuffled(test: _Searches, shuffles: int) -> Iterator[np.ndarray]:
    """Number of the person who is taken for the speaker of each recording, ``[trial]``."""
    rng = np.random.default_rng(0)
    tried = (test.tested & (test.models[:, None] == test.speakers)).any(0)
    candidates = [np.unique(test.models[column]) for column in test.tested.T]
    groups = _whole_speakers(test, tried, candidates)
    sizes = np.array([len(among) for among in candidates])
    people = np.concatenate(candidates)
    first = np.cumsum(sizes) - sizes
    for _ in range(shuffles):
        who = np.full(len(tried), NOBODY)
        if groups is None:
            drawn = rng.integers(sizes[tried])
            who[tried] = people[first[tried] + drawn]
        else:
            other = np.full(test.speakers.max() + 1, NOBODY)
            for group, among in groups:
                other[group] = rng.permutation(among)[: len(group)]
            who = np.where(tried, other[test.speakers], NOBODY)
        yield who


def _whole_speakers(
    test: _Searches, tried: np.ndarray, candidates: list[np.ndarray]
) -> list[tuple[list[int], np.ndarray]] | None:
    """Speakers with the people among whom they can be shuffled whole; None if they cannot."""
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for person in np.unique(test.speakers[tried]):
        mine = np.flatnonzero(tried & (test.speakers == person))
        if not (test.tested[:, mine] == test.tested[:, mine[:1]]).all():
            return None
        groups[tuple(candidates[mine[0]].tolist())].append(int(person))
    orders = math.prod(math.perm(len(among), len(people)) for among, people in groups.items())
    if orders < FEWEST_ORDERS:
        return None
    return [(people, np.array(among)) for among, people in groups.items()]
