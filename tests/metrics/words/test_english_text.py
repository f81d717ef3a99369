"""Normalised English: equal spellings become one, different words stay different."""

from __future__ import annotations

import pytest

from voicenym.metrics import word_errors
from voicenym.metrics.words.english_text import english
from voicenym.metrics.words.number_words import in_digits

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
    # years, decades and pauses
    ("in the nineteen twenties", "in the 1920s"),
    ("the eighteen-hundreds, the twenty tens", "the 1800s the 2010s"),
    ("the early two thousands", "the early 2000s"),
    ("the roaring twenties; in her thirties", "the roaring '20s; in her 30s"),
    ("thirteen, fifteen or twenty", "13, 15 or 20"),
    ('"Thirteen?" Fifteen! Sixteen. Eighteen; nineteen—twenty', "13 15 16 18 19 20"),
    ("at 13:15", "at 13 15"),
    ("twenty, one", "20, 1"),
    ("one thousand, two hundred and five", "1,205"),
    ("two million, four hundred thousand, three hundred", "2,400,300"),
    ("in two thousand, five people left", "in 2000, 5 people left"),
    ("one thousand, two thousand", "1000, 2000"),
    ("one thousand two thousand", "1000 2000"),
    # articles before a scale
    ("a hundred dogs", "100 dogs"),
    ("an hundred and forty", "140"),
    ("a thousand and one nights", "1001 nights"),
    ("a hundred and fifty thousand", "150,000"),
    ("a million", "1,000,000"),
    ("the cave of a hundred and first", "the cave of 101st"),
    # decimals
    ("point five", "0.5"),
    ("about point two five percent", "about 0.25%"),
    ("it is point oh five", "it is .05"),
    ("Point 5", "point five"),
    ("less than point five", "less than point 5"),
    ("at this point, five people left", "at this point five people left"),
    ("at this point five people left", "at this point 5 people left"),
    # days
    ("the second of May", "the 2nd of May"),
    ("on Monday, second of march", "on Monday, 2nd of march"),
    ("the first and second of June", "the 1st and 2nd of June"),
    # digits with oh
    ("room one oh one", "room 101"),
    ("nineteen oh five", "1905"),
    ("one oh oh seven", "1007"),
    ("one oh one point five", "101.5"),
    ("five five five one oh one two", "5551012"),
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
    ("thirteen, fifteen", "1315"),
    ("nineteen, twenties", "1920s"),
    ("nineteen twenties", "1920"),
    ("the twenties", "the 20"),
    ("twenties", "20ths"),
    ("tens of people", "10s of people"),
    ("twenty tens", "2010s"),
    ("hundreds of people", "100s of people"),
    ("two thousands", "2000s"),
    ("in two thousand, five left", "in 2005 left"),
    ("one thousand, two thousand", "3000"),
    ("one hundred, five", "105"),
    ("a dog", "1 dog"),
    ("a few hundred", "a few 100"),
    ("hundred dogs", "a hundred dogs"),
    ("a hundredth", "100th"),
    ("half a million", "half 1000000"),
    ("a point", "a 0"),
    ("a point five", "a 0.5"),
    ("at this point five left", "at this 0.5 left"),
    ("point", "0."),
    ("point ten", "0.10"),
    ("point ten", "0.1"),
    ("you point one finger", "you 0.1 finger"),
    ("it is point five", "it is five"),
    (".5", "5"),
    ("a second of May sun", "a 2nd of May sun"),
    ("the last second of May", "the last 2nd of May"),
    ("the second of them", "the 2nd of them"),
    ("I may second it", "I may 2nd it"),
    ("in June second thoughts", "in June 2nd thoughts"),
    ("seconds", "2nds"),
    ("oh one more", "01 more"),
    ("one oh dear", "10 dear"),
    ("one, oh, one", "101"),
    ("one two three", "123"),
    ("ten oh one", "1001"),
    ("twenty one oh one", "2101"),
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


@pytest.mark.parametrize(
    "text", ["one thousand, " * 2000, "a " * 2000, "one oh " * 2000, ", " * 2000, "point " * 2000]
)
def test_long_texts_have_numbers_too(text):
    assert in_digits(in_digits(text)) == in_digits(text)


def test_other_scripts_keep_their_vowels():
    assert english("हिन्दी, किताब!") == "हिन्दी किताब"
