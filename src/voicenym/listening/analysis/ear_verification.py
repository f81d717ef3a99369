"""Verification by listeners: EER, C_llr and DET of scores of same and different speakers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.errors import ScoreError
from voicenym.listening.ratings import VERIFICATION, Rating, in_order
from voicenym.metrics import Affine, SortedTrials, Speakers, cllr, eer, min_cllr, rocch_eer
from voicenym.metrics.metric import Measured


@dataclass(frozen=True)
class EarVerification:
    """Figures of one system; shares in percent, costs in bits.

    Args:
        system, question: names.
        trials: sorted scores of same and different speakers.
        eer, hull: equal error rates, the second on the ROC's convex hull.
        cllr: of scores that logistic regression calibrated on the other listeners' answers to all
            systems; None with too few.
        least: minimum C_llr.
    """

    system: str
    question: str
    trials: SortedTrials
    eer: Measured
    hull: Measured
    cllr: Measured | None
    least: Measured


def verifications(ratings: Sequence[Rating], *, seed: int = 0) -> list[EarVerification]:
    """Figures of each system with pairs of same and of different speakers.

    Intervals are bootstraps over speakers.

    Args:
        ratings: of all questions; those of :data:`.VERIFICATION` count.
    """
    found = []
    for question in VERIFICATION:
        asked = [one for one in ratings if one.question == question and one.kind]
        found += _of_question(question, asked, seed)
    return found


def _of_question(question: str, asked: Sequence[Rating], seed: int) -> list[EarVerification]:
    """Figures of each system by the answers to one question."""
    calibrated = _calibrated(asked)
    found = []
    for system in in_order(one.system for one in asked):
        own = [(one, llr) for one, llr in zip(asked, calibrated, strict=True)
               if one.system == system]  # fmt: skip
        if len({one.kind for one, _ in own}) < 2:
            continue
        trials = _trials([one for one, _ in own], [one.score for one, _ in own])
        cost = None
        if all(llr is not None for _, llr in own):
            logs = _trials([one for one, _ in own], [float(llr or 0.0) for _, llr in own])
            cost = _measured(cllr(logs, seed=seed), "bit")
        found.append(
            EarVerification(
                system, question, trials, _measured(eer(trials, seed=seed), "%", 100.0),
                _measured(rocch_eer(trials, seed=seed), "%", 100.0), cost,
                _measured(min_cllr(trials, seed=seed), "bit"),
            )
        )  # fmt: skip
    return found


def _trials(ratings: Sequence[Rating], scores: Sequence[float]) -> SortedTrials:
    """Scores of both classes with the speakers of each trial."""
    names = sorted({n for one in ratings for n in (one.speaker, one.other or one.speaker)})
    number = {name: place for place, name in enumerate(names)}
    parts: dict[str, tuple[list[float], list[list[int]]]] = {
        "same": ([], []),
        "different": ([], []),
    }
    for one, score in zip(ratings, scores, strict=True):
        values, people = parts[one.kind]
        values.append(score)
        people.append([number[one.other or one.speaker], number[one.speaker]])
    speakers = Speakers(*(np.array(parts[kind][1]) for kind in ("same", "different")))
    known = speakers if len(names) > 1 else None
    return SortedTrials(parts["same"][0], parts["different"][0], known)


def _calibrated(ratings: Sequence[Rating]) -> list[float | None]:
    """LLR of each score by a line fitted to the answers of all other listeners."""
    found: list[float | None] = [None] * len(ratings)
    for listener in dict.fromkeys(one.listener for one in ratings):
        others = [one for one in ratings if one.listener != listener]
        target, nontarget = (
            [one.score for one in others if one.kind == kind] for kind in ("same", "different")
        )
        try:
            line = Affine.fit(target, nontarget)
        except ScoreError:
            continue
        for place, one in enumerate(ratings):
            if one.listener == listener:
                found[place] = float(line([one.score])[0])
    return found


def _measured(figure: object, unit: str, scale: float = 1.0) -> Measured:
    value, (low, high) = figure.value, figure.interval  # type: ignore[attr-defined]
    low, high = (None if limit != limit else scale * limit for limit in (low, high))
    return Measured(scale * value, low, high, unit)
