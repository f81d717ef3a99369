"""Shallow fusion: increments of the search add up to the language model's score of the text."""

from __future__ import annotations

import math

import numpy as np
import pytest

from voicenym.nets.words.ctc_networks.ctc import Alphabet, search
from voicenym.recognition.language_models.ngram import NGram, characters, train, words
from voicenym.recognition.language_models.shallow_fusion import CharacterFusion, WordFusion

TEXTS = ["ab ba", "ab ab", "ba b", "ab"]
ALPHABET = Alphabet(" ab")


def added(fusion, text):
    state, total = fusion.start(), 0.0
    for token in ALPHABET.encode(text):
        more, state = fusion.step(state, token)
        total += more
    return total + fusion.finish(state)


@pytest.mark.parametrize("text", ["ab ba", "b", "", "aa ab"])
def test_characters_and_words_add_up_to_the_text(text):
    model = train(map(characters, TEXTS), 3, "witten-bell")
    fusion = CharacterFusion(model, ALPHABET, weight=0.7, bonus=0.2)
    wanted = 0.7 * model.sentence(characters(text)) + 0.2 * len(text)
    assert math.isclose(added(fusion, text), wanted)
    model = train(map(words, TEXTS), 2)
    fusion = WordFusion(model, ALPHABET, weight=0.7, bonus=0.2)
    wanted = 0.7 * model.sentence(words(text)) + 0.2 * len(words(text))
    assert math.isclose(added(fusion, text), wanted)


def test_blanks_at_the_ends_and_twice_are_no_words():
    fusion = WordFusion(train(map(words, TEXTS), 2), ALPHABET, 1.0, bonus=0.5)
    assert math.isclose(added(fusion, "  ab   ba "), added(fusion, "ab ba"))


def test_a_model_without_unknown_words_allows_none():
    known = train(map(words, TEXTS), 1)
    closed = NGram(1, {g: p for g, p in known.log_probs.items() if g != ("<unk>",)}, {})
    assert added(WordFusion(closed, ALPHABET, 1.0), "aaa") == -math.inf


def test_the_language_model_decides_between_what_sounds_alike():
    # each letter is heard as a or b with equal chance
    transcripts = np.log(np.full((2, 4), [0.02, 0.02, 0.48, 0.48]))
    transcripts = np.concatenate(
        [transcripts[:1], np.log([[0.97, 0.01, 0.01, 0.01]]), transcripts[1:]]
    )
    for model, fusion in ((train(map(words, TEXTS), 2), WordFusion),
                          (train(map(characters, TEXTS), 3), CharacterFusion)):  # fmt: skip
        best = search(transcripts, scorer=fusion(model, ALPHABET, 1.0))[0][0]
        assert ALPHABET.decode(best) == "ab"
