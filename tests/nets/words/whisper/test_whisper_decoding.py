"""Greedy decoding of a network with known logits, and the search for loops."""

from __future__ import annotations

import math

import pytest
import tiny_whisper as tiny
import torch

from voicenym.nets.words.whisper.whisper_decoding import REPEATS, Writing, greedy, loop
from voicenym.nets.words.whisper.whisper_vocabulary import Vocabulary


def test_the_probabilities_are_those_of_the_logits():
    made = tiny.always(tiny.network(), {5: 2.0, tiny.WRITING.end: 3.0, tiny.WRITING.silent: 4.0})
    found = greedy(made, torch.randn(2, 50, 32), tiny.WRITING)
    for one in found:
        assert one.tokens == []
        # the end, of 255 words of logit 0 and one of 2
        assert one.log_prob == pytest.approx(3 - math.log(255 + math.e**2 + math.e**3), abs=1e-4)
        everything = 261 + math.e**2 + math.e**3 + math.e**4
        assert one.no_speech == pytest.approx(math.e**4 / everything, abs=1e-5)
        assert not one.looped
        assert not one.cut


def test_a_loop_stands_once_and_ends_the_text():
    made = tiny.always(tiny.network(), {5: 9.0})
    states = torch.randn(1, 50, 32)
    (one,) = greedy(made, states, tiny.WRITING)
    assert one.tokens == [5]
    assert one.looped
    (whole,) = greedy(made, states, tiny.WRITING, most=20, repeats=0)
    assert whole.tokens == [5] * 20
    assert whole.cut


@pytest.mark.parametrize("length", [1, 2, 3, 7, 16])
def test_loops_of_any_length_are_found_at_the_end_alone(length):
    part = list(range(length))
    assert loop([99, *part * REPEATS]) == length
    assert loop([99, *part * REPEATS, 98]) == 0
    assert loop([99, *part * (REPEATS - 1)]) == 0


def test_bytes_become_text_and_special_tokens_none(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(tiny.tokenizer_text())
    known = Vocabulary(path)
    text = "naïve – 数"
    signs = {byte: character for character, byte in characters().items()}
    tokens = [tiny.BYTES[signs[byte]] for byte in f" {text}".encode()]
    assert known.decode([257, *tokens, 256]) == text
    assert known.decode(tokens[:3]) == "na"
    assert known.languages() == {"en": 258, "de": 259}
    assert known.number("<|fr|>") is None


def characters():
    from voicenym.nets.words.whisper.whisper_vocabulary import characters_as_bytes

    return characters_as_bytes()


def test_the_default_signs_are_those_of_the_english_models():
    assert Writing().begin == (50_257, 50_362)
