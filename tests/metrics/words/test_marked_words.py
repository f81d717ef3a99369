"""Accuracy on proper nouns and numbers of texts whose errors are known."""

from __future__ import annotations

import pytest

pytest.importorskip("jiwer")

from voicenym.metrics.intervals.binomial import wilson
from voicenym.metrics.metric_inputs import RecognisedWords
from voicenym.metrics.words.marked_words import NUMBERS, PROPER_NOUNS, marked_counts, proper_nouns

SPOKEN = [
    "Yesterday Mary Okonkwo met Paul. He smiled at Anna, and I paid Mr. Brown twenty-one dollars.",
    "In 1984 we saw two dogs near Paris.",
]


def words(hypotheses, references=SPOKEN):
    names = [f"r{i}" for i in range(len(references))]
    return RecognisedWords(references, hypotheses, names, [n[-1] for n in names], replicates=50)


def test_capitals_within_a_sentence_are_names():
    found = proper_nouns(SPOKEN)
    assert found == [{"mary", "okonkwo", "paul", "anna", "brown"}, {"paris"}]


def test_a_list_serves_where_there_is_one_case():
    assert proper_nouns(["MARY MAY MEET TOM IN PARIS ON MONDAY"]) == [
        {"mary", "tom", "paris", "monday"}
    ]


def test_every_lost_name_and_number_counts_once():
    received = [
        "yesterday mary a conquer met paul he smiled at anna and i paid mr brown 21 dollars",
        "in 1985 we saw 2 dogs near harris",
    ]
    names = [marked_counts(SPOKEN, received, mark).tolist() for mark in (_names, _numbers)]
    assert names[0] == [[4, 5], [0, 1]]
    assert names[1] == [[1, 1], [1, 2]]
    assert marked_counts(SPOKEN, ["", ""], _names).tolist() == [[0, 5], [0, 1]]


def _names(references):
    from voicenym.metrics.words.marked_words import _proper_nouns

    return _proper_nouns(references)


def _numbers(references):
    from voicenym.metrics.words.marked_words import _numbers

    return _numbers(references)


def test_a_share_needs_ten_words():
    assert PROPER_NOUNS(words(SPOKEN)) is None
    many = [f"then Anna gave Paul {n} cats and {n + 1} dogs" for n in range(20, 26)]
    all_right = PROPER_NOUNS(words(many, many))
    low, _ = wilson(6, 6, 0.95)  # each of six speakers is all right
    assert (all_right.value, all_right.low, all_right.high) == (100.0, 100.0 * low, 100.0)
    half = NUMBERS(words([text.replace("2", "3", 1) for text in many], many))
    assert half.value == pytest.approx(50.0)
    assert half.unit == "%"
