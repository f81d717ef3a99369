"""Recordings and studies for tests of listening."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

from voicenym.listening.design.material import Material, gather

RATE = 16_000
WORDS = ("the sun is warm", "seven red boats", "nobody came back", "we sang all day")


def speak(path: Path, pitch: float, seconds: float, level: float = 0.1, seed: int = 0) -> None:
    """Write a buzz of a pitch with a rhythm."""
    time = np.arange(round(seconds * RATE)) / RATE
    rng = np.random.default_rng(seed)
    sound = sum(np.sin(2 * np.pi * k * pitch * time + k) / k for k in range(1, 12))
    sound = sound * (0.7 + 0.3 * np.sin(2 * np.pi * 4 * time + seed))
    sound = level * sound / np.abs(sound).max() + 1e-4 * rng.standard_normal(len(time))
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, sound, RATE)


def folders(
    root: Path,
    systems: tuple[str, ...] = ("a", "b", "c"),
    speakers: int = 6,
    sentences: int = 4,
    seconds: float = 0.5,
) -> Material:
    """Originals and systems at several levels, as a study's material."""
    for number, system in enumerate(("original", *systems)):
        for speaker in range(speakers):
            for sentence in range(sentences):
                path = root / system / f"s{speaker}" / f"u{sentence}.wav"
                level = 0.05 * (1 + (speaker + number) % 4)
                speak(path, (100 + 15 * speaker) * 1.1**number, seconds, level, sentence)
                if not number:
                    path.with_suffix(".txt").write_text(WORDS[sentence % len(WORDS)])
    return gather(root / "original", {name: root / name for name in systems})
