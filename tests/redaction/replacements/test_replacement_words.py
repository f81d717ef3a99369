"""Words that stand for removed ones: of the class, never a removed one, the same under a key."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicenym.pseudonym import Key
from voicenym.redaction.finding.categories import ADDRESSES, DATES, LISTED, NAMES, NUMBERS, PLACES
from voicenym.redaction.finding.own_list import OwnList
from voicenym.redaction.finding.spoken_dates import dates
from voicenym.redaction.finding.spoken_numbers import numbers
from voicenym.redaction.replacements.replacement_lists import lists
from voicenym.redaction.replacements.replacement_words import ReplacementWords

EXAMPLES = [
    (NAMES, "Anna Miller"),
    (NAMES, "Katherine's"),
    (NAMES, "Doctor Okonkwo"),
    (PLACES, "New York"),
    (NUMBERS, "twenty three"),
    (NUMBERS, "5551234"),
    (NUMBERS, "$45"),
    (NUMBERS, "oh four one double two"),
    (DATES, "the twenty third of March, nineteen eighty seven"),
    (DATES, "May 5th"),
    (DATES, "12/03/1987"),
    (DATES, "Monday"),
    (DATES, "the eighties"),
    (ADDRESSES, "12 Baker Street"),
    (ADDRESSES, "anna dot k at mail dot com"),
    (ADDRESSES, "SW1A 1AA"),
    (LISTED, "Okonkwo"),
    (LISTED, "four five six"),
]
SECRETS = [words for _, words in EXAMPLES]


def words_of(seed: int, secrets=SECRETS) -> ReplacementWords:
    return ReplacementWords(Key(bytes([seed] * 32)).pseudonym("", "x"), secrets)


@pytest.mark.parametrize(("category", "words"), EXAMPLES)
def test_never_a_removed_word_under_any_key(category, words):
    removed = OwnList(SECRETS)
    found = [words_of(seed).instead(category, words) for seed in range(12)]
    assert all(found), (words, found)
    assert not [one for one in found if removed.matches(one.split())]
    assert len(set(found)) > 3  # another key, other words


@pytest.mark.parametrize(
    ("category", "words", "form"),
    [
        (NAMES, "Anna Miller", r"[A-Z]\w+ [A-Z]\w+"),
        (NAMES, "Anna's", r"[A-Z]\w+'s"),
        (PLACES, "Springfield", r"[A-Z]\w+"),
        (NUMBERS, "twenty three", r"\w+ty \w+"),
        (NUMBERS, "78", r"[1-9][1-9]"),
        (NUMBERS, "5551234", r"\d( \d){6}"),
        (NUMBERS, "3rd", r"\dth"),
        (DATES, "March 5th", r"[A-Z]\w+ \w+"),
        (DATES, "March the fifth, 1987", r"[A-Z]\w+ the \w+ nineteen \w+ \w+"),
        (DATES, "nineteen eighty seven", r"nineteen \w+ \w+"),
        (DATES, "Mondays", r"\w+days"),
        (ADDRESSES, "12 Baker Street", r"\d\d [A-Z]\w+ [A-Z]\w+"),
    ],
)
def test_of_the_class_and_like_length(category, words, form):
    for seed in range(8):
        found = words_of(seed, [words]).instead(category, words)
        assert re.fullmatch(form, found), found
        if category == NUMBERS:
            assert list(numbers(found))
        if category == DATES:
            assert list(dates(found))


def test_a_name_has_one_replacement_under_a_key_in_every_recording():
    one = words_of(1, ["Anna Miller", "Boston"])
    other = words_of(1, ["Anna", "Robert Miller's", "seventy"])
    given_, family = one.instead(NAMES, "Anna Miller").split()
    assert other.instead(NAMES, "Anna") == given_
    assert other.instead(NAMES, "Miller") == family
    assert other.instead(NAMES, "Miller's") == f"{family}'s"
    assert words_of(1, ["Catherine"]).instead(NAMES, "Catherine") == (
        words_of(1, ["Katherine"]).instead(NAMES, "Katherine")
    )


def test_digits_are_no_cipher():
    """Equal digits at different places and in different numbers get different ones."""
    found = "".join(words_of(2, ["x"]).instead(NUMBERS, f"7777{n}") for n in range(10, 20))
    assert len(set(found) & set("0123456789")) > 4


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([NAMES, PLACES, NUMBERS, DATES, ADDRESSES, LISTED]),
    st.text(min_size=1, max_size=30),
)
def test_any_text_gives_words_or_nothing(category, words):
    found = words_of(3, [words]).instead(category, words)
    assert found is None or (found.strip() and any(c.isalnum() for c in found))


def test_a_list_that_holds_every_word_of_the_class_leaves_none():
    assert words_of(4, ["Springfield", *lists()["place"]]).instead(PLACES, "Springfield") is None
