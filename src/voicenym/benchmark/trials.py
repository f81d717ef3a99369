"""Which voices are compared: enrolment, trials, and which pairs of them count."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from voicenym.attack.case import Model
from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError

ENROLMENT = 8
TRIALS = 6
"""Utterances of each speaker, where they have so many."""
FEW_SPEAKERS = 20
"""Below so many speakers an interval says little."""


@dataclass(frozen=True)
class Trials:
    """A verification test.

    Args:
        models: who is enrolled.
        recordings: what is tried.
        tested: ``[model, recording]``, which pairs count.
        warnings: what a reader of the figures must know.
    """

    models: tuple[Model, ...]
    recordings: tuple[Recording, ...]
    tested: np.ndarray
    warnings: tuple[str, ...] = ()

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


def build(
    recordings: Sequence[Recording],
    *,
    enrolment: int = ENROLMENT,
    trials: int = TRIALS,
    same_sex: bool = True,
    seed: int = 0,
) -> Trials:
    """Trials from any corpus: each speaker against every other, of the same sex where it is known.

    Every speaker enrols with some utterances and is tried with others, one at a time; which ones
    is drawn by the seed and the utterances' names, so that it does not depend on their order.

    Args:
        recordings: of all speakers.
        enrolment, trials: utterances a speaker; fewer where a speaker has fewer, in this share.
        same_sex: compare speakers of one sex only; sexes are told apart too easily.
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
    warnings = []
    if single:
        if len(single) > len(by_speaker) - 2:
            raise CorpusError(
                "speakers have one utterance each: one is needed to enrol and another to try; add "
                "recordings, or cut long ones in two"
            )
        warnings.append(f"{len(single)} speakers with a single utterance were left out")
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
        warnings.append("sex is unknown: women and men are compared too, which flatters figures")
    smallest = min(int((sexes == sex).sum()) for sex in set(sexes))
    if smallest < 2:
        raise CorpusError("only one speaker of a sex: add speakers, or compare all with --any-sex")
    if smallest < FEW_SPEAKERS:
        warnings.append(
            f"only {smallest} speakers are compared with each other: intervals are wide, and "
            "figures of other people may differ"
        )
    return Trials(tuple(models), tuple(tried), tested, tuple(warnings))


def _lot(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {name}".encode()).digest()


def from_voiceprivacy(enrolment: Path, trials: Path, recordings: Sequence[Recording]) -> Trials:
    """Trials of the VoicePrivacy Challenge's lists.

    Args:
        enrolment: an ``enrolls`` file (utterances, one a line), or Kaldi ``utt2spk`` of them.
        trials: a ``trials`` file: speaker, utterance, ``target`` or ``nontarget``.
        recordings: that the lists speak of.

    Raises:
        CorpusError: lines that cannot be understood; utterances that are not there.
    """
    known = {recording.name: recording for recording in recordings}
    enrolled: dict[str, list[Recording]] = defaultdict(list)
    missing = []
    for line in _lines(enrolment):
        name = line.split()[0]
        if name in known:
            enrolled[known[name].speaker].append(known[name])
        else:
            missing.append(name)
    rows = []
    for line in _lines(trials):
        parts = line.split()
        if len(parts) != 3 or parts[2] not in ("target", "nontarget"):
            raise CorpusError(
                f"{trials}: expected SPEAKER UTTERANCE target|nontarget, found {line!r}"
            )
        if parts[1] not in known:
            missing.append(parts[1])
        elif parts[0] not in enrolled:
            raise CorpusError(f"{trials}: {parts[0]} is not enrolled by {enrolment}")
        else:
            rows.append(parts)
    if missing:
        raise CorpusError(
            f"{len(missing)} utterances of {enrolment.name} and {trials.name} have no recording: "
            + ", ".join(missing[:5])
        )
    models = [Model(s, s, tuple(own), own[0].sex) for s, own in sorted(enrolled.items())]
    tried = [known[name] for name in sorted({row[1] for row in rows})]
    model_at = {model.name: i for i, model in enumerate(models)}
    tried_at = {recording.name: i for i, recording in enumerate(tried)}
    tested = np.zeros((len(models), len(tried)), dtype=bool)
    for speaker, name, kind in rows:
        if (known[name].speaker == speaker) != (kind == "target"):
            raise CorpusError(
                f"{trials}: {speaker} {name} {kind}, but {name} is by {known[name].speaker}"
            )
        tested[model_at[speaker], tried_at[name]] = True
    return Trials(tuple(models), tuple(tried), tested)


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}: cannot be read ({error})") from None
    return [line for line in text.splitlines() if line.strip()]
