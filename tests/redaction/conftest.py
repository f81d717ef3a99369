"""Recordings of scripted words, which count as speech from end to end."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile
from scripted_words import Scripted, recording, spoken

from voicenym.transcription import word_listening


@pytest.fixture(autouse=True)
def _all_is_speech(monkeypatch):
    """The detector takes bursts for no speech; what is tested here is behind it."""
    monkeypatch.setattr(
        word_listening, "_speech", lambda samples, rule: np.array([[0.0, len(samples) / 16_000]])
    )
    monkeypatch.setattr(word_listening, "LEAST_UNHEARD", 1e9)


@pytest.fixture
def talk(tmp_path):
    """``talk(text, **script)``: path, samples, script and recogniser of a recording."""

    def make(text, rate=16_000, channels=1, name="talk.wav", rest=1.0, **script):
        words = spoken(text) if isinstance(text, str) else text
        path = tmp_path / name
        recording(path, words, rate, channels, rest)
        sound, _ = soundfile.read(path, dtype="float32", always_2d=True)
        return path, sound.T, words, Scripted(words, total=len(sound) / rate, **script)

    return make
