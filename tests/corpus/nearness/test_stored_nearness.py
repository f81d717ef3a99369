"""Stored copies are found behind silence and as parts; outputs that only keep low tones are not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import soxr

from voicenym.corpus.nearness.near_original import NEAR_CORRELATION, SAME_SAMPLES
from voicenym.corpus.nearness.stored_nearness import nearness

RATE = 16_000


@dataclass(frozen=True)
class Samples:
    sound: np.ndarray
    rate: int = RATE
    block: int = 5_000

    @property
    def channels(self) -> int:
        return len(self.sound)

    @property
    def samples(self) -> int:
        return self.sound.shape[1]

    def blocks(self):
        for start in range(0, self.samples, self.block):
            yield self.sound[:, start : start + self.block].astype(np.float32)


def bursts(seed: int, seconds: float) -> np.ndarray:
    """Noise in a rhythm and with spectra of its own, ``[1, time]``."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(round(seconds / 0.1)):
        shape = np.sin(np.pi * np.arange(1600) / 1600) * rng.uniform(0.02, 0.2)
        tones = rng.uniform(200, 3500, 3)[:, None] * np.arange(1600) / RATE
        parts.append(shape * (np.sin(2 * np.pi * tones).mean(0) + 0.1 * rng.standard_normal(1600)))
    return np.concatenate(parts)[None]


def silence(seconds: float) -> np.ndarray:
    return np.zeros((1, round(seconds * RATE)))


ORIGINAL = bursts(0, 6.0)


@pytest.mark.parametrize(
    "made",
    [
        ORIGINAL,
        -0.4 * ORIGINAL,
        np.concatenate([silence(0.4), ORIGINAL], 1),
        np.concatenate([silence(2.5), ORIGINAL], 1),
        np.concatenate([silence(2.5), 0.5 * ORIGINAL, silence(1.0)], 1),
        ORIGINAL[:, 2 * RATE :],
        ORIGINAL[:, : 4 * RATE],
    ],
    ids=["copy", "softer", "later", "much later", "in silence", "its end", "its beginning"],
)
def test_a_copy_is_found(made):
    assert "is as before" in nearness(Samples(ORIGINAL), Samples(made))


def test_each_channel_is_compared():
    other = bursts(1, 8.5)
    late = np.concatenate([silence(2.5), ORIGINAL], 1)
    before = np.concatenate([bursts(2, 6.0), ORIGINAL])
    assert nearness(Samples(before), Samples(np.concatenate([other, late]))).startswith("channel 2")


@pytest.mark.parametrize("speed", [0.7, 0.95, 1.05, 1.5])
def test_a_copy_at_another_speed_is_found(speed):
    made = soxr.resample(ORIGINAL.T, RATE * speed, RATE).T
    assert f"played at {speed:.3f} times the speed" in nearness(Samples(ORIGINAL), Samples(made))


@pytest.mark.parametrize("seconds", [6.0, 8.5, 4.5])
def test_another_sound_is_not(seconds):
    assert nearness(Samples(ORIGINAL), Samples(bursts(1, seconds))) == ""


def test_a_low_tone_that_is_kept_is_no_copy():
    """As the fundamental of a voice with other formants: samples correlate, patterns do not."""
    tone = 0.6 * np.sin(2 * np.pi * 130 * np.arange(ORIGINAL.shape[1]) / RATE)
    before, after = tone + ORIGINAL, tone + bursts(1, 6.0)
    assert NEAR_CORRELATION < np.corrcoef(before[0], after[0])[0, 1] < SAME_SAMPLES
    assert nearness(Samples(before), Samples(after)) == ""
