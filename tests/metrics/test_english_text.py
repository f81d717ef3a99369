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
def test_different_words_stay_distinct(one, other):
    assert english(one) != english(other)


NUMBERS = {
    "zero": 0,
    "the four seasons and the seven hills": "the 4 seasons and the 7 hills",
    "eleven players, twelve months": "11 players 12 months",
    "ten fingers, nineteen intersections on a side": "10 fingers 19 intersections on a side",
    "fourteen lines of a sonnet": "14 lines of a sonnet",
    "eighty eight keys, of which fifty two are white": "88 keys of which 52 are white",
    "a prime is ninety seven, seventy three or sixty one": "a prime is 97 73 or 61",
    "twenty four hours of sixty minutes": "24 hours of 60 minutes",
    "thirty six is six squared": "36 is 6 squared",
    "forty five is the sum of one to nine": "45 is the sum of 1 to 9",
    "one hundred": 100,
    "one hundred and one": 101,
    "three hundred and sixty five": 365,
    "nine hundred and ninety nine": 999,
    "one thousand and one": 1001,
    "one thousand one hundred": 1100,
    "one thousand four hundred and forty": 24 * 60,
    "sixteen thousand three hundred and eighty four": 2**14,
    "sixty five thousand five hundred and thirty six": 2**16,
    "seventeen thousand and eighteen": 17_018,
    "eighty six thousand four hundred": 24 * 60 * 60,
    "thirteen thousand and fifteen": 13_015,
    "two million three hundred": 2_000_300,
    "two hundred and ninety nine million seven hundred and ninety two thousand four hundred and "
    "fifty eight": 299_792_458,
    "eight billion": 8 * 10**9,
    "one trillion": 10**12,
}
"""Known numbers, among them minutes and seconds of a day, powers of two and the speed of light; all
words of numbers occur.
"""


@pytest.mark.parametrize(("words", "figures"), NUMBERS.items())
def test_known_numbers_in_words_are_their_figures(words, figures):
    assert " ".join(in_digits(words).split()) == str(figures)


@pytest.mark.parametrize(
    "tens", ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
)
def test_parts_of_a_number_add_up(tens):
    """Each counted number is one more than the number before it."""
    units = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    first = int(in_digits(tens))
    counted = [int(in_digits(f"{tens} {unit}")) for unit in units]
    assert counted == list(range(first + 1, first + 10))
    hundreds = [int(in_digits(f"two hundred and {tens} {unit}")) for unit in units]
    assert hundreds == [200 + number for number in counted]


def test_normalising_twice_changes_nothing():
    for pair in (*SAME, *APART):
        for text in pair:
            assert english(english(text)) == english(text)


def test_other_scripts_keep_their_vowels():
    assert english("हिन्दी, किताब!") == "हिन्दी किताब"
