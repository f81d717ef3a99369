"""Phones without words: a loop of all phones, and pronunciations of texts."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("safetensors")

import numpy as np

from voicenym.audio import read
from voicenym.errors import VoicenymError
from voicenym.metrics.words.phone_error_rate import phone_counts
from voicenym.nets.words.phone_states.phone_model import PhoneModel
from voicenym.nets.words.phone_states.phones import States
from voicenym.recognition.language_models.arpa import write_arpa
from voicenym.recognition.language_models.ngram import train
from voicenym.recognition.phones.phone_loop import SETTINGS
from voicenym.recognition.phones.phone_recogniser import FramePhones, pronounced


@pytest.fixture
def folder(tmp_path):
    model = PhoneModel.make(States(("AH", "B")), {"width": 16, "gaps": (1,)})
    model.save(tmp_path / "asr", training={"anonymized by": ""})
    (tmp_path / "asr" / "lexicon.dict").write_text("a AH\n")
    (tmp_path / "asr" / "words.arpa").write_text(write_arpa(train([["a"]], 1)))
    return tmp_path / "asr"


def test_it_writes_phones_of_its_own_and_none_of_nothing(folder):
    recogniser = FramePhones(folder)
    sound = 0.1 * np.random.default_rng(0).standard_normal(16_000).astype(np.float32)
    found = recogniser.phones([sound, sound[:100]])
    assert set(found[0]) <= {"AH", "B"}
    assert found[1] == []
    assert recogniser.phones([sound]) == found[:1]
    assert "phones alone" in recogniser.name


def test_a_recogniser_of_anonymized_speech_counts_no_phones(folder):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "training": {"anonymized by": "vtln"}}))
    with pytest.raises(VoicenymError, match="trained on output of vtln"):
        FramePhones(folder)


def test_texts_are_pronounced_as_the_dictionary_says():
    pytest.importorskip("pocketsphinx")
    found = pronounced(["The cat", "the xyzzyx", ""])
    assert found[0] == [["DH AH", "DH IY"], ["K AE T"]]
    assert found[1] is None
    assert found[2] == []


def test_other_weights_or_settings_are_another_recogniser(folder):
    first, again = FramePhones(folder), FramePhones(folder)
    assert first.identity == again.identity
    path = folder / "config.json"
    config = path.read_text()
    path.write_text(json.dumps({**json.loads(config), SETTINGS: {"bonus": 2.0, "priors": 0.6}}))
    assert FramePhones(folder).identity != first.identity
    path.write_text(config)
    PhoneModel.make(States(("AH", "B")), {"width": 16, "gaps": (1,)}).save(
        folder, training={"anonymized by": ""}
    )
    assert FramePhones(folder).identity != first.identity


def test_the_network_alone_suffices(folder):
    sound = 0.1 * np.random.default_rng(0).standard_normal(16_000).astype(np.float32)
    before = FramePhones(folder).phones([sound])
    for name in ("lexicon.dict", "words.arpa"):
        (folder / name).unlink()
    assert FramePhones(folder).phones([sound]) == before


def test_the_bundled_recogniser_finds_the_phones_of_a_sentence(say):
    """Of a synthetic voice, unlike those of its training; another sentence's phones fit worse."""
    pytest.importorskip("pocketsphinx")
    texts = ["the boy was there when the sun rose", "a large size in stockings is hard to sell"]
    recogniser = FramePhones()
    assert recogniser.name == "phones-small, phones alone"
    sounds = [read(say(text)).samples.numpy().reshape(-1) for text in texts]
    found = recogniser.phones(sounds)
    known = pronounced(texts)
    counts, crossed = (
        np.array([phone_counts(words, phones) for words, phones in zip(known, order, strict=True)])
        for order in (found, found[::-1])
    )
    assert counts[:, :3].sum() < 0.6 * counts[:, 3].sum()
    assert counts[:, :3].sum() < 0.7 * crossed[:, :3].sum()
