"""ARPA files: round trip, and files of other programs."""

from __future__ import annotations

import math
from itertools import product

import pytest

from voicenym.errors import VoicenymError
from voicenym.recognition.language_models.arpa import parse_arpa, read_arpa, write_arpa
from voicenym.recognition.language_models.closed_vocabulary import bigram
from voicenym.recognition.language_models.ngram import END, START, UNKNOWN, characters, train, words

TEXTS = ["a cat saw a dog", "the dog saw the cat", "a dog saw", "cat cat cat"]


@pytest.mark.parametrize("smoothing", ["kneser-ney", "witten-bell"])
@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("split", [words, characters])
def test_a_model_survives_writing(order, smoothing, split, tmp_path):
    model = train(map(split, TEXTS), order, smoothing)
    path = tmp_path / "model.arpa"
    path.write_text(write_arpa(model), "utf-8")
    again = read_arpa(path)
    assert again.order == order
    assert again.units == model.units
    for context in product([START, *sorted(model.units - {END})[:4]], repeat=2):
        for unit in [*model.units, "never-seen"]:
            wanted = model.log_prob(unit, context)
            assert math.isclose(again.log_prob(unit, context), wanted, abs_tol=1e-5)
    assert write_arpa(again) == write_arpa(model)


def test_files_of_others_are_read():
    model = parse_arpa(bigram(TEXTS))
    assert math.isclose(math.exp(model.log_prob("dog", ["a"])), 1.5 / 3, rel_tol=1e-4)
    units = model.units - {START}
    total = sum(math.exp(model.log_prob(unit, ["saw"])) for unit in units)
    assert math.isclose(total, 1.0, rel_tol=1e-3)
    assert model.log_prob("zebra", ["a"]) == -math.inf  # it knows no unknown words
    assert UNKNOWN not in units


def test_the_header_counts_what_follows():
    text = write_arpa(train(map(words, TEXTS), 2))
    assert text.startswith("\\data\\\nngram 1=8\n")
    assert text.endswith("\\end\\\n")
    assert f"-99.0000000\t{START}\t" in text


def test_units_that_end_lines_elsewhere_are_units():
    model = train([["a\x0c", "b\u2028"]], 2)
    assert parse_arpa(write_arpa(model)).units == model.units


GOOD = "\\data\\\nngram 1=1\n\n\\1-grams:\n-0.3 a\n\n\\end\\\n"


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("", "no whole file"),
        (GOOD.replace("\\end\\", ""), "no whole file"),
        (GOOD.replace("ngram 1=1", "ngram 1=2"), "promises"),
        (GOOD.replace("-0.3 a", "-0.3"), "ARPA:5: expected"),
        (GOOD.replace("-0.3", "much"), "ARPA:5: expected"),
        (GOOD.replace("-0.3 a", "-0.3 a b c"), "ARPA:5: expected"),
    ],
)
def test_broken_files_are_refused_by_line(text, stated):
    assert parse_arpa(GOOD).units == {"a"}
    with pytest.raises(VoicenymError, match=stated):
        parse_arpa(text)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(VoicenymError, match="cannot be read"):
        read_arpa(tmp_path / "none.arpa")
    (tmp_path / "latin.arpa").write_bytes(b"\xe4\xff")
    with pytest.raises(VoicenymError, match="UTF-8"):
        read_arpa(tmp_path / "latin.arpa")
