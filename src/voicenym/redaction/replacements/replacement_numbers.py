"""Numbers and dates that stand for removed ones: of like length and parts.

Each is drawn anew for its text: digits that were replaced one for one would be a cipher that many
examples break.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from voicenym.metrics.words.number_words import ORDINALS, SCALES, TENS, UNITS
from voicenym.pseudonym import Pseudonym
from voicenym.redaction.finding.spoken_numbers import NUMBERS as NUMBER_WORDS
from voicenym.redaction.finding.spoken_numbers import PLURALS
from voicenym.redaction.replacements.replacement_lists import (
    JOINING,
    WORD,
    drawn_from,
    is_number,
    lists,
    lower,
)

SPELT = 5
"""Digits from which a number is spoken digit by digit."""
_NUMERIC_DATE = re.compile(r"\d{1,4}[/.\-]\d{1,2}[/.\-]\d{1,4}")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)?")
_SHORT_MONTHS = (
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
)  # fmt: skip
_TEENS = [word for word, number in UNITS.items() if number >= 10]
_DIGITS = [word for word, number in UNITS.items() if number < 10]


class Numbers:
    """A number of like length, each digit or word drawn anew.

    Args:
        pseudonym: draws them.
        words: the number.
        attempt: number of the draw.
        whole: what else the draw depends on.
    """

    def __init__(self, pseudonym: Pseudonym, words: str, attempt: int, whole: str = "") -> None:
        self._pseudonym, self._words = pseudonym, words
        self._purpose = f"redaction.number.{whole or words.casefold()}.{attempt}"
        self._count = 0

    def drawn(self) -> Iterator[str]:
        tokens = WORD.findall(self._words.replace(",", ""))
        spelt = sum(c.isdigit() for token in tokens for c in token) >= SPELT
        money = self._words.strip()[:1]
        for place, token in enumerate(tokens):
            if any(c.isdigit() for c in token):
                sign = money if money in "$£€" and not place else ""
                yield sign + self._figures(token, spelt)
            else:
                yield "-".join(self._word(part) for part in token.casefold().split("-"))

    def _figures(self, token: str, spelt: bool) -> str:
        ordinal = _ORDINAL.fullmatch(token)
        if ordinal:
            return "".join(map(self._sign, ordinal[1][:-1])) + self._of("456789") + "th"
        text = "".join(map(self._sign, token))
        apart = spelt or text[0] == "0" or any(c.isalpha() for c in text)
        return " ".join(c for c in text if c.isalnum()) if apart else text

    def _sign(self, sign: str) -> str:
        if sign.isdigit():
            return self._of("0123456789" if sign == "0" else "123456789")
        return self._of("ABCDEFGHKLMNPRSTW") if sign.isalpha() else sign

    def _word(self, word: str) -> str:
        if word in _DIGITS[1:]:
            return self._of(_DIGITS[1:])
        for group in (_DIGITS, _TEENS, list(TENS), lists()["decade"]):
            if word in group:
                return self._of(group)
        if word in ORDINALS:
            small = ORDINALS[word] < 20
            return self._of([o for o, n in ORDINALS.items() if n < 100 and (n < 20) == small])
        if word.endswith("s") and word[:-1] in NUMBER_WORDS and word[:-1] not in SCALES:
            return f"{self._word(word[:-1])}s"
        return self._of(_DIGITS) if word in ("oh", "o") else word

    def _of(self, choices: Sequence[str]) -> str:
        self._count += 1
        return drawn_from(self._pseudonym, f"{self._purpose}.{self._count}", choices)


class Dates:
    """A date with the same parts: weekday, day, month, year or decade.

    Args:
        pseudonym, attempt: as of the numbers.
        words: the date.
    """

    def __init__(self, pseudonym: Pseudonym, words: str, attempt: int) -> None:
        self._pseudonym, self._words = pseudonym, words
        self._purpose = f"redaction.date.{words.casefold()}.{attempt}"

    def drawn(self) -> Iterator[str]:
        if _NUMERIC_DATE.fullmatch(self._words.strip(" ,.")):
            yield from (self._of("month"), "the", self._day(), self._year())
            return
        run: list[str] = []
        for token in [*WORD.findall(self._words), ""]:
            low = token.casefold()
            if any(c.isdigit() for c in token) or (is_number(low) and low not in PLURALS):
                run.append(low)
                continue
            if run:
                yield from self._numbers(run)
                run = []
            if low.rstrip("s") in lower("weekday"):
                yield self._of("weekday") + low[len(low.rstrip("s")) :]
            elif low in lower("month") or low in _SHORT_MONTHS:
                yield self._of("month")
            elif low in PLURALS:
                yield self._of("decade")
            elif low in JOINING and low:
                yield low

    def _numbers(self, run: list[str]) -> Iterator[str]:
        """A day, a year, or both."""
        if len(run) > 1 and run[0] in TENS and (run[1] in ORDINALS or len(run) == 2):
            run = [f"{run[0]}-{run[1]}", *run[2:]]
        figures = any(c.isdigit() for c in run[0])
        if _DAY.fullmatch(run[0]) if figures else run[0] in ORDINALS or len(run) == 1:
            yield self._day()
            run = run[1:]
        if run:
            yield self._year()

    def _day(self) -> str:
        days = [word for word, number in ORDINALS.items() if number <= 20]
        return drawn_from(self._pseudonym, f"{self._purpose}.day", days)

    def _year(self) -> str:
        ten = drawn_from(self._pseudonym, f"{self._purpose}.ten", list(TENS))
        one = drawn_from(self._pseudonym, f"{self._purpose}.one", _DIGITS[1:])
        return f"nineteen {ten} {one}"

    def _of(self, name: str) -> str:
        return drawn_from(self._pseudonym, f"{self._purpose}.{name}", lists()[name])
