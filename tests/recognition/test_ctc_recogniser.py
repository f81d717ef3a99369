"""CTC recognisers from a folder, with and without a tuned n-gram."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

pytest.importorskip("safetensors")

from voicenym.errors import AudioError, VoicenymError
from voicenym.nets.words.ctc_networks.character_model import CharacterModel
from voicenym.nets.words.ctc_networks.ctc import Alphabet
from voicenym.recognition import available, recogniser
from voicenym.recognition.ctc_recogniser import Decoding, decode, note
from voicenym.recognition.language_model_weight import attach
from voicenym.recognition.language_models.arpa import write_arpa
from voicenym.recognition.language_models.ngram import characters, train, words

TINY = {"size": 16, "layers": 1, "heads": 2, "kernel": 3, "channels": 4}
ALPHABET = Alphabet(" ab")


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(0)
    CharacterModel.make("conformer", ALPHABET, TINY).save(tmp_path / "asr")
    return tmp_path / "asr"


@pytest.fixture
def sounds():
    rng = np.random.default_rng(0)
    return [0.1 * rng.standard_normal(n).astype(np.float32) for n in (16_000, 5_000)]


def test_it_hears_what_the_best_path_says(folder, sounds):
    assert "ctc" in available()
    model, _ = CharacterModel.load(folder)
    with recogniser("ctc", weights=str(folder)) as listener:
        transcripts = listener.transcribe(sounds)
        assert listener.name == "asr, conformer"
        assert listener.transcribe(sounds[::-1]) == transcripts[::-1]
        assert listener.transcribe([sounds[0][:100], np.zeros(0, np.float32)]) == ["", ""]
    for text, sound in zip(transcripts, sounds, strict=True):
        log_probs = model.log_probs(torch.from_numpy(sound))
        assert text == decode(log_probs, ALPHABET, Decoding(), None)
    with (
        pytest.raises(AudioError, match="recording 0"),
        recogniser("ctc", weights=folder) as listener,
    ):
        listener.transcribe([np.zeros((2, 100), np.float32)])


def heard_as(text: str, sure: float = 0.9) -> np.ndarray:
    """Frames in which each letter is heard, then the blank; an x is a or b with equal chance."""
    frames = []
    for letter in text:
        chances = np.full(4, (1.0 - sure) / 3)
        if letter == "x":
            chances = np.array([0.01, 0.01, 0.49, 0.49])
        else:
            chances[ALPHABET.encode(letter)[0]] = sure
        frames += [chances, np.array([sure, *[(1.0 - sure) / 3] * 3])]
    return np.log(frames)


@pytest.mark.parametrize(("units", "split"), [("words", words), ("characters", characters)])
def test_an_n_gram_of_a_users_own(folder, tmp_path, monkeypatch, units, split):
    monkeypatch.setattr(CharacterModel, "log_probs", lambda self, samples: heard_as("bxb bab"))
    sound = np.zeros(1_000, np.float32)
    for messages in ("bab bab", "bbb bab"):
        arpa = tmp_path / "own.arpa"
        arpa.write_text(write_arpa(train([split(messages)], 3, "witten-bell")))
        options = {"language_model": arpa, "units": units, "weight": 2.0, "bonus": 0.0}
        with recogniser("ctc", weights=folder, **options) as listener:
            assert listener.name == f"asr, conformer with 3-gram of {units}"
            assert listener.transcribe([sound]) == [messages]


def test_weights_are_those_with_the_fewest_errors(folder, monkeypatch):
    """The net is replaced by what it would give, had it learnt anything."""
    held = {4: "ab ab", 8: "aab ba"}  # by length
    unsure = {4: "ax ab", 8: "aab bx"}
    monkeypatch.setattr(
        CharacterModel, "log_probs", lambda self, samples: heard_as(unsure[len(samples)])
    )
    texts = ["ab ab", "ab ba", "aab ba", "Ab, ab!"] * 3
    messages: list[str] = []
    figures = attach(
        folder,
        texts,
        [(np.zeros(length, np.float32), text) for length, text in held.items()],
        say=messages.append,
    )
    assert figures["with the n-gram"] == 0.0 < figures["greedy"]
    assert "WER 0.0 %" in messages[0]
    config = json.loads((folder / "config.json").read_text())
    assert config["decoding"]["language_model"] == "words.arpa"
    with recogniser("ctc", weights=folder) as listener:
        assert "2-gram of words" in listener.name
    plain = recogniser("ctc", weights=folder, beam=0)
    assert plain.name == "asr, conformer"


def test_an_n_gram_that_does_not_help_is_not_used(folder, monkeypatch):
    monkeypatch.setattr(CharacterModel, "log_probs", lambda self, samples: heard_as("ab ba"))
    attach(folder, ["bb bb"], [(np.zeros(9, np.float32), "ab ba")])
    assert recogniser("ctc", weights=folder).name == "asr, conformer"


def test_it_knows_whose_output_it_learnt_from(folder):
    assert recogniser("ctc", weights=folder).anonymized_by == ""
    note(folder, training={"anonymized by": "mcadams"})
    assert recogniser("ctc", weights=folder).anonymized_by == "mcadams"


def test_without_weights_the_message_names_the_command():
    with pytest.raises(VoicenymError, match="--recogniser-weights"):
        recogniser("ctc")
    with pytest.raises(VoicenymError, match="cannot be read"):
        recogniser("ctc", weights="nowhere")


def test_other_weights_under_one_name_are_another_recogniser(folder):
    first, again = (recogniser("ctc", weights=str(folder)) for _ in range(2))
    assert first.identity == again.identity
    assert first.identity != recogniser("ctc", weights=str(folder), beam=2).identity
    torch.manual_seed(1)
    CharacterModel.make("conformer", ALPHABET, TINY).save(folder)
    other = recogniser("ctc", weights=str(folder))
    assert other.name == first.name
    assert other.identity != first.identity
