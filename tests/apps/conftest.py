"""Fixtures with recordings for tests of the command."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import soundfile


@pytest.fixture(autouse=True)
def _one_processor(one_processor):
    """Worker processes are tested where they are: in ``corpus`` and ``training``."""


@pytest.fixture
def speech(tmp_path):
    """``speech("a/b.wav", seconds=1)`` writes a speech-like recording."""

    def make(name: str, seconds: float = 1.0, rate: int = 16000, channels: int = 1, **kw) -> Path:
        time = np.arange(round(seconds * rate)) / rate
        f0 = 120 * (1 + 0.1 * np.sin(2 * math.pi * 1.7 * time))
        phase = 2 * math.pi * np.cumsum(f0) / rate
        signal = sum(
            np.exp(-(((k * 120 - 700) / 500) ** 2)) * np.cos(k * phase) for k in range(1, 30)
        )
        noise = np.random.default_rng(0).standard_normal(len(time))
        signal = 0.2 * signal / max(np.abs(signal).max(), 1e-9) + 0.002 * noise
        signal *= 0.6 + 0.4 * np.sin(2 * math.pi * 3 * time)
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, np.tile(signal[:, None], (1, channels)), rate, **kw)
        return path

    return make


@pytest.fixture(scope="session")
def buzz():
    """``buzz(folder, speakers, takes=1, time=8000)`` writes speakers who buzz, each at a pitch of
    his own: ``folder/s0/0.wav`` and so on.
    """

    def make(folder: Path, speakers: int, per_speaker: int = 1, time: int = 8_000) -> None:
        seconds = np.arange(time) / 16_000
        for speaker in range(speakers):
            pitch = 90.0 * 1.15**speaker
            sound = sum(np.sin(2 * np.pi * k * pitch * seconds + k) / k for k in range(1, 9))
            for take in range(per_speaker):
                place = folder / f"s{speaker}" / f"{take}.wav"
                place.parent.mkdir(parents=True, exist_ok=True)
                soundfile.write(place, 0.1 / (take + 1) * sound, 16_000)

    return make
