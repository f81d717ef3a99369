"""Voices of Kokoro: mixtures of styles, drawn by pseudonyms, of a bank in several layouts."""

import json

import numpy as np
import pytest

from voicenym.errors import VoicenymError
from voicenym.nets.speech_synthesis import kokoro
from voicenym.nets.speech_synthesis.kokoro import SIZE, Kokoro
from voicenym.pseudonym import Key


class Graph:
    """Keeps what it is given, and says as many samples as there are phonemes."""

    inputs = ("tokens", "style", "speed")

    def __init__(self, model):
        self.given = []

    def integers(self, name):
        return False

    def __call__(self, inputs, rng, noise):
        self.given.append(inputs)
        return np.zeros(inputs["tokens"].shape[1], np.float32)


@pytest.fixture
def bank(tmp_path, monkeypatch):
    monkeypatch.setattr(kokoro, "Graph", Graph)
    monkeypatch.setattr(kokoro, "phonemes", lambda text, language: text)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "voices").mkdir()
    for number, name in enumerate(("af_a", "af_b", "am_c", "bm_d", "jf_e")):
        np.full((9, 1, SIZE), number, "<f4").tofile(tmp_path / "voices" / f"{name}.bin")
    letters = {"A": 3, "ʧ": 4, "ɹ": 5, ".": 6, "x": 7}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": letters}}))
    return tmp_path


def test_phonemes_of_espeak_become_those_of_kokoro(bank):
    voice = Kokoro(bank / "onnx" / "model.onnx")
    voice.speak("tʃeɪr.", (1.0, 0.0, 0.0, 0.0), 1.2, np.random.default_rng(0))
    (given,) = voice._graph.given
    assert given["tokens"].tolist() == [[0, 4, 3, 5, 6, 0]]
    assert given["style"].shape == (1, SIZE)
    assert given["speed"].tolist() == pytest.approx([1.2])


def test_a_timbre_is_a_mixture_of_english_voices_of_the_wished_sex(bank):
    voice = Kokoro(bank / "onnx" / "model.onnx")
    assert voice.voices == 4  # the Japanese one is left out
    assert voice.sexes == ("f", "m")
    drawn = [voice.timbre(Key(bytes([k]) * 32).pseudonym("a")) for k in range(30)]
    assert len(set(drawn)) == 30
    for shares in drawn:
        assert sum(shares) == pytest.approx(1.0)
        assert sum(share > 0 for share in shares) == 3
    for key in range(10):
        women = voice.timbre(Key(bytes([key]) * 32).pseudonym("a"), "f")
        assert women[2:] == (0.0, 0.0)
        assert sum(women) == pytest.approx(1.0)


def test_styles_are_mixed_by_their_shares(bank):
    voice = Kokoro(bank / "onnx" / "model.onnx")
    voice.speak("x", (0.0, 0.5, 0.0, 0.5), 1.0, np.random.default_rng(0))
    assert np.unique(voice._graph.given[0]["style"]).tolist() == [2.0]  # of voices 1 and 3


def test_long_texts_are_spoken_in_parts(bank):
    voice = Kokoro(bank / "onnx" / "model.onnx")
    made = voice.speak("x" * 1200, (1.0, 0.0, 0.0, 0.0), 1.0, np.random.default_rng(0))
    assert [given["tokens"].shape[1] for given in voice._graph.given] == [402] * 3
    assert len(made) == 3 * 402


def test_an_archive_of_styles_is_read_and_missing_files_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(kokoro, "Graph", Graph)
    with pytest.raises(VoicenymError, match="no numbers of phonemes"):
        Kokoro(tmp_path / "model.onnx")
    (tmp_path / "vocab.json").write_text('{"vocab": {"x": 1}}')
    with pytest.raises(VoicenymError, match="no styles of Kokoro"):
        Kokoro(tmp_path / "model.onnx")
    np.savez(tmp_path / "voices_ja.npz", jf_a=np.zeros((5, 1, SIZE), np.float32))
    assert Kokoro(tmp_path / "model.onnx").voices == 1
    (tmp_path / "bad.bin").write_bytes(b"12345")
    with pytest.raises(VoicenymError, match="styles cannot be read"):
        Kokoro(tmp_path / "model.onnx")
