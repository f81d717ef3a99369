"""Speech of two letters, each two tones, that a small recogniser learns in a few steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from voicenym.corpus.recording import Recording
from voicenym.nets.words.ctc_networks.ctc import Alphabet
from voicenym.training.speech.speech_cache import SpeechCache, Utterance

TEXTS = ["ab ba", "b aa", "abab", "a bb a"]
ALPHABET = Alphabet(" ab")
HERTZ = {"a": (300.0, 900.0), "b": (500.0, 2_000.0), " ": (0.0, 0.0)}


class Tones:
    """Says a letter as 0.2 s of two tones, with a pause after it, in some noise."""

    def identity(self, recording: Recording) -> str:
        return recording.name

    def __call__(self, recording: Recording) -> np.ndarray:
        rng = np.random.default_rng(int(recording.name))
        time = np.arange(3_200) / 16_000
        parts = []
        for letter in recording.text:
            parts.append(sum(0.2 * np.sin(2 * np.pi * f * time) for f in HERTZ[letter]))
            parts.append(np.zeros(800))
        signal = np.concatenate(parts)
        return (signal + 0.003 * rng.standard_normal(len(signal))).astype(np.float32)


def spoken_letters(folder: Path, speakers: int) -> list[Utterance]:
    """The texts in a speech cache, spoken by so many speakers in turn."""
    recordings = [
        Recording(str(i), f"s{i % speakers}", Path("none.wav"), text=text)
        for i, text in enumerate(TEXTS)
    ]
    return SpeechCache(folder).fill(recordings, Tones())
