"""Protected speech that attackers keep on disk, so that each recording is protected once.

Several attackers measure the same protected recordings; some systems take longer to protect a
recording than all of them to measure it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from voicenym.attack.attacker_resources import AttackerTraining
from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import LeftOut
from voicenym.corpus.transforms import Transform
from voicenym.training.speech.speech_cache import SpeechCache, Utterance

SPEECH = "speech"
"""Subfolder of the attackers' folder, which trained attackers share."""


@dataclass(frozen=True)
class StoredTransform(Transform):
    """A transform whose results lie in files, as 16-bit samples.

    Args:
        steps: of the transform.
        files: results by the recordings' names; others are computed.
    """

    files: Mapping[str, Utterance] = field(default_factory=dict, hash=False, compare=False)

    def identity(self, recording: Recording) -> str:
        return f"{super().identity(recording)} | 16 bits"

    def __call__(self, recording: Recording) -> np.ndarray:
        kept = self.files.get(recording.name)
        return super().__call__(recording) if kept is None else kept.samples()


def stored(
    recordings: Sequence[Recording],
    transform: Transform,
    training: AttackerTraining,
    left_out: LeftOut,
) -> StoredTransform:
    """A transform that reads its results for these recordings from files.

    Args:
        recordings: are transformed now, unless the files are there.
        transform: how.
        training: settings with the folder and the number of processes.
        left_out: receives recordings that cannot be transformed.
    """
    cache = SpeechCache(Path(training.folder) / SPEECH)
    found = cache.fill(recordings, transform, training.workers, left_out=left_out)
    return StoredTransform(transform.steps, {one.recording.name: one for one in found})
