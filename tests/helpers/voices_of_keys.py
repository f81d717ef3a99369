"""Recordings whose target voice hides the source, as in systems that draw voices from keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from voicenym import Key
from voicenym.attack.scenario import Protection
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import EVERYBODY, Transform
from voicenym.verification.verifier import Verifier

RATE, SIZE, VOICES = 16_000, 24, 6


def drawn(*seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=SIZE)


@dataclass(frozen=True)
class Spoken:
    """Writes the number of a target voice, one of a few, into the third sample."""

    key: Key
    per: str
    description = "a voice"

    def voice(self, recording: Recording) -> int:
        who = "" if self.per == EVERYBODY else recording.speaker
        return int(self.key.tag("voice", who)[:8], 16) % VOICES

    def identity(self, recording: Recording) -> str:
        return f"voice {self.voice(recording)}"

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        changed = samples.copy()
        changed[2] = self.voice(recording) / 32767.0
        return changed


class Drawing(Protection):
    """A system whose target voices are drawn from keys."""

    def with_key(self, key, per):
        return Transform((Spoken(key, per),))


class Listening(Verifier):
    """A vector is mostly that of the target voice, and ``own`` of it the source's."""

    name = "listening"

    def __init__(self, own: float) -> None:
        self.own, self.version = own, str(own)

    def embed(self, recordings):
        rows = []
        for samples in recordings:
            speaker, take, voice = np.rint(samples[:3] * 32767.0).astype(int)
            source = self.own * drawn(1, speaker) + 0.2 * drawn(2, speaker, take, voice)
            rows.append(4.0 * drawn(3, voice) + source)
        return np.array(rows, dtype=np.float32)


def recordings(folder: Path, speakers: int, takes: int) -> list[Recording]:
    """Recordings whose first samples are the numbers of speaker and take."""
    found = []
    for speaker in range(speakers):
        for take in range(takes):
            samples = np.full(RATE // 8, 1000, dtype=np.int16)
            samples[:2] = speaker, take
            path = folder / f"{speaker}-{take}.wav"
            soundfile.write(path, samples, RATE)
            found.append(Recording(path.stem, f"s{speaker}", path, "f"))
    return found
