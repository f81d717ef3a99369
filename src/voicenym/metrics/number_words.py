"""English numbers, in words or digits, to one written form: digits.

Cardinals, ordinals, decades, decimals, and sums of money and shares get one form, whether a text
spells them out or writes figures (Radford et al. 2023, appendix C).
"""

from __future__ import annotations

import re

UNITS = {
    word: number
    for number, word in enumerate(
        [
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
    )
}
TENS = {
    word: 10 * number
    for number, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13,
    "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18,
    "nineteenth": 19, "twentieth": 20, "thirtieth": 30, "fortieth": 40, "fiftieth": 50,
    "sixtieth": 60, "seventieth": 70, "eightieth": 80, "ninetieth": 90, "hundredth": 100,
    "thousandth": 1000, "millionth": 10**6,
}  # fmt: skip
SIGNS = {"$": "dollars", "£": "pounds", "€": "euros", "¢": "cents", "%": "percent"}
FIGURE = re.compile(r"[$£€¢]?\d[\d.,]*(?:st|nd|rd|th|s)?[%¢$£€]?")
GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def in_digits(text: str) -> str:
    """Text with its numbers in digits; points and commas that belong to none become blanks.

    Args:
        text: in lower case; hyphens are blanks.

    Example:
        >>> in_digits("twenty one, three hundred and five; $1,000,000, 5%, the twenty first")
        '21 305 1000000 dollars 5 percent the 21st'
        >>> in_digits("nineteen eighty four, one two three, three point one four")
        '1984 1 2 3 3.14'
        >>> in_digits("one million dollars")
        '1000000 dollars'
    """
    words: list[str] = []
    for word in re.sub(r"(?<!\d)[.,;]|[.,;](?!\d)", " ", GROUPED.sub("", text)).split():
        words += _figure(word)
    found: list[str] = []
    place = 0
    while place < len(words):
        written, used = _number(words, place)
        found.append(written)
        place += used
    return " ".join(found)


def _figure(word: str) -> list[str]:
    """A number in digits with its sign as a word behind it; other words as they are."""
    if not FIGURE.fullmatch(word):
        return [part for part in re.split(r"[.,$£€¢%]+", word) if part] or (
            [SIGNS[word]] if word in SIGNS else []
        )
    bare = word.strip("$£€¢%")
    signs = [SIGNS[c] for c in (word[0], word[-1]) if c in SIGNS]
    return [bare.rstrip(".,"), *signs]


def _number(words: list[str], place: int) -> tuple[str, int]:
    """The number that begins at a word, and how many words it takes; or the word itself."""
    value, used, ordinal = _cardinal(words, place)
    if not used:
        return words[place], 1
    if ordinal:
        return f"{value}{_ending(value)}", used
    after = place + used
    if used == 1 and 13 <= value <= 20 and after < len(words):  # nineteen eighty four
        year, more, ends = _cardinal(words, after)
        if more and not ends and 10 <= year < 100 and words[after] in {*UNITS, *TENS}:
            return f"{value}{year}", used + more
    if after + 1 < len(words) and words[after] == "point":
        digits = []
        for word in words[after + 1 :]:
            if UNITS.get(word, 10) > 9 and word != "oh":
                break
            digits.append(str(UNITS.get(word, 0)))
        if digits:
            return f"{value}.{''.join(digits)}", used + 1 + len(digits)
    return str(value), used


def _cardinal(words: list[str], place: int) -> tuple[int, int, bool]:
    """Value, number of words and whether it ends as an ordinal; 0 words where there is none."""
    total = part = used = 0
    last = 0  # size of the latest addend; the next one must be smaller
    for i in range(place, len(words)):
        word = words[i]
        if word in UNITS:
            size, worth = (1 if UNITS[word] < 10 else 10), UNITS[word]
            if (used and not (last > size or last in (100, 1000))) or (used and worth == 0):
                break
            part, last = part + worth, 1
        elif word in TENS:
            if used and last not in (100, 1000):
                break
            part, last = part + TENS[word], 10
        elif word == "hundred" and 0 < part < 100 and last in (1, 10):
            part, last = part * 100, 100
        elif word in SCALES and used and part:
            total, part, last = total + part * SCALES[word], 0, 1000
        elif word == "and" and used and last in (100, 1000):
            follows = words[i + 1] if i + 1 < len(words) else ""
            if follows not in UNITS and follows not in TENS and follows not in ORDINALS:
                break
            continue
        elif word in ORDINALS and (used or word != "second"):
            worth = ORDINALS[word]
            if worth >= 100:
                if not part:
                    break
                return total + part * worth, i + 1 - place, True
            if used and not (last in (100, 1000) or (last == 10 and worth < 10)):
                break
            return total + part + worth, i + 1 - place, True
        else:
            break
        used = i + 1 - place
    return total + part, used, False


def _ending(value: int) -> str:
    if value % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
