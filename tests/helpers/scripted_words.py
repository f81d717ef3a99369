"""A scripted recogniser: it knows when which word is spoken, and hears it only where sound is left.

The recording is made by :func:`recording`: each word is a burst of a buzz, with silence between.
A word is heard if more than a fifth of its burst is left; its times may err, as an aligner's do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import soundfile

from voicenym.transcription.timed_words import Word
from voicenym.transcription.word_recogniser import Heard

RATE = 16_000
LEFT = 0.2


@dataclass(frozen=True)
class Spoken:
    """A word and its true times in seconds."""

    text: str
    start: float
    end: float


def spoken(text: str, length: float = 0.3, gap: float = 0.25, start: float = 0.5) -> list[Spoken]:
    """Words of a text, one after the other."""
    found = []
    for word in text.split():
        found.append(Spoken(word, start, start + length))
        start += length + gap
    return found


def burst(number: int, samples: int, rate: int = RATE) -> np.ndarray:
    """Sound of the word of a number."""
    time = np.arange(samples) / rate
    pitch = 110.0 + 3.0 * (number % 7)
    return sum(np.sin(2 * np.pi * k * pitch * time) / k for k in range(1, 20))


def recording(
    path: Path, words: Sequence[Spoken], rate: int = RATE, channels: int = 1, rest: float = 1.0
) -> np.ndarray:
    """Writes a recording with a burst for each word; returns it, ``[channel, time]``."""
    seconds = words[-1].end + rest if words else rest
    sound = np.zeros(round(seconds * rate), np.float32)
    for number, word in enumerate(words):
        first, last = round(word.start * rate), round(word.end * rate)
        sound[first:last] = burst(number, last - first, rate)
    sound *= np.float32(0.2)
    both = np.tile(sound, (channels, 1))
    soundfile.write(path, both.T, rate, subtype="FLOAT" if path.suffix == ".wav" else None)
    return both


@dataclass
class Scripted:
    """Hears the words of a script in the samples that it gets, wherever the stretch begins.

    Args:
        script: the words.
        late, early: seconds by which reported starts are late and ends early.
        unplaced: texts of words that never have a time.
        deaf: texts of words that are heard only when the result is heard again.
        ghosts: whether every word is heard even where nothing is left of it.
        total: seconds of the recording, which is heard in one stretch after the other.
        passes: how often it was begun.
    """

    script: Sequence[Spoken]
    late: float = 0.0
    early: float = 0.0
    unplaced: frozenset[str] = frozenset()
    deaf: frozenset[str] = frozenset()
    ghosts: bool = False
    total: float = 0.0
    name: str = "scripted"
    version: str = "1"
    assumes: str = ""
    passes: int = 0
    _place: float = field(default=0.0, repr=False)

    def hear(self, samples, language=None, hints=()):
        begin = self._begin(len(samples) / RATE)
        words = []
        for number, word in enumerate(self.script):
            first, last = (round((t - begin) * RATE) for t in (word.start, word.end))
            if last <= 0 or first >= len(samples):
                continue
            own = burst(number, last - first)[max(0, -first) : len(samples) - first]
            if not self.ghosts and _left(samples[max(0, first) : last], own) < LEFT:
                continue
            if word.text in self.deaf and self.passes < 2:
                continue
            start, end = word.start - begin + self.late, word.end - begin - self.early
            if word.text in self.unplaced:
                end = start
            segment = (0.0, len(samples) / RATE)
            words.append(Word(word.text, start, end, 0.9, segment, opens=not words))
        return Heard(tuple(words), language or "en")

    def _begin(self, seconds: float) -> float:
        """Start of this stretch: stretches follow each other until the recording ends."""
        if self._place >= self.total - 1e-3:
            self._place = 0.0
        if self._place == 0.0:
            self.passes += 1
        begin = self._place
        self._place += seconds
        return begin


def _left(heard: np.ndarray, own: np.ndarray) -> float:
    """Share of the frames of 20 ms in which a word sounds as it was spoken."""
    frame = RATE // 50
    pairs = zip(
        *(x[: len(x) // frame * frame].reshape(-1, frame) for x in (heard, own)), strict=False
    )
    alike = [abs(a @ b) > 0.7 * np.linalg.norm(a) * np.linalg.norm(b) > 0.0 for a, b in pairs]
    return float(np.mean(alike)) if alike else 0.0
