"""Identification among the enrolled candidates: rank-1 rates, also by speaker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voicenym.errors import ScoreError
from voicenym.metrics.intervals.binomial import clopper_pearson, of_largest, of_share
from voicenym.metrics.intervals.interval import NO_LIMITS, drawn_ratios
from voicenym.metrics.metric import BOOTSTRAP_OF_SHARE, Display, Estimate, Metric
from voicenym.metrics.metric_inputs import IdentificationScores

FEWEST_RECORDINGS = 3
"""Of a speaker who counts as found for sure: one or two are found by chance."""


@dataclass(frozen=True)
class Firsts:
    """Rank-1 counts by speaker.

    Args:
        share: ``[recording]``, 1 where the speaker alone has the best score, 1 / k of k people with
            equal ones, however often each is enrolled.
        recordings: ``[recording]``, places of those that have a target and a non-target trial.
        hits, trials: ``[speaker]``, sums of ``share``, and numbers of recordings.
        speakers: ``[speaker]``.
    """

    share: np.ndarray
    recordings: np.ndarray
    hits: np.ndarray
    trials: np.ndarray
    speakers: np.ndarray


def firsts(data: IdentificationScores) -> Firsts:
    """Rank-1 results of recordings: whether the speaker has the best score of all candidates.

    Args:
        data: scores of recordings against candidates.

    Raises:
        ScoreError: tables of other sizes than the candidates and recordings, none of these, or a
            tested score that is NaN, which no other would exceed.
    """
    _check(data)
    same = data.tested & (data.candidates[:, None] == data.speakers)
    others = data.tested & ~same
    best = np.where(same, data.scores, -np.inf).max(0)
    higher = (others & (data.scores > best)).any(0)
    equal = _people(others & (data.scores == best), data.candidates)
    share = np.where(higher, 0.0, 1.0 / (1.0 + equal))
    there = np.flatnonzero(same.any(0) & others.any(0))
    names, index = np.unique(data.speakers[there], return_inverse=True)
    hits = np.bincount(index, share[there], minlength=len(names))
    return Firsts(share[there], there, hits, np.bincount(index, minlength=len(names)), names)


def _check(data: IdentificationScores) -> None:
    shape = len(data.candidates), len(data.speakers)
    if not data.scores.shape == data.tested.shape == shape or 0 in shape:
        raise ScoreError(
            f"scores {list(data.scores.shape)} and trials {list(data.tested.shape)} do not fit "
            f"{shape[0]} candidates and {shape[1]} recordings; there must be one at least of each"
        )
    bad = np.argwhere(data.tested & np.isnan(data.scores))
    if len(bad):
        raise ScoreError(
            f"the score of candidate {bad[0][0]} and recording {bad[0][1]} is NaN ({len(bad)} "
            "are); mend or leave out that trial"
        )


def _people(rows: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Number of people of whom a row is marked, ``[recording]``; one may have several rows.

    Args:
        rows: ``[candidate, recording]``.
        candidates: ``[candidate]``, who they are.
    """
    order = np.argsort(candidates, kind="stable")
    first = np.flatnonzero(np.diff(candidates[order], prepend=np.nan) != 0)
    found: np.ndarray = np.logical_or.reduceat(rows[order], first, axis=0).sum(0)
    return found


def _rank_one(data: IdentificationScores) -> Estimate | None:
    found = data.once(firsts)
    if not len(found.share):
        return None
    speakers = data.speakers[found.recordings]
    value = float(found.share.mean())
    people = len(found.speakers)
    if people < 2:
        return Estimate(value, NO_LIMITS)
    drawn = drawn_ratios(found.share, np.ones(len(speakers)), speakers, **data.bootstrap)
    return Estimate(value, of_share(value, drawn, people, len(speakers)))


def _worst(data: IdentificationScores) -> Estimate | None:
    found = data.once(firsts)
    if not len(found.share):
        return None
    return Estimate(float((found.hits / found.trials).max()), of_largest(found.hits, found.trials))


def _sure(data: IdentificationScores) -> Estimate | None:
    found = data.once(firsts)
    enough = found.trials >= FEWEST_RECORDINGS
    if not enough.any():
        return None
    sure = int((found.hits[enough] == found.trials[enough]).sum())
    low, high = clopper_pearson(sure, int(enough.sum()))
    return Estimate(sure / int(enough.sum()), (float(low), float(high)))


RANK_ONE = Metric(
    name="rank-1",
    unit="%",
    better="lower",
    chance=None,
    interval=BOOTSTRAP_OF_SHARE,
    definition="Share of recordings for which the speaker has the best score of all candidates "
    "that are tried; guessing gives one divided by the number of candidates",
    data=IdentificationScores,
    measure=_rank_one,
    display=Display(table="attackers", digits=1),
    scale=100.0,
    originals=True,
)
WORST_SPEAKER = Metric(
    name="worst speaker",
    unit="%",
    better="lower",
    chance=None,
    interval="exact (Clopper and Pearson 1934), corrected by Bonferroni for the choice of the "
    "worst of all speakers",
    definition="Rank-1 share of the speaker who is found most often",
    data=IdentificationScores,
    measure=_worst,
    display=Display(table="attackers", digits=1),
    scale=100.0,
    originals=True,
)
FOUND_FOR_SURE = Metric(
    name="found for sure",
    unit="%",
    better="lower",
    chance=0.0,
    interval="exact, of independent speakers (Clopper and Pearson 1934)",
    definition="Share of speakers all of whose recordings are found first; of speakers with at "
    f"least {FEWEST_RECORDINGS} recordings",
    data=IdentificationScores,
    measure=_sure,
    display=Display(table="attackers", digits=1),
    scale=100.0,
    originals=True,
)
