from __future__ import annotations

import csv

import numpy as np
import pytest

from voicenym.audio import read
from voicenym.dsp.speech_presence import LevelModulation


def speechless(samples, rate: int, block: int = 4000) -> bool:
    movement = LevelModulation(rate)
    samples = np.atleast_2d(samples).astype(np.float32)
    for start in range(0, samples.shape[1], block):
        movement.push(samples[:, start : start + block])
    return movement.speechless()


@pytest.mark.parametrize("rate", [8000, 16_000, 48_000])
@pytest.mark.parametrize("level", [1e-4, 0.01, 0.3])
def test_noise_hum_and_silence_hold_no_speech(rate, level):
    noise = np.random.default_rng(0).standard_normal(10 * rate)
    hum = np.sin(2 * np.pi * 50 * np.arange(10 * rate) / rate)
    for sound in (0.3 * noise, hum, np.zeros(10 * rate), hum + 0.01 * noise):
        assert speechless(level * sound, rate)
        assert speechless(level * sound + 0.2, rate)


def test_one_word_in_a_minute_of_noise_is_found_in_either_channel(corpus):
    word = read(corpus[0].path).samples.numpy()
    sound = 0.001 * np.random.default_rng(0).standard_normal((2, 60 * 16_000))
    assert speechless(sound, 16_000)
    sound[1, 400_000 : 400_000 + len(word)] += word
    assert not speechless(sound, 16_000)
    assert not speechless(sound + 0.5, 16_000)


def test_very_short_recordings_get_no_verdict():
    assert not speechless(np.zeros(7000), 16_000)


def test_speech_is_found(speech_folder):
    with (speech_folder / "manifest.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[::100]
    silent = []
    for row in rows:
        audio = read(speech_folder / row["path"])
        if speechless(audio.samples.numpy(), audio.rate):
            silent.append(row["path"])
    assert len(silent) <= len(rows) // 500, silent


def test_the_length_costs_no_memory():
    movement = LevelModulation(16_000)
    block = np.random.default_rng(0).standard_normal((1, 160_000)).astype(np.float32)
    movement.push(block)
    held = [value.nbytes for value in vars(movement).values() if isinstance(value, np.ndarray)]
    for _ in range(20):
        movement.push(block)
    after = [value.nbytes for value in vars(movement).values() if isinstance(value, np.ndarray)]
    assert after == held
    assert not any(isinstance(value, list) for value in vars(movement).values())
    assert movement.speechless()


def test_the_quieter_frames_are_those_of_the_tenth_percentile():
    """A fifth of the frames are quiet by less than the limit, then by more."""
    rng = np.random.default_rng(1)
    noise = rng.standard_normal(16_000 * 4)
    for decibels, found in ((8.0, True), (14.0, False)):
        sound = noise.copy()
        sound[: len(sound) // 5] *= 10 ** (-decibels / 20)
        assert speechless(0.1 * sound, 16_000) == found
    sound = noise.copy()
    sound[: len(sound) // 20] *= 0.01  # fewer than a tenth
    assert speechless(0.1 * sound, 16_000)
