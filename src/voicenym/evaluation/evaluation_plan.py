"""Plan of an evaluation, and the scores and vectors that it collects for the report's figures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from voicenym.attack.attacker_resources import AttackerTraining
from voicenym.corpus.readers.recording_subsets import spread
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import File, Step
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.metrics.metric_inputs import Tally
from voicenym.pseudonym import Key
from voicenym.recognition import PhoneRecogniser, Recogniser, Transcripts


@dataclass(frozen=True)
class Plan:
    """Data, systems, attackers and settings of an evaluation.

    Args:
        data: description of the recordings, in a line for the report.
        trials: models, recordings and tested pairs.
        settings: description of the settings, in a line for the report.
        pool: recordings of other people, for attackers who train.
        systems: names and parameters; a system may occur several times with other parameters.
        attackers_systems: by the name of a system, settings that attackers run it with, where those
            differ from the user's.
        files: anonymized files by utterance, of an external system.
        attackers_files: files of that system under the attackers' keys, by utterance of the
            enrolment and of the pool.
        published_enrolment: whether ``files`` hold the enrolment too.
        pool_is_original: whether the pool is original speech; otherwise only its form as anonymized
            by that system is known.
        file_notes: notes of the report on these files.
        line: last steps of all recordings, also of originals, such as a telephone line.
        device: of the systems, and of verifiers that are networks.
        verifiers: names of the attackers' verifiers; each attacker runs with each. Figures that
            need vectors alone, such as distinctiveness, are the first one's.
        denoisers: names, for V-Cloak's A2.
        keys: of the key search.
        only: attackers to run, each by a part of its name; empty for all.
        attacker_training: settings of attackers that train; None if none does.
        normalise: whether comparing attackers also run with AS-norm against the pool.
        per: voices per ``speaker``, per ``utterance``, or one for ``everybody``.
        targets: target voices, of :data:`voicenym.evaluation.trial_plans.voice_targets.TARGETS`;
            empty for each system's own rule.
        sanity: whether attackers also run on controls, which reveal broken attackers.
        recogniser: for words; None leaves them out.
        transcripts: of an external recogniser, by the system's name in the report
            (``original`` for none).
        retrained: by the system's name in the report, a recogniser that was trained on its output.
        sample: recordings that utility is measured on.
        measured: recordings that they are drawn from: the tried ones, and those of which a system
            makes silence, whose words are lost; empty for the tried ones.
        replicates: of the bootstrap.
        seed: of draws and of the keys.
    """

    data: str
    trials: Trials
    settings: str = ""
    pool: tuple[Recording, ...] = ()
    systems: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    attackers_systems: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    files: Mapping[str, File] | None = None
    attackers_files: Mapping[str, File] = field(default_factory=dict)
    published_enrolment: bool = True
    pool_is_original: bool = True
    file_notes: tuple[str, ...] = ()
    line: tuple[Step, ...] = ()
    device: str = "cpu"
    verifiers: tuple[str, ...] = ("resemblyzer",)
    denoisers: tuple[str, ...] = ()
    keys: int = 24
    only: tuple[str, ...] = ()
    attacker_training: AttackerTraining | None = None
    normalise: bool = False
    per: str = "speaker"
    targets: str = ""
    sanity: bool = False
    recogniser: Recogniser | None = None
    transcripts: Mapping[str, Transcripts] = field(default_factory=dict)
    retrained: Mapping[str, Recogniser] = field(default_factory=dict)
    phones: PhoneRecogniser | None = None
    sound: tuple[str, ...] = ()
    sample: int = 60
    measured: tuple[Recording, ...] = ()
    replicates: int = 1000
    seed: int = 0

    @property
    def recognisers(self) -> dict[str, str]:
        """Names of the recognisers of ``words`` and ``phones``, if any."""
        both = {"words": self.recogniser, "phones": self.phones}
        return {subject: judge.name for subject, judge in both.items() if judge is not None}

    @property
    def count(self) -> int:
        """Number of recordings that are tried or learned from."""
        return len(self.trials.recordings) + len(self.pool)

    def sampled(self) -> list[Recording]:
        """Recordings for utility: those with text if there are any, spread over speakers.

        A benchmark's parts get equal numbers, as far as possible, of what attackers try.
        """
        trials = self.trials
        recordings = trials.recordings if trials.parts else self.measured or trials.recordings
        spoken = [recording for recording in recordings if recording.text] or recordings
        if not trials.parts:
            return spread(spoken, self.sample)
        each = max(1, self.sample // len(trials.parts))
        chosen: dict[str, Recording] = {}
        for part in trials.parts:
            tried = {recordings[i].name for i in np.flatnonzero(part.tested.any(0))}
            mine = [recording for recording in spoken if recording.name in tried]
            chosen.update((recording.name, recording) for recording in spread(mine, each))
        return list(chosen.values())


@dataclass
class Evidence:
    """Scores and vectors from which the report draws its figures.

    Args:
        scores: ``[model, trial]`` by system (``original`` for none) and ``attacker, verifier``.
        vectors: ``[trial, dimension]`` of the trials as published, by system.
        matrices: voice similarity ``oo``, ``oa``, ``aa`` by system.
        words: errors of the recogniser by recording, by system (``original`` for none).
    """

    trials: Trials
    scores: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    vectors: dict[str, np.ndarray] = field(default_factory=dict)
    matrices: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    words: dict[str, Tally] = field(default_factory=dict)


def key(seed: int, who: str) -> Key:
    """Key of an evaluation, which is not secret, because its output is not published.

    Systems have their latest revision, unless another one is set.
    """
    return Key(hashlib.sha256(f"voicenym evaluation {seed} {who}".encode()).digest(), None)
