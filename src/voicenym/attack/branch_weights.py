"""Weights and training of branches, by trials among the speakers of the attacker's own pool.

By cross-validation, each quarter of the pool's speakers is compared by back ends of the other three
quarters; logistic regression on the ranks of these scores gives the weights. The extractor of
i-vectors, which needs no names, has heard all four: docs/measuring/attackers.md says what that
changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.attack.channel_branches import Branch
from voicenym.attack.ranked_fusion import RankedFusion
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
        scores, target = _compared(branch, pool, copies, int(pool.voices.max()), per)
        if target.all() or not target.any():
            return False
        errors.append(eer(scores[target], scores[~target], interval=None).value)
    return errors[1] < errors[0]


def fused(
    branches: Sequence[Branch], pools: Sequence[Measured], copies: Sequence[bool], per: str
) -> RankedFusion:
    """Weights of branches, from trials among the pool's speakers.

    Half of a speaker's recordings, under the keys per utterance, enrol; the others are trials under
    the key that draws voices as the user does.

    Args:
        branches: to fuse.
        pools: the pool's measures by each branch.
        copies: of each branch, see :func:`copies_count`.
        per: how the user draws voices, ``speaker`` or ``utterance``.

    Raises:
        CorpusError: no speaker of the pool has two recordings.
    """
    last = int(max(pool.voices.max() for pool in pools))
    rows = set.intersection(
        *({*zip(pool.names.tolist(), pool.voices.tolist(), strict=True)} for pool in pools)
    )
    columns, target = [], np.empty(0, dtype=bool)
    for branch, pool, counted in zip(branches, pools, copies, strict=True):
        pairs = zip(pool.names.tolist(), pool.voices.tolist(), strict=True)
        there = np.array([pair in rows for pair in pairs])
        common = pool if there.all() else pool.of(there)
        scores, target = _compared(branch, common, counted, last, per)
        if not len(scores):
            raise CorpusError("no speaker of the pool has two recordings; give more with --pool")
        columns.append(scores)
    return RankedFusion.fit(np.stack(columns, axis=1), target)


def _compared(
    branch: Branch, pool: Measured, copies: bool, last: int, per: str
) -> tuple[Array, np.ndarray]:
    """Scores ``[trial]`` among the pool's speakers by cross-validation, and which are of one
    speaker.
    """
    trial_voice = last if per == "speaker" else 0
    enrolled = {*range(last)} - {trial_voice} or {0}
    speakers = np.unique(pool.speakers)
    folds = [set(speakers[first::FOLDS].tolist()) for first in range(FOLDS)]
    parts, labels = [np.empty(0)], [np.empty(0, dtype=bool)]
    for fold in folds:
        inside = np.array([speaker in fold for speaker in pool.speakers])
        models, names, trials, trial_names = _trials(pool.of(inside), enrolled, trial_voice)
        if models and len(trials):
            back_end = trained(branch, pool.of(~inside), copies)
            parts.append(back_end.score(models, trials).ravel())
            labels.append((np.array(names)[:, None] == trial_names[None]).ravel())
    return np.concatenate(parts), np.concatenate(labels)


def _trials(
    part: Measured, voices: set[int], trial_voice: int
) -> tuple[list[Array], list[str], Array, np.ndarray]:
    """Models and their speakers, and trials and theirs."""
    models, names, chosen = [], [], np.zeros(len(part.names), dtype=bool)
    for speaker in np.unique(part.speakers):
        own = part.speakers == speaker
        recordings = np.unique(part.names[own])
        first = set(recordings[: (len(recordings) + 1) // 2].tolist())
        inside = np.array([name in first for name in part.names]) & own
        rows = inside & np.isin(part.voices, list(voices))
        if rows.any():
            models.append(part.numbers[rows])
            names.append(str(speaker))
            chosen |= own & ~inside & (part.voices == trial_voice)
    return models, names, part.numbers[chosen], part.speakers[chosen]
