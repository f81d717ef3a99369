"""A recogniser and a synthesiser for ``asr-tts`` that need no weights.

The listener takes every loud span for a phrase, with a text as long as the span lasts; the
synthesiser makes vowels of each letter.
"""

from __future__ import annotations

import numpy as np
import torch

from voicenym.dsp.phrases import FrameLevels, phrases
from voicenym.nets.speech_synthesis.synthesiser import PURPOSE
from voicenym.resynthesis.retelling.phrases_heard import Heard, Phrase

RATE = 16_000
LETTERS_PER_SECOND = 14
LETTER = 0.05
"""Seconds of a letter at the usual speed."""


class ScriptedListener:
    """Takes every span between pauses for a phrase of ``ae``, or of given texts in turn."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts

    def hear(self, samples: np.ndarray) -> Heard:
        if not samples.any():
            return Heard()
        levels = FrameLevels(1, RATE)
        levels.push(torch.from_numpy(samples)[None])
        found = []
        for number, (start, end) in enumerate(phrases(levels.result()[0]).spans.tolist()):
            letters = max(1, round(LETTERS_PER_SECOND * (end - start)))
            text = self._texts[number % len(self._texts)] if self._texts else "ae"[:1] * letters
            found.append(Phrase(start, end, text))
        return Heard(tuple(found))


class ScriptedSynthesiser:
    """Vowels, one a letter, at an F0 that the timbre states."""

    rate = RATE
    language = "en-us"
    sexes: tuple[str, ...] = ()

    def __init__(self, voices: int = 12, letter: float = LETTER) -> None:
        self.voices, self.letter = voices, letter
        self.spoken: list[str] = []

    def timbre(self, pseudonym, sex: str = "") -> tuple[float, ...]:
        if sex:
            low, high = (180.0, 260.0) if sex == "f" else (90.0, 140.0)
        else:
            low, high = 90.0, 260.0
        return (pseudonym.uniform(PURPOSE, low, high),)

    def speak(self, text, timbre, speed, rng) -> np.ndarray:
        self.spoken.append(text)
        time = np.arange(round(len(text) * self.letter / speed * RATE)) / RATE
        count = int(3000 / timbre[0])
        phase = 2 * np.pi * timbre[0] * time + 0.1 * rng.uniform()
        buzz = sum(np.sin(k * phase) / k for k in range(1, count + 1))
        return np.asarray(0.1 * buzz, np.float32)

    def check(self) -> None:
        pass
