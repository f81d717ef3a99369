"""Conversations with known truth, mixed from recordings of single speakers.

A turn is one to three utterances of a speaker. Its truth are the phrases of the clean utterances,
by level (:mod:`voicenym.dsp.phrases`), not by the detector that is measured. Turns alternate at
random; between them lie pauses of 0.1 to 0.8 s, or, with overlaps, every third turn begins 0.3 to
1.5 s before the end of the one before. Speakers have levels of their own within 6 dB, and noise is
pink.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import torch

from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.dsp.phrases import FrameLevels, phrases

RATE = 16_000
TURNS_EACH = 6
ADULT = 18
LEVEL = 0.05


@dataclass(frozen=True)
class Condition:
    """How a conversation is mixed.

    Args:
        speakers: their number.
        overlap: whether turns overlap.
        snr: of pink noise in dB; None without noise.
    """

    speakers: int
    overlap: bool = False
    snr: float | None = None


def speakers_of(root: Path, half: str, adults: bool = True) -> dict[str, list[Path]]:
    """Recordings by speaker of speechocean762's dev split, of every other speaker.

    Args:
        root: of the speech, with ``manifest.tsv``.
        half: ``tune`` or ``report``.
        adults: whether of adults or of children.
    """
    found: dict[str, list[Path]] = {}
    with (root / "manifest.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["split"] == "dev" and (int(row["age"]) >= ADULT) == adults:
                found.setdefault(row["speaker"], []).append(root / row["path"])
    names = sorted(found)[0 if half == "tune" else 1 :: 2]
    return {name: found[name] for name in names}


def conversation(
    people: dict[str, list[Path]], condition: Condition, seed: int
) -> tuple[np.ndarray, Diarization]:
    """Signal ``[time]`` at 16 kHz and its turns.

    Args:
        people: recordings by speaker, of whom some are drawn.
        condition: of the mixture.
        seed: of all draws.
    """
    rng = np.random.default_rng([seed, condition.speakers, condition.overlap])
    drawn = rng.choice(sorted(people), condition.speakers, replace=False).tolist()
    gains = {name: 10.0 ** (rng.uniform(-3.0, 3.0) / 20.0) for name in drawn}
    left = {name: list(rng.permutation(np.array(people[name], dtype=object))) for name in drawn}
    order = _order(rng, drawn)
    parts: list[tuple[int, np.ndarray]] = []
    turns: list[Turn] = []
    end = round(0.5 * RATE)
    for number, name in enumerate(order):
        sound, spans = _turn(rng, left[name], gains[name])
        if number and condition.overlap and number % 3 == 0:
            back = min(rng.uniform(0.3, 1.5), 0.8 * len(sound) / RATE)
            start = end - round(back * RATE)
        else:
            start = end + round(rng.uniform(0.1, 0.8) * RATE)
        parts.append((start, sound))
        turns += [Turn(start / RATE + a, start / RATE + b, name) for a, b in spans]
        end = max(end, start + len(sound))
    signal = np.zeros(end + RATE // 2)
    for start, sound in parts:
        signal[start : start + len(sound)] += sound
    if condition.snr is not None:
        noise = _pink(rng, len(signal))
        signal += noise * LEVEL * 10.0 ** (-condition.snr / 20.0)
    return (signal / max(1.0, np.abs(signal).max())).astype(np.float32), Diarization(turns)


def _order(rng: np.random.Generator, names: list[str]) -> list[str]:
    """Every speaker equally often, and nobody twice in a row where that is possible."""
    found: list[str] = []
    left = dict.fromkeys(names, TURNS_EACH)
    while any(left.values()):
        others = [n for n in names if left[n] and (not found or n != found[-1])]
        others = others or [n for n in names if left[n]]
        most = max(left[n] for n in others)
        found.append(str(rng.choice([n for n in others if left[n] >= most - 1])))
        left[found[-1]] -= 1
    return found


def _turn(
    rng: np.random.Generator, left: list[Path], gain: float
) -> tuple[np.ndarray, list[tuple[float, float]]]:
    """Sound of one to three utterances, without their ends, and its spans of speech."""
    sounds, spans, place = [], [], 0
    for _ in range(int(rng.integers(1, 4))):
        left.append(left.pop(0))
        sound, _ = soundfile.read(left[-1], dtype="float32")
        levels = FrameLevels(1, RATE)
        levels.push(torch.from_numpy(sound)[None])
        own = phrases(levels.result()[0]).spans
        if not len(own):
            continue
        first, last = round(own[0, 0] * RATE), round(own[-1, 1] * RATE)
        sound = sound[first:last].astype(np.float64)
        inner = (own - own[0, 0]).tolist()
        active = np.concatenate([sound[round(a * RATE) : round(b * RATE)] for a, b in inner])
        sound *= gain * LEVEL / max(1e-6, float(np.sqrt(np.square(active).mean())))
        spans += [(place / RATE + a, place / RATE + b) for a, b in inner]
        pause = np.zeros(round(rng.uniform(0.15, 0.5) * RATE))
        sounds += [sound, pause]
        place += len(sound) + len(pause)
    whole = np.concatenate(sounds[:-1])
    return whole, spans


def _pink(rng: np.random.Generator, length: int) -> np.ndarray:
    """Noise of unit power whose spectrum falls by 3 dB an octave, from 50 Hz."""
    spectrum = np.fft.rfft(rng.standard_normal(length))
    spectrum /= np.sqrt(np.maximum(np.fft.rfftfreq(length, 1.0 / RATE), 50.0))
    noise = np.fft.irfft(spectrum, length)
    return noise / np.sqrt(np.square(noise).mean())
