"""Hybrid recognisers from a folder: full and reduced n-gram, and tuned weight."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

pytest.importorskip("safetensors")
pytest.importorskip("jiwer")

from voicenym.errors import AudioError, VoicenymError
from voicenym.nets.words.ctc_networks.character_model import CharacterModel
from voicenym.nets.words.ctc_networks.ctc import Alphabet
from voicenym.nets.words.phone_states.phone_model import PhoneModel
from voicenym.nets.words.phone_states.phones import States
from voicenym.recognition import of_folder, recogniser
from voicenym.recognition.ctc_recogniser import Trained
from voicenym.recognition.hybrid_recogniser import BONUSES, WEIGHTS, Hybrid, Search, attach
from voicenym.recognition.language_models.arpa import write_arpa
from voicenym.recognition.language_models.ngram import train

STATES = States(("A", "B", "C"))
LEXICON = {"two": ["A B"], "too": ["A B"], "me": ["C"], "to": ["A"]}
TEXTS = ["me too", "Two me.", "me to"] * 3


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(0)
    model = PhoneModel.make(STATES, {"width": 8, "gaps": (1,)})
    model.save(tmp_path / "asr", training={"anonymized by": "mcadams"})
    attach(tmp_path / "asr", TEXTS, LEXICON, [(np.zeros(8_000, np.float32), "me")])
    return tmp_path / "asr"


def spoken(*phones):
    """Frames in which phones are said, two in the earlier part and one in the later."""
    states = [0, *(s for p in phones for s in [STATES.first(p)] * 2 + [STATES.first(p) + 1]), 0]
    frames = np.full((len(states), len(STATES)), 0.02)
    frames[np.arange(len(states)), states] = 0.88
    return np.log(frames / frames.sum(1, keepdims=True))


def test_it_hears_words_and_phones(folder, monkeypatch):
    monkeypatch.setattr(PhoneModel, "log_probs", lambda self, samples: spoken(*"CAB"))
    sound = np.zeros(1_000, np.float32)
    with recogniser("hybrid", weights=folder, search=Search(1.0)) as listener:
        assert listener.anonymized_by == "mcadams"
        assert listener.name == "asr, phones with 2-gram of 4 words"
        assert listener.transcribe([sound, sound[:100]]) == ["me too", ""]
        assert listener.phones([sound, sound[:100]]) == [["C", "A", "B"], []]
        with pytest.raises(AudioError, match="recording 0"):
            listener.transcribe([np.zeros((2, 100), np.float32)])


def test_order_and_model_may_be_others(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(PhoneModel, "log_probs", lambda self, samples: spoken(*"CAB"))
    sound = np.zeros(1_000, np.float32)
    for order, name in ((0, "zero-gram"), (1, "1-gram"), (2, "2-gram")):
        with Hybrid(folder, order=order) as listener:
            assert listener.name == f"asr, phones with {name} of 4 words"
            transcripts = listener.transcribe([sound])[0].split()
            assert transcripts[0] == "me"
            assert transcripts[1] in ("two", "too")
    own = tmp_path / "own.arpa"
    own.write_text(write_arpa(train([["me", "two"]] * 3, 3, "witten-bell")))
    with Hybrid(folder, language_model=own, search=Search(1.0)) as listener:
        assert listener.transcribe([sound]) == ["me two"]
        assert "3-gram of 2 words" in listener.name
    lexicon = tmp_path / "own.dict"
    lexicon.write_text("me C\ntwo C A B\n")
    with Hybrid(folder, language_model=own, lexicon=lexicon, order=0) as listener:
        assert listener.transcribe([sound]) == ["two"]
    with pytest.raises(VoicenymError, match="cut to 0 or 1"):
        Hybrid(folder, language_model=own, order=2)
    with pytest.raises(VoicenymError, match="cannot be read"):
        Hybrid(folder, lexicon=tmp_path / "none.dict")


def test_the_same_sound_alone_and_in_company(folder):
    rng = np.random.default_rng(0)
    sounds = [0.1 * rng.standard_normal(n).astype(np.float32) for n in (16_000, 5_000)]
    with Hybrid(folder) as listener:
        assert listener.transcribe(sounds) == [listener.transcribe([s])[0] for s in sounds]


def test_weight_and_bonus_are_those_with_the_fewest_errors(folder, monkeypatch):
    # What is heard is unclear: only with the n-gram is it right, and only if that weighs enough.
    frames = np.log((np.exp(spoken(*"CAB")) + 0.6 * np.exp(spoken(*"CAC"))) / 1.6)
    monkeypatch.setattr(PhoneModel, "log_probs", lambda self, samples: frames)
    held_out = [(np.zeros(1_000, np.float32), "me too")]
    messages = []
    rate = attach(folder, TEXTS, LEXICON, held_out, say=messages.append)
    assert rate == 0.0
    assert "2-gram of 4 words: WER 0.0 %" in messages[0]
    with Hybrid(folder) as listener:
        assert listener.transcribe([held_out[0][0]]) == ["me too"]
        chosen = dataclasses.asdict(listener._search)
    assert chosen["weight"] in WEIGHTS
    assert chosen["bonus"] in BONUSES


def test_folders_tell_what_they_hold(folder, tmp_path):
    letters = {"size": 16, "layers": 1, "heads": 2, "kernel": 3, "channels": 4}
    CharacterModel.make("conformer", Alphabet(" ab"), letters).save(tmp_path / "letters")
    assert isinstance(of_folder(folder), Hybrid)
    assert isinstance(of_folder(tmp_path / "letters"), Trained)
    with pytest.raises(VoicenymError, match="train hybrid"):
        recogniser("hybrid")
    with pytest.raises(VoicenymError, match="no recogniser of phones"):
        recogniser("hybrid", weights=tmp_path / "letters")
    with pytest.raises(VoicenymError, match="no recogniser of characters"):
        recogniser("ctc", weights=folder)
