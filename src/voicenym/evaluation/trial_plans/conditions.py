"""Conditions of an evaluation: subgroups of speakers by sex, age and corpus, and trial lists.

The figures of a condition are those of its own trials: each of its speakers against the others of
the same condition. The VoicePrivacy Challenges report by data set and sex (Tomashenko et al. 2022).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.corpus.recording import Recording
from voicenym.evaluation.trial_plans.trials import Trials

FEWEST_SPEAKERS = 4
"""Least number of speakers of a subgroup with figures; a bootstrap over fewer is meaningless. A
trial list that a user gives is always measured."""
SEXES = {"f": "women", "m": "men"}
"""Names of the sexes' conditions, as in ``EER f``, in words."""


@dataclass(frozen=True)
class ConditionSize:
    """A condition and its numbers of trials, for the report.

    Args:
        name: in the keys of its figures, such as ``f`` in ``EER f``.
        kind: ``sex``, ``age``, ``corpus`` or ``list``.
        speakers: number of its enrolled speakers.
        targets, nontargets: numbers of trials.
    """

    name: str
    kind: str
    speakers: int
    targets: int
    nontargets: int

    @property
    def words(self) -> str:
        """Name in words."""
        return SEXES.get(self.name, self.name) if self.kind == "sex" else self.name

    @property
    def lacking(self) -> str:
        """Reason why there are no figures; empty if there are."""
        if self.kind != "list" and self.speakers < FEWEST_SPEAKERS:
            return f"too few speakers: {self.speakers}, at least {FEWEST_SPEAKERS} are needed"
        if not self.targets or not self.nontargets:
            return "trials of one speaker, or of two speakers, are missing"
        return ""


@dataclass(frozen=True)
class Condition:
    """A subset of the trials with figures of its own.

    Args:
        size: its name and its numbers.
        tested: ``[model, recording]``, mask of its pairs.
        recordings: names of its test recordings.
    """

    size: ConditionSize
    tested: np.ndarray
    recordings: frozenset[str]

    @property
    def name(self) -> str:
        return self.size.name

    def of(self, recordings: Sequence[Recording]) -> np.ndarray:
        """Indices of its recordings among given ones, ``[recording]``."""
        return self.places([recording.name for recording in recordings])

    def places(self, names: Sequence[str]) -> np.ndarray:
        """Indices of its recordings among given names."""
        return np.array([i for i, name in enumerate(names) if name in self.recordings], dtype=int)


def conditions(trials: Trials) -> tuple[Condition, ...]:
    """Conditions of some trials, without those that hold all trials.

    By sex and age group, a pair counts where both speakers are of the group; by corpus, where both
    recordings are from it. Trial lists (:attr:`Trials.parts`) are as they were given.

    Args:
        trials: all trials.

    Returns:
        Conditions by sex, age group, corpus and list; also those too small for figures
        (:attr:`ConditionSize.lacking`).
    """
    named = {model.speaker: model.sex for model in trials.models}
    sexes = _of_speakers(trials, lambda recording: recording.sex, named)
    ages = _of_speakers(trials, lambda recording: recording.age_group, {})
    found = [*_groups(trials, "sex", *sexes), *_groups(trials, "age", *ages)]
    rows = np.array([model.recordings[0].corpus for model in trials.models], dtype=object)
    columns = np.array([recording.corpus for recording in trials.recordings], dtype=object)
    found += _groups(trials, "corpus", rows, columns)
    found += [_condition(trials, part.name, "list", part.tested) for part in trials.parts]
    return tuple({condition.name: condition for condition in found}.values())


def measurable(trials: Trials) -> list[Condition]:
    """Conditions that are large enough for figures."""
    return [condition for condition in conditions(trials) if not condition.size.lacking]


def within(trials: Trials, condition: Condition) -> Trials:
    """Trials of a condition only; rows and columns do not change."""
    return Trials(trials.models, trials.recordings, condition.tested)


def _of_speakers(
    trials: Trials, group: Callable[[Recording], str], known: Mapping[str, str]
) -> tuple[np.ndarray, np.ndarray]:
    """Group of each model's and each trial's speaker; empty if no recording states it."""
    known = dict(known)
    every = [recording for model in trials.models for recording in model.recordings]
    for recording in (*every, *trials.recordings):
        known[recording.speaker] = known.get(recording.speaker) or group(recording)
    rows = np.array([known.get(model.speaker, "") for model in trials.models], dtype=object)
    columns = np.array([known[recording.speaker] for recording in trials.recordings], dtype=object)
    return rows, columns


def _groups(trials: Trials, kind: str, rows: np.ndarray, columns: np.ndarray) -> list[Condition]:
    """Conditions by group, if there are several groups or some speakers have none."""
    names = sorted({*rows.tolist(), *columns.tolist()} - {""})
    found = [
        _condition(trials, name, kind, trials.tested & np.outer(rows == name, columns == name))
        for name in names
    ]
    return [one for one in found if not np.array_equal(one.tested, trials.tested)]


def _condition(trials: Trials, name: str, kind: str, tested: np.ndarray) -> Condition:
    rows, columns = np.flatnonzero(tested.any(1)), np.flatnonzero(tested.any(0))
    speakers = {trials.models[row].speaker for row in rows}
    size = ConditionSize(
        name,
        kind,
        len(speakers),
        int((tested & trials.target).sum()),
        int((tested & trials.nontarget).sum()),
    )
    tried = frozenset(trials.recordings[column].name for column in columns)
    return Condition(size, tested, tried)
