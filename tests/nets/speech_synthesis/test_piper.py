"""Voices of Piper: numbers of phonemes, speakers, and their files."""

import json

import numpy as np
import pytest
import tiny_onnx

from voicenym.errors import VoicenymError
from voicenym.nets.speech_synthesis.piper import Piper
from voicenym.pseudonym import Key

pytest.importorskip("onnxruntime")
NUMBERS = {"_": [0], "^": [1], "$": [2], "a": [50], "b": [60], ".": [70]}
CONFIG = {
    "audio": {"sample_rate": 22_050}, "phoneme_type": "text", "phoneme_id_map": NUMBERS,
    "num_speakers": 3,
}  # fmt: skip


@pytest.fixture
def voice(tmp_path):
    (tmp_path / "joe.onnx").write_bytes(tiny_onnx.reader())
    (tmp_path / "joe.onnx.json").write_text(json.dumps(CONFIG))
    return Piper(tmp_path / "joe.onnx")


def test_blanks_lie_between_phonemes_and_unknown_letters_are_left_out(voice):
    made = voice.speak("Ab?z.", (0.0,), 1.0, np.random.default_rng(0))
    assert voice.rate == 22_050
    assert made.dtype == np.float32
    expected = np.array([1, 0, 50, 0, 60, 0, 70, 0, 2])
    assert np.abs(made - expected).max() < 6.0  # the graph adds noise of deviation 1
    again = voice.speak("Ab?z.", (0.0,), 1.0, np.random.default_rng(0))
    np.testing.assert_array_equal(made, again)


def test_what_has_no_phoneme_is_silent(voice):
    assert voice.speak("?!", (0.0,), 1.0, np.random.default_rng(0)).shape == (0,)


def test_pseudonyms_draw_every_speaker(voice):
    drawn = {voice.timbre(Key(bytes([k]) * 32).pseudonym("a")) for k in range(40)}
    assert drawn == {(0.0,), (1.0,), (2.0,)}


def test_configurations_of_something_else_are_refused(tmp_path):
    (tmp_path / "x.onnx").write_bytes(tiny_onnx.reader())
    with pytest.raises(VoicenymError, match="it comes with the voice"):
        Piper(tmp_path / "x.onnx")
    (tmp_path / "x.onnx.json").write_text('{"audio": {}}')
    with pytest.raises(VoicenymError, match="no configuration of a voice of Piper"):
        Piper(tmp_path / "x.onnx")
