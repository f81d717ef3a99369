"""A closed vocabulary: the bigram sums to one, the grammar holds the phrases."""

from __future__ import annotations

import math

import pytest

from voicenym.errors import VoicenymError
from voicenym.recognition.language_models.closed_vocabulary import (
    bigram,
    grammar,
    lexicon_of,
    pronounceable,
    read_lexicon,
    write_lexicon,
)

SENTENCES = ["the cat saw the dog", "the dog saw", "a cat saw a dog"]


def parsed(arpa: str) -> tuple[dict, dict, dict]:
    one, back_off, two = {}, {}, {}
    for line in arpa.splitlines():
        parts = line.split()
        if len(parts) == 3 and line[0] in "-0":
            try:
                back_off[parts[1]] = 10 ** float(parts[2])
                one[parts[1]] = 10 ** float(parts[0])
            except ValueError:
                two[parts[1], parts[2]] = 10 ** float(parts[0])
    return one, back_off, two


@pytest.mark.parametrize("history", ["<s>", "the", "cat", "saw", "a", "dog"])
def test_probabilities_after_each_word_sum_to_one(history):
    one, back_off, two = parsed(bigram(SENTENCES))
    assert math.isclose(sum(one.values()), 1.0, abs_tol=1e-4)
    total = sum(two.get((history, w), back_off[history] * p) for w, p in one.items() if w != "<s>")
    assert math.isclose(total, 1.0, abs_tol=1e-3)


def test_a_bigram_by_hand():
    _, _, two = parsed(bigram(SENTENCES))
    assert math.isclose(two["the", "dog"], (2 - 0.5) / 3, abs_tol=1e-5)
    assert ("dog", "cat") not in two


def test_the_header_counts_what_follows():
    one, _, two = parsed(bigram(SENTENCES))
    assert f"ngram 1={len(one)}\nngram 2={len(two)}\n" in bigram(SENTENCES)


@pytest.mark.parametrize("empty", [[], [""], ["", " "]])
def test_no_words_make_no_model(empty):
    with pytest.raises(VoicenymError, match="no words"):
        bigram(empty)


def test_one_word_that_is_all_there_is():
    assert "\\end\\" in bigram(["yes"])


def test_the_grammar_is_one_of_the_phrases():
    text = grammar(["view glass", "alexa", "alexa"])
    assert text.startswith("#JSGF V1.0;")
    assert "= alexa | view glass;" in text


@pytest.mark.parametrize(("phrases", "stated"), [([], "none"), (["a | b"], r"'a \| b'")])
def test_a_grammar_of_nothing_or_of_signs_is_refused(phrases, stated):
    with pytest.raises(VoicenymError, match=stated):
        grammar(phrases)


def test_a_lexicon_survives_writing():
    text = "a AH\na(2) EY\ncat K AE T\n"
    lexicon = read_lexicon(text)
    assert lexicon == {"a": ["AH", "EY"], "cat": ["K AE T"]}
    assert write_lexicon(["cat", "a", "a"], lexicon) == text


def test_sentences_with_missing_words_are_named():
    kept, left = pronounceable(["A  Cat", "a snowboy glorp", ""], {"a": [], "cat": []})
    assert kept == ["a cat"]
    assert left == {"a snowboy glorp": ["glorp", "snowboy"]}


def test_a_file_that_is_no_dictionary_is_refused(tmp_path):
    (tmp_path / "bytes.dict").write_bytes(bytes(range(128, 256)))
    (tmp_path / "empty.dict").write_text("\n")
    (tmp_path / "good.dict").write_text("a AH\na(2) EY\n")
    assert lexicon_of(tmp_path / "good.dict") == {"a": ["AH", "EY"]}
    for name, why in (("bytes", "no text"), ("empty", "no words"), ("absent", "cannot be read")):
        with pytest.raises(VoicenymError, match=why):
            lexicon_of(tmp_path / f"{name}.dict")
