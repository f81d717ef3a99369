"""Verification trials: enrolment, trial recordings, and the pairs that are tested."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

import numpy as np

from voicenym.attack.scenario import Model
from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, counted
from voicenym.metrics.intervals.interval import FEW_PEOPLE

ENROLMENT = 8
TRIALS = 6
"""Default numbers of utterances of each speaker."""
FEW_SPEAKERS = 20
"""Number of speakers below which intervals are unreliable."""


@dataclass(frozen=True)
class Part:
    """A part of a benchmark with figures of its own.

    Args:
        name: for reports, such as ``LibriSpeech f``.
        tested: ``[model, recording]``, mask of its pairs.
        weight: in the mean over parts; None without such a mean.
        group: of parts with a common mean, such as ``dev``; empty if there is one mean.
    """

    name: str
    tested: np.ndarray
    weight: float | None
    group: str = ""


def by_group(parts: Sequence[Part]) -> dict[str, list[int]]:
    """Indices of the parts of each mean, by its suffix of the figure's name.

    Parts without a weight have no mean, and are in no group.
    """
    found: dict[str, list[int]] = {}
    for place, part in enumerate(parts):
        if part.weight is not None:
            found.setdefault(f" {part.group}".rstrip(), []).append(place)
    return found


@dataclass(frozen=True)
class Trials:
    """A verification test.

    Args:
        models: of the enrolled speakers.
        recordings: of the trials.
        tested: ``[model, recording]``, mask of the tested pairs.
        notes: limits of the figures that do not depend on which recordings are left.
        parts: of a benchmark; empty for others.
        spoken: parts for word error rates, which may have other weights.
    """

    models: tuple[Model, ...]
    recordings: tuple[Recording, ...]
    tested: np.ndarray
    notes: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    spoken: tuple[Part, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Limits of the figures, for the report: of the speakers and recordings that are left."""
        return (*self.notes, *few(self.compared))

    @property
    def compared(self) -> int:
        """Least number of speakers that are compared with each other, in any part; those of one
        sex where no pair is of two.
        """
        sexes = np.array([model.sex for model in self.models])
        known = {model.speaker: model.sex for model in self.models}
        tried = np.array([known.get(one.speaker, one.sex) for one in self.recordings])
        mixed = sexes[:, None] != tried
        counts: list[int] = []
        for tested in [part.tested for part in self.parts] or [self.tested]:
            there = tested.any(1)
            if (tested & mixed).any():
                counts.append(int(there.sum()))
            else:
                counts += [int((sexes[there] == sex).sum()) for sex in set(sexes[there])]
        return min(counts, default=0)

    @property
    def target(self) -> np.ndarray:
        """``[model, recording]``: pairs of the same speaker."""
        models = np.array([model.speaker for model in self.models])
        trials = np.array([recording.speaker for recording in self.recordings])
        same: np.ndarray = models[:, None] == trials
        return same & self.tested

    @property
    def nontarget(self) -> np.ndarray:
        """``[model, recording]``: tested pairs of different speakers."""
        return self.tested & ~self.target

    def without(self, enrolment: Container[str], tried: Container[str]) -> Trials:
        """Trials without some recordings, and without models that have none left.

        Args:
            enrolment: names of recordings to remove from the enrolment.
            tried: names of recordings to remove from the trials.
        """
        models, rows = [], []
        for row, model in enumerate(self.models):
            kept = tuple(r for r in model.recordings if r.name not in enrolment)
            if kept:
                models.append(replace(model, recordings=kept))
                rows.append(row)
        columns = [i for i, r in enumerate(self.recordings) if r.name not in tried]
        chosen = np.ix_(rows, columns)

        def reduced(parts: Sequence[Part]) -> tuple[Part, ...]:
            return tuple(replace(p, tested=p.tested[chosen]) for p in parts)

        return replace(
            self,
            models=tuple(models),
            recordings=tuple(self.recordings[column] for column in columns),
            tested=self.tested[chosen],
            parts=reduced(self.parts),
            spoken=reduced(self.spoken),
        )


def build(
    recordings: Sequence[Recording],
    *,
    enrolment: int = ENROLMENT,
    trials: int = TRIALS,
    same_sex: bool = True,
    seed: int = 0,
) -> Trials:
    """Trials from any corpus: each speaker against every other, of the same sex if it is known.

    Every speaker has some utterances for enrolment and others for trials, one at a time. The seed
    and the utterances' names determine the draw, so that it does not depend on their order.

    Args:
        recordings: of all speakers.
        enrolment, trials: utterances per speaker; a speaker with fewer has fewer in this ratio.
        same_sex: compare speakers of one sex only; different sexes are too easy to distinguish.
        seed: of the draw.

    Raises:
        CorpusError: fewer than two speakers with two utterances each.
    """
    by_speaker: dict[str, list[Recording]] = defaultdict(list)
    for recording in recordings:
        by_speaker[recording.speaker].append(recording)
    if len(by_speaker) < 2:
        raise CorpusError(
            "one speaker only: identity is measured between speakers; add recordings of others"
        )
    single = sorted(s for s, own in by_speaker.items() if len(own) < 2)
    notes = []
    if single:
        if len(single) > len(by_speaker) - 2:
            raise CorpusError(
                f"{len(single)} of {len(by_speaker)} speakers have one utterance each: of two "
                "speakers at least, one is needed to enrol and another to try; add recordings, or "
                "cut long ones in two"
            )
        alone = "with a single utterance"
        left = counted(len(single), f"speaker {alone} was", f"speakers {alone} were")
        notes.append(f"{left} left out")
    models, tried = [], []
    for speaker in sorted(set(by_speaker) - set(single)):
        own = sorted(by_speaker[speaker], key=lambda r: _lot(seed, r.name))
        wanted = min(enrolment, max(1, len(own) * enrolment // (enrolment + trials)))
        models.append(Model(speaker, speaker, tuple(own[:wanted]), own[0].sex))
        tried.extend(own[wanted : wanted + trials])
    sexes = np.array([model.sex for model in models])
    tested = np.ones((len(models), len(tried)), dtype=bool)
    if same_sex and all(sexes):
        tested = sexes[:, None] == np.array([recording.sex for recording in tried])
    elif same_sex:
        unknown = sum(not sex for sex in sexes)
        notes.append(
            f"the sex of {unknown} of {len(models)} speakers is unknown: women are compared with "
            "men, too, whom attackers tell apart more easily"
        )
    test = Trials(tuple(models), tuple(tried), tested, tuple(notes))
    if test.compared < 2:
        raise CorpusError("only one speaker of a sex: add speakers, or compare all with --any-sex")
    return test


def few(speakers: int) -> list[str]:
    """A warning if few speakers are compared; else nothing."""
    if speakers >= FEW_SPEAKERS:
        return []
    rough = ""
    if speakers < FEW_PEOPLE:
        rough = "; figures that are not shares of trials have no interval with so few"
    return [
        f"only {speakers} speakers are compared with each other: intervals are wide, and figures "
        f"of other people may differ{rough}"
    ]


def _lot(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {name}".encode()).digest()
