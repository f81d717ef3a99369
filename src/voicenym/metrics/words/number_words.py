"""English numbers, in words or digits, to one written form: digits.

Cardinals, ordinals, decades, decimals, and sums of money and shares get one form, whether a text
spells them out or writes figures (Radford et al. 2023, appendix C). A word that is a number in some
texts only is read as one where its neighbours leave no doubt: ``a`` before ``hundred``, ``second``
before ``of May``, ``oh`` between digits, ``point`` before a digit and behind a word such as ``is``.
These neighbours are words: a comma, which recognisers set as they like, decides nothing here. It
does end a number: ``thirteen, fifteen`` is no year.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

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
DECADES = {word[:-1] + "ies": number for word, number in TENS.items()}
MONTHS = frozenset({
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
})  # fmt: skip
ARTICLES = frozenset({"a", "an"})
OH = frozenset({"oh", "o"})
MOST_DIGITS = 12
"""Of a number that is read digit by digit, such as one of a telephone."""
HALVES = frozenset({"half", "quarter"})
"""Before ``a million``, which then is no number of its own."""
DURATIONS = frozenset({
    "a", "an", "one", "per", "every", "each", "last", "final", "single", "split", "this", "that",
    "any", "half", "quarter",
})  # fmt: skip
"""Before ``second of May``, which then may be a time of 1 s."""
BEFORE_DECIMALS = frozenset({
    "about", "above", "and", "approximately", "are", "around", "below", "between", "by", "equals",
    "is", "just", "minus", "nearly", "of", "only", "or", "over", "plus", "roughly", "than",
    "times", "under", "was", "were",
})  # fmt: skip
"""Before ``point five``, which then is 0.5; behind others, ``point`` may be a noun or a verb."""
BEFORE_DECADES = frozenset({"the", "early", "mid", "late"})
"""Before ``twenty tens`` and ``two thousands``, which then are decades."""
SIGNS = {"$": "dollars", "£": "pounds", "€": "euros", "¢": "cents", "%": "percent"}
FIGURE = re.compile(r"[$£€¢]?\d[\d.,]*(?:st|nd|rd|th|s)?[%¢$£€]?")
GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
DECIMALS_ALONE = re.compile(r"(?<![\w.])\.(?=\d)")
PAUSE = ","
"""The token of a point, comma or semicolon that belongs to no number: a number ends there."""


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
        >>> in_digits("a hundred in the nineteen twenties, the second of may, room one oh one")
        '100 in the 1920s the 2nd of may room 101'
    """
    text = DECIMALS_ALONE.sub("0.", GROUPED.sub("", text))
    words: list[str] = []
    for word in re.sub(r"(?<!\d)[.,;]|[.,;](?!\d)", f" {PAUSE} ", text).split():
        words += [word] if word == PAUSE else _figure(word)
    found: list[str] = []
    place = 0
    while place < len(words):
        written, used = _number(words, place)
        found.append(written)
        place += used
    return " ".join(word for word in found if word != PAUSE)


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
    word = words[place]
    if word in DECADES:
        return f"{DECADES[word]}s", 1
    if word == "second" and _is_day(words, place):
        return "2nd", 1
    if word == "point" and _before(words, place) in {"", *BEFORE_DECIMALS}:
        digits, used = _decimals(words, place)
        if not used and re.fullmatch("[0-9]", _at(words, place + 1)):  # point 5, as point five
            digits, used = words[place + 1], 2
        return (f"0.{digits}", used) if used else (word, 1)
    written, used = _with_oh(words, place)
    if not used:
        value, used, ordinal = _cardinal(words, place)
        if not used:
            return word, 1
        if ordinal:
            return f"{value}{_ending(value)}", used
        written = str(value)
        if used == 1:
            joined, more = _year(words, place, value)
            if more:
                return joined, 1 + more
    digits, more = _decimals(words, place + used)
    return (f"{written}.{digits}", used + more) if more else (written, used)


def _at(words: list[str], place: int) -> str:
    """The word at a place; empty beyond the last one."""
    return words[place] if place < len(words) else ""


def _before(words: list[str], place: int) -> str:
    """The word before a place, whatever pause lies between; empty before the first one."""
    while place and words[place - 1] == PAUSE:
        place -= 1
    return words[place - 1] if place else ""


def _is_day(words: list[str], place: int) -> bool:
    """Whether ``second`` is a day, as in ``the second of May``."""
    dated = _at(words, place + 1) == "of" and _at(words, place + 2) in MONTHS
    return dated and _before(words, place) not in DURATIONS


def _decimals(words: list[str], place: int) -> tuple[str, int]:
    """Digits behind ``point`` at a place, and the number of words; 0 words where there are none."""
    digits = ""
    if _at(words, place) == "point":
        for word in words[place + 1 :]:
            if UNITS.get(word, 10) > 9 and word not in OH:
                break
            digits += str(UNITS.get(word, 0))
    return digits, 1 + len(digits) if digits else 0


def _with_oh(words: list[str], place: int) -> tuple[str, int]:
    """Digits that are read one by one with ``oh`` between them, as in ``room one oh one``.

    The first may be a number from 13 to 20, as in ``nineteen oh five``.
    """
    first, digits = UNITS.get(words[place], TENS.get(words[place], 0)), []
    if not (1 <= first <= 9 or 13 <= first <= 20):
        return "", 0
    for word in words[place + 1 : place + MOST_DIGITS + 1]:
        if UNITS.get(word, 10) > 9 and word not in OH:
            break
        digits.append(word)
    if len(digits) == MOST_DIGITS:
        return "", 0
    if first > 9:
        if len(digits) != 2 or digits[0] not in OH or digits[1] in OH:
            return "", 0
    elif not digits or digits[-1] in OH or OH.isdisjoint(digits):
        return "", 0
    return str(first) + "".join(str(UNITS.get(word, 0)) for word in digits), 1 + len(digits)


def _year(words: list[str], place: int, value: int) -> tuple[str, int]:
    """A year or decade in two parts, and the number of words of its second part; or 0 words."""
    follows = _at(words, place + 1)
    the = _before(words, place) in BEFORE_DECADES
    if the and value == 2 and follows == "thousands":
        return "2000s", 1
    if not 13 <= value <= 20:
        return "", 0
    if follows in DECADES:  # nineteen twenties
        return f"{value}{DECADES[follows]}s", 1
    if follows == "hundreds":
        return f"{value}00s", 1
    if the and follows == "tens":
        return f"{value}10s", 1
    year, more, ends = _cardinal(words, place + 1)
    if more and not ends and 10 <= year < 100 and follows in {*UNITS, *TENS}:
        return f"{value}{year}", more  # nineteen eighty four
    return "", 0


def _cardinal(words: list[str], place: int, pauses: bool = True) -> tuple[int, int, bool]:
    """Value, number of words and whether it ends as an ordinal; 0 words where there is none.

    With ``pauses``, there may be one behind a scale and before hundreds or a smaller scale.
    """
    found = _Cardinal()
    used = whole = 0  # words of the number, and of its scales alone
    for i in range(place, len(words)):
        word = words[i]
        if _goes_on(words, i, found, pauses):
            continue
        if word in SCALES and found.part and SCALES[word] >= found.scale:
            return found.total, whole, False  # one thousand two thousand
        if found.end(word):
            return found.value, i + 1 - place, True
        if not (found.begin() if _is_one(words, i) else found.add(word)):
            break
        used = i + 1 - place
        if word in SCALES:
            whole = used
    return found.value, used, False


@dataclass
class _Cardinal:
    """A cardinal while its words are added up.

    Args:
        total: of the scales so far, such as thousands.
        part: what belongs to no scale yet.
        last: size of the latest addend (1, 10, 100, or 1000 for each of the scales), 0 before the
            first; the next one must be smaller.
        scale: the latest of the scales; the next one must be smaller.
    """

    total: int = 0
    part: int = 0
    last: int = 0
    scale: float = math.inf

    @property
    def value(self) -> int:
        return self.total + self.part

    def begin(self) -> bool:
        """Adds an article, which means one and only begins a number: ``a hundred``."""
        return not self.last and self.add("one")

    def add(self, word: str) -> bool:
        """Adds a word and says so, if it is one of a cardinal that may come next."""
        if word in UNITS and self._takes(UNITS[word]):
            self.part, self.last = self.part + UNITS[word], 1
        elif word in TENS and self._takes(TENS[word]):
            self.part, self.last = self.part + TENS[word], 10
        elif word == "hundred" and 0 < self.part < 100 and self.last in (1, 10):
            self.part, self.last = 100 * self.part, 100
        elif word in SCALES and self.part:
            self.scale = SCALES[word]
            self.total, self.part, self.last = self.total + self.part * SCALES[word], 0, 1000
        else:
            return False
        return True

    def end(self, word: str) -> bool:
        """Adds an ordinal and says so, if it is one that may end this number."""
        worth = ORDINALS.get(word, 0)
        if not worth or (word == "second" and not self.last):
            return False
        if worth >= 100:
            self.part *= worth
            return self.part > 0
        if not self._takes(worth):
            return False
        self.part += worth
        return True

    def _takes(self, number: int) -> bool:
        """Whether a number below 100 may come next: as the first, or behind a larger one."""
        size = 1 if number < 10 else 10
        return not self.last or (number > 0 and size < self.last)


def _goes_on(words: list[str], place: int, found: _Cardinal, pauses: bool) -> bool:
    """Whether ``and`` or a pause is at a place, and a number goes on behind it."""
    follows = _at(words, place + 1)
    if words[place] == "and":  # one hundred and five
        return found.last in (100, 1000) and (
            follows in UNITS or follows in TENS or follows in ORDINALS
        )
    if words[place] != PAUSE or found.last != 1000 or not pauses:
        return False
    more, length, _ = _cardinal(words, place + 1, pauses=False)  # one thousand, two hundred
    return length > 0 and follows not in ARTICLES and 100 <= more < found.scale


def _is_one(words: list[str], place: int) -> bool:
    """Whether a word is an article that stands for one, as in ``a hundred``."""
    if words[place] not in ARTICLES or _before(words, place) in HALVES:
        return False
    return _scale(_at(words, place + 1))


def _scale(word: str) -> bool:
    return word == "hundred" or word in SCALES


def _ending(value: int) -> str:
    if value % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
