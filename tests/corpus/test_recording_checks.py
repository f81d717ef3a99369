"""Warnings about a recording."""

import numpy as np
import pytest

from voicenym.corpus.recording_checks import Level, verdict
from voicenym.errors import AudioError

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


def test_floats_above_full_scale_are_not_called_clipped_and_their_level_is_to_be_lowered():
    sound = 2.0 * np.sign(speech())[None] + speech()[None]
    with pytest.raises(AudioError, match=r"6\.\d dB above full scale.*volume=-8dB.*--lenient"):
        warned(sound)
    seldom = np.concatenate([speech(), [2.0] * 100])[None]
    assert "above full scale" in warned(seldom)
    assert "clipped; expect" not in warned(seldom)
    with pytest.raises(AudioError, match=r"is clipped: .* record it again at a lower level"):
        warned(np.sign(speech())[None])
