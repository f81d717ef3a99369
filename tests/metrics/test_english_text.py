"""Normalised English: equal spellings become one, different words stay different."""

from __future__ import annotations

import pytest

from voicenym.metrics import word_errors
from voicenym.metrics.english_text import english
from voicenym.metrics.number_words import in_digits

SAME = [
    ("twenty-one", "21"),
    ("three hundred and five", "305"),
    ("one hundred and twenty thousand", "120,000"),
    ("two million four hundred thousand and sixteen", "2,400,016"),
    ("nineteen eighty-four", "1984"),
    ("twenty twenty one", "2021"),
    ("two thousand and one", "2001"),
    ("three point one four", "3.14"),
    ("twenty dollars", "$20"),
    ("five per cent", "5 per cent"),
    ("five percent", "5%"),
    ("the twenty-first", "the 21st"),
    ("forty-second street", "42nd street"),
    ("one two three", "1 2 3"),
    ("I won't; he can't, they're", "I will not he cannot they are"),
    ("it's, she's gone, we'd been", "it is she has gone we had been"),
    ("Mr. Smith", "mister Smith"),
    ("the grey colour's travelled", "the gray colors traveled"),
    ("organise the theatre", "organize the theater"),
    ("he, um, left (laughter) [noise]", "he left"),
    ("Zürich, café", "ZURICH CAFE"),
    ("the U.S.A. at 5 p.m.", "the USA at five PM"),
    ("John ’s book", "Johns book"),
]
APART = [
    ("twenty one", "21st"),
    ("five six", "56"),
    ("ten ten", "1010"),
    ("wait a second", "wait a 2nd"),
    ("our", "or"),
    ("your", "yor"),
    ("he will", "he would"),
    ("hundred", "100"),
    ("for", "four"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_spellings_are_one(one, other):
    assert english(one) == english(other)
    assert word_errors([one], [other]).value == 0.0


@pytest.mark.parametrize(("one", "other"), APART)
def test_different_words_stay_apart(one, other):
    assert english(one) != english(other)


@pytest.mark.parametrize("number", [*range(0, 130), 999, 1000, 1001, 1100, 65_536, 2_000_300])
def test_every_cardinal_in_words_is_its_figure(number):
    assert in_digits(in_words(number)) == str(number)


def in_words(number: int) -> str:
    small = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ]
    tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    if number < 20:
        return small[number]
    if number < 100:
        rest = number % 10
        return tens[number // 10 - 2] + (f" {small[rest]}" if rest else "")
    for size, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            joined = " and " if 0 < rest < 100 else " "
            return (in_words(number // size) + f" {name}" + joined * bool(rest)
                    + (in_words(rest) if rest else ""))  # fmt: skip
    raise AssertionError


def test_normalising_twice_changes_nothing():
    for pair in (*SAME, *APART):
        for text in pair:
            assert english(english(text)) == english(text)


def test_other_scripts_keep_their_vowels():
    assert english("हिन्दी, किताब!") == "हिन्दी किताब"
