"""Weights and training of branches, by trials among the speakers of the attacker's own pool.

By cross-validation, each quarter of the pool's speakers is compared by back ends of the other three
quarters; logistic regression on the ranks of these scores gives the weights. The extractor of
i-vectors, which needs no names, has heard all four: docs/measuring/attackers.md says what that
changes. Searches score the same trials, so that they can be fused, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.attack.channels.channel_branches import Branch
from voicenym.attack.fusion.ranked_fusion import RankedFusion
from voicenym.errors import CorpusError
from voicenym.metrics import eer
from voicenym.verification.scoring import Array, Backend

FOLDS = 4
"""Number of folds of the cross-validation over the pool's speakers."""


@dataclass(frozen=True)
class Measured:
    """Measures of recordings under several keys.

    Args:
        numbers: ``[row, measure]``.
        speakers: of each row.
        names: of each row's recording.
        voices: of each row, the number of the key.
    """

    numbers: Array
    speakers: np.ndarray
    names: np.ndarray
    voices: np.ndarray

    def of(self, rows: np.ndarray) -> Measured:
        """Some of the rows."""
        return Measured(
            self.numbers[rows], self.speakers[rows], self.names[rows], self.voices[rows]
        )


@dataclass(frozen=True)
class Fold:
    """Trials among a quarter of the pool's speakers.

    Args:
        speakers: of the models.
        enrolled: of each model, its rows in the pool's measures.
        tried: rows of the trials, ``[trial]``.
        others: rows of the other quarters, which back ends are trained on, ``[row]`` bool.
    """

    speakers: tuple[str, ...]
    enrolled: tuple[np.ndarray, ...]
    tried: np.ndarray
    others: np.ndarray


FoldScores = Callable[[Measured, Sequence[Fold]], Sequence[Array]]
"""Scores ``[model, trial]`` of each fold, by a search."""


def trained(branch: Branch, pool: Measured, copies: bool) -> Backend:
    """The branch's back end, fitted to the pool's measures.

    Args:
        branch: whose back end.
        pool: its measures.
        copies: whether copies under several keys count as recordings of a speaker. Otherwise the
            keys alternate over a speaker's recordings: the n-th is that under the n-th key.
    """
    if not copies:
        turn = np.zeros(len(pool.names), dtype=int)
        for speaker in np.unique(pool.speakers):
            own = pool.speakers == speaker
            turn[own] = np.unique(pool.names[own], return_inverse=True)[1]
        keys = np.unique(pool.voices)
        pool = pool.of(pool.voices == keys[turn % len(keys)])
    return branch.train(pool.numbers, pool.speakers.tolist())


def copies_count(branch: Branch, pool: Measured, per: str) -> bool:
    """Whether copies under several keys count as recordings of a speaker.

    They do in channels that every key changes. In others, the attacker compares both ways by trials
    among the pool's speakers: where a key changes the channel, copies show how much; where it does
    not, they hide how much recordings differ.

    Args:
        branch: of the channel.
        pool: its measures.
        per: how the user draws voices, ``speaker`` or ``utterance``.
    """
    if not branch.keeps:
        return True
    errors = []
    for copies in (False, True):
        scores, target = _compared(branch, pool, copies, _folds(pool, int(pool.voices.max()), per))
        if target.all() or not target.any():
            return False
        errors.append(eer(scores[target], scores[~target], interval=None).value)
    return errors[1] < errors[0]


def fused(
    branches: Sequence[Branch],
    pools: Sequence[Measured],
    copies: Sequence[bool],
    per: str,
    searches: Sequence[FoldScores] = (),
) -> RankedFusion:
    """Weights of branches, and of searches, from trials among the pool's speakers.

    Half of a speaker's recordings, under the keys per utterance, enrol; the others are trials under
    the key that draws voices as the user does (:func:`trial_voice`).

    Args:
        branches: to fuse.
        pools: the pool's measures by each branch.
        copies: of each branch, see :func:`copies_count`.
        per: how the user draws voices, ``speaker`` or ``utterance``.
        searches: their weights follow those of the branches.

    Raises:
        CorpusError: no speaker of the pool has two recordings.
    """
    common = _common(pools)
    # all have the same rows in the same order
    folds = _folds(common[0], int(max(pool.voices.max() for pool in pools)), per)
    columns, target = [], np.empty(0, dtype=bool)
    for branch, pool, counted in zip(branches, common, copies, strict=True):
        scores, target = _compared(branch, pool, counted, folds)
        if not len(scores):
            raise CorpusError("no speaker of the pool has two recordings; give more with --pool")
        columns.append(scores)
    columns += [np.concatenate([s.ravel() for s in own(common[0], folds)]) for own in searches]
    return RankedFusion.fit(np.stack(columns, axis=1), target)


def trial_voice(last: int, per: str) -> int:
    """Number of the key of the pool's trials, the last one being that per speaker."""
    return last if per == "speaker" else 0


def _common(pools: Sequence[Measured]) -> list[Measured]:
    """The measures of recordings and keys that all have."""
    pairs = [list(zip(pool.names.tolist(), pool.voices.tolist(), strict=True)) for pool in pools]
    everywhere = set.intersection(*(set(own) for own in pairs))
    there = [np.array([pair in everywhere for pair in own]) for own in pairs]
    return [pool if kept.all() else pool.of(kept) for pool, kept in zip(pools, there, strict=True)]


def _compared(
    branch: Branch, pool: Measured, copies: bool, folds: Sequence[Fold]
) -> tuple[Array, np.ndarray]:
    """Scores ``[trial]`` among the pool's speakers by cross-validation, and which are of one
    speaker.
    """
    parts, labels = [np.empty(0)], [np.empty(0, dtype=bool)]
    for fold in folds:
        back_end = trained(branch, pool.of(fold.others), copies)
        models = [pool.numbers[rows] for rows in fold.enrolled]
        parts.append(back_end.score(models, pool.numbers[fold.tried]).ravel())
        labels.append((np.array(fold.speakers)[:, None] == pool.speakers[fold.tried]).ravel())
    return np.concatenate(parts), np.concatenate(labels)


def _folds(pool: Measured, last: int, per: str) -> list[Fold]:
    """The folds that have trials."""
    tried_under = trial_voice(last, per)
    enrolled_under = list({*range(last)} - {tried_under} or {0})
    speakers = np.unique(pool.speakers)
    found = []
    for first in range(FOLDS):
        inside = np.isin(pool.speakers, speakers[first::FOLDS])
        fold = _fold(pool, inside, enrolled_under, tried_under)
        if fold.speakers and len(fold.tried):
            found.append(fold)
    return found


def _fold(pool: Measured, inside: np.ndarray, enrolled_under: list[int], tried_under: int) -> Fold:
    """Models and trials among the rows inside; speakers without enrolment have no trials."""
    names, enrolled, tried = [], [], np.zeros(len(pool.names), dtype=bool)
    for speaker in np.unique(pool.speakers[inside]):
        own = pool.speakers == speaker
        recordings = np.unique(pool.names[own])
        enrols = own & np.isin(pool.names, recordings[: (len(recordings) + 1) // 2])
        rows = np.flatnonzero(enrols & np.isin(pool.voices, enrolled_under))
        if len(rows):
            names.append(str(speaker))
            enrolled.append(rows)
            tried |= own & ~enrols & (pool.voices == tried_under)
    return Fold(tuple(names), tuple(enrolled), np.flatnonzero(tried), ~inside)
