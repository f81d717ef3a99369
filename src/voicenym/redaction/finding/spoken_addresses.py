"""Addresses in transcripts: streets with numbers, flats, postcodes, and mail as it is spoken."""

from __future__ import annotations

import re
from collections.abc import Iterator

from voicenym.redaction.finding.spoken_numbers import NUMBERS, Span

_WORD = rf"(?:{'|'.join(sorted(NUMBERS, key=len, reverse=True))}|oh|and)"
# at most so many words, so that a text of numbers alone takes no time that grows with its square
_NUMBER = rf"(?:\d+[a-z]?|(?:{_WORD}[-\s]+){{1,12}})"
_STREET = (
    r"(?:street|st\.?|road|rd\.?|avenue|ave\.?|lane|drive|court|square|boulevard|terrace"
    r"|crescent|close|highway|parkway|alley|gardens|mews|row|way|place|hill)"
)
_CAPITAL = r"[A-Z][\w'’]+"
_PATTERNS = (
    (re.compile(rf"\b{_NUMBER}\s*(?:[^\W\d][\w'’]+\s+){{1,3}}?{_STREET}\b", re.IGNORECASE), 0.85),
    (re.compile(rf"\b(?:{_CAPITAL}\s+){{1,3}}(?i:{_STREET})\b"), 0.6),
    (re.compile(rf"\b(?:flat|apartment|apt\.?|suite|unit|room|house)\s+(?:number\s+)?{_NUMBER}",
                re.IGNORECASE), 0.6),
    (re.compile(r"\bp\.?\s?o\.?\s+box\s+[\w\s]{1,20}?\b", re.IGNORECASE), 0.7),
    (re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}\b"), 0.8),
    (re.compile(r"\b\d{5}(?:-\d{4})?\b"), 0.5),
    (re.compile(r"\b[\w.-]+(?:\s+dot\s+[\w-]+)*\s+at\s+[\w-]+(?:\s+[\w-]+)?\s+dot\s+"
                r"(?:com|org|net|edu|gov|io|[a-z]{2})\b", re.IGNORECASE), 0.8),
)  # fmt: skip


def addresses(text: str) -> Iterator[Span]:
    """Addresses of a text.

    Example:
        >>> text = "I live at twenty three Baker Street, write to anna dot k at mail dot com."
        >>> [text[a:b] for a, b, score in addresses(text)]
        ['twenty three Baker Street', 'Baker Street', 'anna dot k at mail dot com']
    """
    for pattern, score in _PATTERNS:
        for found in pattern.finditer(text):
            start, end = found.span()
            yield start, start + len(text[start:end].rstrip()), score
