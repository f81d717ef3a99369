"""Words of the same class that stand for removed ones, drawn by a pseudonym.

Names and places are drawn by their sound, so that under one key a name gets one replacement in all
recordings, however the recogniser spells it. Numbers and dates are drawn anew for each text
(:mod:`voicenym.redaction.replacements.replacement_numbers`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from voicenym.pseudonym import Pseudonym
from voicenym.redaction.finding.categories import ADDRESSES, DATES, LISTED, NAMES, NUMBERS, PLACES
from voicenym.redaction.finding.own_list import OwnList
from voicenym.redaction.finding.proper_names import TITLES, is_given, is_place
from voicenym.redaction.finding.sound_keys import LEAST, plain, sound_key
from voicenym.redaction.finding.spoken_dates import dates
from voicenym.redaction.replacements.replacement_lists import (
    JOINING,
    WORD,
    drawn_from,
    is_number,
    lists,
    lower,
)
from voicenym.redaction.replacements.replacement_numbers import Dates, Numbers

LANGUAGE = "en"
"""Of the lists."""
TRIES = 60
"""Draws after which no word is found."""
START = 3
"""Letters that no drawn name shares with a removed one: short forms begin as their names do."""
_GENITIVE = re.compile(r"['’]s?$")
_STREETS = (
    "st", "rd", "ave", "boulevard", "highway", "parkway", "alley", "mews", "way", "place",
)  # fmt: skip
_UNITS = ("apt", "number", "box", "p.o", "po")
_NO_NAMES = frozenset({*JOINING, "dot", "com", "org", "net", "double", "triple", "point", "dash"})


class ReplacementWords:
    """Draws words of the same class.

    Args:
        pseudonym: draws them.
        secrets: words that are removed; none of them, and nothing that sounds like one, is drawn.

    Example:
        >>> from voicenym import Key
        >>> words = ReplacementWords(Key(bytes(32)).pseudonym("x"), ["Anna", "May 5th"])
        >>> words.instead("names", "Anna") == words.instead("names", "Anna")
        True
        >>> words.instead("names", "Anna") == "Anna"
        False
    """

    def __init__(self, pseudonym: Pseudonym, secrets: Sequence[str]) -> None:
        self._pseudonym = pseudonym
        parts = {word for text in secrets for word in WORD.findall(text)}
        names = [word for word in parts if len(plain(word)) >= 3 and not is_number(word)]
        names = [word for word in names if word.casefold() not in _NO_NAMES]
        self._alike = OwnList([*secrets, *names])
        self._starts = {plain(word)[:START] for word in names}

    def instead(self, category: str, words: str) -> str | None:
        """Words that stand for others; None where none could be drawn.

        Args:
            category: of :data:`voicenym.redaction.finding.categories.CATEGORIES`, or ``list``,
                whose words are taken for numbers, dates, places or names by their look.
            words: what is removed.
        """
        kind = _class_of(words) if category == LISTED else category
        for attempt in range(TRIES):
            found = " ".join(" ".join(self._drawn(kind, words, attempt)).split())
            if found and not self._alike.matches(found.split()):
                return found
        return None

    def _drawn(self, kind: str, words: str, attempt: int) -> Iterator[str]:
        if kind == PLACES:
            yield self._listed("place", words, attempt) + _ending(words)
        elif kind == NUMBERS:
            yield from Numbers(self._pseudonym, words, attempt).drawn()
        elif kind == DATES:
            yield from Dates(self._pseudonym, words, attempt).drawn()
        elif kind == ADDRESSES:
            yield from self._address(words, attempt)
        else:
            yield from self._names(words, attempt)

    def _names(self, words: str, attempt: int) -> Iterator[str]:
        tokens = [token for token in WORD.findall(words) if token.casefold() not in TITLES]
        for token in tokens or ["name"]:
            if is_number(token):
                yield from Numbers(self._pseudonym, token, attempt).drawn()
            else:
                given = is_given(token)
                yield self._listed("given" if given else "family", token, attempt) + _ending(token)

    def _address(self, words: str, attempt: int) -> Iterator[str]:
        tokens = WORD.findall(words)
        spelt = [token.casefold() for token in tokens]
        if "@" in words or ("dot" in spelt and "at" in spelt):
            yield from (self._listed("given", words, attempt), "at example dot com")
            return
        if "dot" in spelt or re.search(r"\w\.\w{2,}", words):
            yield from (self._listed("family", words, attempt), "dot example dot com")
            return
        for place, (token, low) in enumerate(zip(tokens, spelt, strict=True)):
            purpose = f"{words}.{place}"
            if any(c.isdigit() for c in token) or is_number(token):
                yield from Numbers(self._pseudonym, token, attempt, purpose).drawn()
            elif low in _STREETS or low in lower("street"):
                yield self._listed("street", purpose, attempt)
            elif low in _UNITS or low in lower("unit"):
                yield self._listed("unit", purpose, attempt)
            elif low not in JOINING:
                yield self._listed("family", token, attempt)

    def _listed(self, name: str, words: str, attempt: int) -> str:
        """A word of a list, by the sound of the words that it stands for."""
        for more in range(TRIES):
            purpose = f"redaction.{name}.{_sound(words)}.{attempt}.{more}"
            found = drawn_from(self._pseudonym, purpose, lists()[name])
            if plain(found)[:START] not in self._starts and not self._alike.matches([found]):
                return found
        return found


def _sound(words: str) -> str:
    """What the draw of a name depends on: its sound, or its letters if it is short."""
    bare = " ".join(_GENITIVE.sub("", word) for word in words.split())
    key = sound_key(bare)
    return key if len(key) >= LEAST else plain(bare)


def _ending(words: str) -> str:
    """The genitive of a name, which its replacement gets, too."""
    return "'s" if _GENITIVE.search(words.strip(" .,;:!?")) else ""


def _class_of(words: str) -> str:
    """Category of words of one's own list."""
    tokens = WORD.findall(words)
    if tokens and all(is_number(token) for token in tokens):
        return NUMBERS
    if any(end - start >= len(words.strip()) for start, end, _ in dates(words)):
        return DATES
    return PLACES if is_place(words) else NAMES
