"""Numbers in transcripts: in digits, and in English words as they are spoken."""

from __future__ import annotations

import re
from collections.abc import Iterator

from voicenym.metrics.words.number_words import ORDINALS, SCALES, TENS, UNITS

Span = tuple[int, int, float]
"""Start and end in characters, and confidence."""

TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\S*\d\S*", re.UNICODE)
NUMBERS = frozenset({*UNITS, *TENS, *SCALES, "hundred", *ORDINALS})
ODDS = frozenset({"oh", "o", "nought", "naught", "nil", "double", "triple", "dozen"})
"""Numbers beside other numbers alone."""
BETWEEN = frozenset({"and", "point", "dash", "hyphen", "minus", "plus", "a", "slash"})
PLURALS = frozenset({*(f"{word}s" for word in NUMBERS), "twenties", "thirties", "forties",
                     "fifties", "sixties", "seventies", "eighties", "nineties"})  # fmt: skip
WEAK = frozenset({"one", "ones", "first", "second", "seconds", "third", "thirds", "half"})
"""Words that are mostly no numbers that tell anything."""
DIGITS, SPOKEN, SINGLE, DOUBTFUL = 0.9, 0.85, 0.6, 0.25


def numbers(text: str) -> Iterator[Span]:
    """Numbers of a text.

    Example:
        >>> text = "Call five five five, oh one nine nine, not room 12 or one of them."
        >>> [(text[a:b], score) for a, b, score in numbers(text) if score > 0.5]
        [('five five five, oh one nine nine', 0.85), ('12', 0.9)]
    """
    tokens = [(m.start(), m.end(), m[0].casefold()) for m in TOKEN.finditer(text)]
    place = 0
    while place < len(tokens):
        end = _run(tokens, place)
        if end == place:
            place += 1
            continue
        words = [word for _, _, word in tokens[place:end]]
        start, stop = tokens[place][0], tokens[end - 1][1]
        stop = start + len(text[start:stop].rstrip(".,;:!?"))
        yield start, stop, _confidence(words)
        place = end


def is_number(word: str) -> bool:
    """Whether a word, case folded, is a number by itself."""
    return word in NUMBERS or word in PLURALS or any(c.isdigit() for c in word)


def _run(tokens: list[tuple[int, int, str]], place: int) -> int:
    """End of the run of numbers that begins at a token; the place itself without one."""
    end = last = place
    while end < len(tokens):
        word = tokens[end][2]
        if is_number(word) or (
            word in ODDS and (_follows(tokens, end) or _ends_digits(tokens, place, end))
        ):
            end += 1
            last = end
        elif word in BETWEEN and last > place and _follows(tokens, end):
            end += 1
        else:
            break
    return last


def _ends_digits(tokens: list[tuple[int, int, str]], first: int, place: int) -> bool:
    """Whether a token ends digits that are spoken one by one: nine oh."""
    before = tokens[place - 1][2] if place > first else ""
    return before in UNITS and before not in WEAK


def _follows(tokens: list[tuple[int, int, str]], place: int) -> bool:
    """Whether a number follows a token."""
    after = tokens[place + 1][2] if place + 1 < len(tokens) else ""
    return is_number(after) or after in ODDS


def _confidence(words: list[str]) -> float:
    if any(c.isdigit() for word in words for c in word):
        return SINGLE if words == ["1"] else DIGITS
    if len(words) > 1:
        return SPOKEN
    return DOUBTFUL if words[0] in WEAK else SINGLE
