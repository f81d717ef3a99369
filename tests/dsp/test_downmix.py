"""One channel of several."""

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from voicenym.apps.serve.forms.output_formats import converted
from voicenym.audio import open_reader
from voicenym.corpus.recording import Recording
from voicenym.diarization.recording_signal import mono
from voicenym.dsp.downmix import downmix
from voicenym.publication.compared_sound import Sound, sound
from voicenym.transcription.word_listening import _stretches


def noise(channels: int, seed: int = 0) -> np.ndarray:
    return 0.1 * np.random.default_rng(seed).standard_normal((channels, 4000)).astype(np.float32)


@pytest.mark.parametrize("channels", [1, 2, 8, 64])
def test_channels_that_do_not_cancel_each_other_are_averaged(channels):
    own, silent = noise(channels), np.zeros((channels, 4000), np.float32)
    silent[-1] = own[0]  # the only channel with sound
    for some in (own, silent, np.repeat(own[:1], channels, 0)):
        assert np.array_equal(downmix(some), some.mean(0))


@given(seed=st.integers(0, 99), flips=st.lists(st.booleans(), min_size=1, max_size=8))
def test_the_power_of_a_channel_stays_whichever_channels_are_inverted(seed, flips):
    own = noise(1, seed)[0]
    signs = np.where(flips, -1.0, 1.0).astype(np.float32)
    mixed = downmix(signs[:, None] * own + 0.01 * noise(len(flips), seed + 1))
    assert abs(float(np.dot(mixed, own) / np.dot(own, own))) > 0.2
    if signs.sum() == 0:  # as many of either sign, which leave nothing of the mean
        assert abs(float(np.dot(mixed, own) / np.dot(own, own))) == pytest.approx(1.0, abs=0.02)


def test_silence_and_nothing_stay_what_they_are():
    assert not downmix(np.zeros((2, 100), np.float32)).any()
    assert downmix(np.zeros((2, 0), np.float32)).shape == (0,)


def test_a_recording_whose_channels_are_opposite_is_heard_wherever_one_channel_is_wanted(tmp_path):
    """The means of its channels would be silent: nobody recognised, nobody heard, nothing said."""
    path = tmp_path / "wired-wrongly.wav"
    left = noise(1)[0]
    left = np.tile(left, 8)
    soundfile.write(path, np.stack([left, -left], 1), 16_000, "FLOAT")
    want = float(np.square(left).sum())
    heard = Recording("it", "anna", path).samples()
    assert float(np.square(heard).sum()) == pytest.approx(want, rel=0.01)
    found = np.concatenate([block.numpy() for block in mono(path)])
    assert float(np.square(found).sum()) == pytest.approx(want, rel=0.01)
    with open_reader(path) as reader:
        (stretch,) = _stretches(reader, mix=True)
    assert float(np.square(stretch).sum()) == pytest.approx(want, rel=0.01)
    one = sound(Recording("out", "anna", path), Sound(Recording("it", "anna", path), 16_000, 1))
    assert one.energy == pytest.approx(want, rel=0.01)
    made, _ = soundfile.read(converted(path, "wav_16000"))
    assert float(np.square(made).sum()) == pytest.approx(want, rel=0.01)
