"""Words of one pitch each, and a recogniser that knows them by it, whatever it heard before.

A run that was killed goes on in another process, so that the recogniser cannot know where in the
recording it is.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

from voicenym.transcription.timed_words import Word
from voicenym.transcription.word_recogniser import Heard

RATE = 16_000
WORDS = ("we", "met", "Anna", "in", "the", "garden", "and", "left")
LENGTH, GAP, LEAST = 0.4, 0.6, 0.1
"""Seconds of a word, of the silence after it, and from which what is left of one is heard."""
FRAME = 320


def pitch(word: str) -> float:
    """Hertz."""
    return 300.0 + 100.0 * WORDS.index(word)


def recording(path: Path, text: str) -> np.ndarray:
    """Writes a recording of the words of a text; returns it, ``[time]``."""
    time = np.arange(round(LENGTH * RATE)) / RATE
    parts = [np.zeros(round(GAP * RATE))]
    for word in text.split():
        parts += [0.2 * np.sin(2 * np.pi * pitch(word) * time), np.zeros(round(GAP * RATE))]
    sound = np.concatenate(parts).astype(np.float32)
    soundfile.write(path, sound, RATE, subtype="FLOAT")
    return sound


class PitchedWords:
    """Hears words by their pitch; ``calls`` counts the stretches."""

    name, version, assumes = "pitched", "1", ""

    def __init__(self) -> None:
        self.calls = 0

    def hear(self, samples, language=None, hints=()):
        self.calls += 1
        frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
        loud = np.abs(frames).max(1) > 0.05
        edges = np.flatnonzero(np.diff(loud.astype(np.int8), prepend=0, append=0)) * FRAME
        words = []
        for first, last in edges.reshape(-1, 2).tolist():
            if last - first < LEAST * RATE:
                continue
            power = np.abs(np.fft.rfft(samples[first:last], RATE))
            text = min(WORDS, key=lambda word: abs(pitch(word) - int(np.argmax(power))))
            span = (first / RATE, last / RATE)
            words.append(Word(text, *span, 0.9, (0.0, len(samples) / RATE), opens=not words))
        return Heard(tuple(words), "en")


def hear_all(put) -> PitchedWords:
    """Makes this the recogniser of commands, and all sound speech, by ``put(place, name, it)``."""
    from voicenym.transcription import faster_whisper_words, word_listening

    one = PitchedWords()
    put(faster_whisper_words, "FasterWhisperWords", lambda *a, **k: one)
    put(faster_whisper_words, "folder_of", lambda model: Path(model))
    put(faster_whisper_words, "at_hand", lambda: "pitched")
    put(word_listening, "_speech", lambda samples, rule: np.array([[0.0, len(samples) / RATE]]))
    put(word_listening, "LEAST_UNHEARD", 1e9)
    return one
