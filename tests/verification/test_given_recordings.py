"""Recordings that callers give to verifiers."""

import numpy as np
import pytest
import torch

from voicenym.errors import AudioError
from voicenym.verification.given_recordings import checked_recordings, tensors
from voicenym.verification.verifiers import verifier
from voicenym.verification.voice_statistics import VoiceStatistics

SOUND = 0.1 * np.sin(np.arange(16_000, dtype=np.float32) / 9.0)


@pytest.mark.parametrize(
    ("recordings", "message"),
    [
        ([SOUND, (SOUND * 32767).astype(np.int16)], "recording 1 needs floats .* not int16"),
        ([SOUND.astype(complex)], "needs floats"),
        ([np.stack([SOUND, SOUND])], r"shape \[time\], mono, not \[2, 16000\]; give a list"),
        (SOUND[:3], r"not \[\]; give a list of recordings"),
        ([SOUND * np.nan], "NaN or infinity"),
    ],
    ids=["integers", "complex", "channels", "one alone", "nan"],
)
def test_what_is_no_recording_is_named(recordings, message):
    for use in (checked_recordings, verifier("ecapa-small").embed, VoiceStatistics().embed):
        with pytest.raises(AudioError, match=message):
            use(recordings)


def test_arrays_of_any_layout_are_recordings(recwarn):
    frozen = SOUND.copy()
    frozen.flags.writeable = False
    given = [frozen, SOUND.astype(np.float64), np.repeat(SOUND, 2)[::2], torch.from_numpy(SOUND)]
    found = tensors(given)
    assert all(one.dtype is torch.float32 for one in found)
    assert all(np.array_equal(one.numpy(), SOUND) for one in found)
    assert np.array_equal(tensors([SOUND[::-1]])[0].numpy(), SOUND[::-1])
    assert not recwarn.list
