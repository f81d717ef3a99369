"""Warnings about a recording."""

import numpy as np
import pytest

from voicenym.corpus.recording_checks import Level, verdict

RATE = 16_000


def warned(sound: np.ndarray, blocks: int = 7) -> str:
    level = Level()
    for block in np.array_split(sound, blocks, axis=1):
        level.push(block.astype(np.float32))
    return " ".join(verdict("it.wav", level, RATE, lenient=False))


def speech(seconds: float = 2.0) -> np.ndarray:
    time = np.arange(round(seconds * RATE)) / RATE
    return 0.1 * np.sin(2 * np.pi * 200 * time) * (np.sin(2 * np.pi * 3 * time) > 0)


@pytest.mark.parametrize("offset", [0.02, -0.02])
def test_a_constant_offset_of_any_channel_is_told_with_its_cure(offset):
    text = warned(np.stack([speech(), speech() + offset]))
    assert "it.wav: has a constant offset of 0.020 of full scale (-34 dB)" in text
    assert "high-pass of 20 Hz" in text
    assert "offset" in warned(np.stack([speech() + offset, speech() - offset]))


def test_sound_without_an_offset_and_a_short_sound_get_no_warning_of_one():
    assert "offset" not in warned(np.stack([speech(), -speech()]))
    assert "offset" not in warned(speech(0.5)[None] + 0.02)  # may be half a period of a deep sound
