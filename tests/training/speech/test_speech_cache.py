import os
import stat

import numpy as np
import pytest

from voicenym.corpus.recording import Recording
from voicenym.errors import AudioError, VoicenymError
from voicenym.training.speech.speech_cache import SpeechCache


class Counting:
    def __init__(self):
        self.calls = 0

    def identity(self, recording):
        return f"counted {recording.digest()}"

    def __call__(self, recording):
        self.calls += 1
        return recording.samples()


def test_what_is_shelved_is_what_was_rendered_to_half_a_step(voices, tmp_path):
    for recording, utterance in zip(
        voices, SpeechCache(tmp_path).fill(voices, Counting()), strict=True
    ):
        assert utterance.recording == recording
        np.testing.assert_allclose(utterance.samples(), recording.samples(), atol=0.5 / 32767)


def test_parts_are_parts_of_the_whole(shelved):
    whole = shelved[0].samples()
    np.testing.assert_array_equal(shelved[0].samples(100, 50), whole[100:150])
    np.testing.assert_array_equal(shelved[0].samples(len(whole) - 10, 50), whole[-10:])


def test_nothing_is_rendered_twice(voices, tmp_path):
    rendering = Counting()
    messages = []
    SpeechCache(tmp_path).fill(voices[:3], rendering)
    SpeechCache(tmp_path).fill(voices[:5], rendering, progress=messages.append)
    assert rendering.calls == 5
    assert sum(messages) == 5


def test_workers_render_the_same(voices, tmp_path):
    from voicenym.corpus.transforms import ORIGINAL

    one = SpeechCache(tmp_path / "one").fill(voices[:4], ORIGINAL)
    two = SpeechCache(tmp_path / "two").fill(voices[:4], ORIGINAL, workers=2)
    for a, b in zip(one, two, strict=True):
        assert a.path.name == b.path.name
        assert a.path.read_bytes() == b.path.read_bytes()


def test_only_the_owner_can_read_the_folder(tmp_path):
    SpeechCache(tmp_path / "cache")
    assert stat.S_IMODE(os.stat(tmp_path / "cache").st_mode) == 0o700


def test_a_recording_that_fails_leaves_nothing(tmp_path):
    missing = Recording("a", "s", tmp_path / "none.wav")
    with pytest.raises(AudioError, match=r"none\.wav"):
        SpeechCache(tmp_path / "cache").fill([missing], Counting())
    assert [p.name for p in (tmp_path / "cache").iterdir()] == ["CACHEDIR.TAG"]


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(VoicenymError, match="choose another folder"):
        SpeechCache(tmp_path / "file")
