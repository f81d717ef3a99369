"""Dates in transcripts: as written, and in English words as they are spoken."""

from __future__ import annotations

import re
from collections.abc import Iterator

from voicenym.metrics.words.number_words import ORDINALS, TENS, UNITS
from voicenym.redaction.finding.spoken_numbers import Span

_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_TEENS = "|".join(word for word, n in UNITS.items() if n >= 10)
_SMALL = "|".join(word for word, n in UNITS.items() if 0 < n < 10)
_TENS = "|".join(TENS)
_TWO = rf"(?:(?:{_TENS})(?:[-\s](?:{_SMALL}))?|{_TEENS})"
_ORDINAL = "|".join(word for word, n in ORDINALS.items() if n <= 30 and n not in (0,))
_DAY = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|(?:(?:twenty|thirty)[-\s])?(?:{_ORDINAL})"
    rf"|(?:twenty|thirty)[-\s](?:{_SMALL})|{_TEENS}|{_SMALL}|twenty|thirty)"
)
_YEAR = (
    rf"(?:(?:1[5-9]|20)\d\d|['’]\d\d|(?:(?:thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    rf"|nineteen|twenty)[-\s](?:(?:oh|o)[-\s](?:{_SMALL})|hundred(?:\s(?:and\s)?{_TWO})?|{_TWO}))"
    rf"|two\sthousand(?:\s(?:and\s)?(?:{_TWO}|{_SMALL}))?)"
)
_GAP = r"[\s,]+(?:of\s+|the\s+|in\s+)?"
_WEEKDAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_PATTERNS = tuple(
    (re.compile(pattern, re.IGNORECASE), score)
    for pattern, score in (
        (rf"\b(?:the\s+)?{_DAY}\s+(?:of\s+)?(?:{_MONTHS})\b(?:{_GAP}{_YEAR}\b)?", 0.9),
        (rf"\b(?:{_MONTHS})\b\.?\s+(?:the\s+)?{_DAY}\b(?:{_GAP}{_YEAR}\b)?", 0.9),
        (rf"\b(?:{_MONTHS})\b\.?{_GAP}{_YEAR}\b", 0.9),
        (r"\b\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}\b", 0.85),
        (rf"\b{_YEAR}\b", 0.6),
        (rf"\b(?:{_WEEKDAYS})s?\b", 0.6),
        (r"\b(?:the\s+)?(?:nineteen\s+|twenty\s+)?(?:twenties|thirties|forties|fifties|sixties"
         r"|seventies|eighties|nineties)\b", 0.5),
    )
)  # fmt: skip
_NAMED = re.compile(r"\b(?:January|February|April|June|July|August|September|October|November"
                    r"|December)\b")  # fmt: skip


def dates(text: str) -> Iterator[Span]:
    """Dates of a text: days, months and years, weekdays, decades.

    Example:
        >>> text = "Born on the twenty third of March, nineteen eighty seven; gone since May 5th."
        >>> [text[a:b] for a, b, score in dates(text) if score > 0.8]
        ['the twenty third of March, nineteen eighty seven', 'May 5th']
    """
    taken: list[tuple[int, int]] = []
    for pattern, score in (*_PATTERNS, (_NAMED, 0.6)):
        for found in pattern.finditer(text):
            start, end = found.span()
            if not any(a < end and start < b for a, b in taken):
                taken.append((start, end))
                yield start, end, score
