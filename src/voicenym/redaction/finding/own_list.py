"""One's own list of words and phrases, and their places in a transcript.

A word of the list is found in any case, with other accents, with endings (``Anna``: ``Anna's``,
``Annas``), joined or divided otherwise (``Mary Ann``: ``Maryanne``), and in other spellings of its
sound (``Catherine``: ``Kathryn``), because the recogniser does not know how a name is written.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from voicenym.errors import RedactionError
from voicenym.metrics.words.number_words import in_digits
from voicenym.redaction.finding.sound_keys import LEAST, near, plain, shorter, sound_key
from voicenym.special_files import refuse_named_pipe

MOST_BYTES = 4 << 20
MOST_ENTRIES = 20_000
MOST_HINTS, MOST_GROUPS = 600, 3
"""Characters of the entries that a recogniser is told of at a time, and how often it is."""
ENDINGS = 3
"""Most letters that may follow a word of the list: endings of inflection."""
SHORT = 4
"""Letters from which a word may have any ending; shorter ones have ``s`` alone."""
EXACT, INFLECTED, ALIKE, NEARLY = 1.0, 0.9, 0.75, 0.6
"""Confidences."""
_PARTS = re.compile(r"[\s\-‐-―/]+")


@dataclass(frozen=True)
class Match:
    """Words of a transcript that match an entry: ``[first, last)``."""

    first: int
    last: int
    confidence: float


class OwnList:
    """Words and phrases to be found.

    Args:
        entries: as written.
        alike: whether other spellings of the same sound count.

    Raises:
        RedactionError: one text in place of several, of which every letter would be an entry and
            the word none; or an entry that is no text.
    """

    def __init__(self, entries: Iterable[str], alike: bool = True) -> None:
        if isinstance(entries, str):
            raise RedactionError(f"words to find are several texts: [{entries!r}], not {entries!r}")
        entries = tuple(entries)
        for entry in entries:
            if not isinstance(entry, str):
                raise RedactionError(f"a word to find is text, not {type(entry).__name__}")
        self.entries = tuple(dict.fromkeys(e.strip() for e in entries if plain(e)))
        self._phrases: dict[str, list[list[str]]] = defaultdict(list)
        self._numbers: dict[str, int] = {}
        self._keys: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self._longest = 1
        for entry in self.entries:
            parts = [plain(part) for part in _PARTS.split(entry) if plain(part)]
            self._phrases[parts[0][:2]].append(parts)
            self._longest = max(self._longest, len(parts) + 1)
            if (digits := _digits(entry)) is not None:
                self._numbers[digits] = len(parts)
            key = sound_key(entry)
            if alike and len(key) >= LEAST and not any(c.isdigit() for c in key):
                for short in shorter(key):
                    self._keys[short].add((key, len(parts)))

    def hints(self) -> list[tuple[str, ...]]:
        """Entries in groups that a recogniser can be told of; those after the last are in none."""
        groups: list[list[str]] = [[]]
        for entry in self.entries:
            if groups[-1] and sum(len(own) + 2 for own in (*groups[-1], entry)) > MOST_HINTS:
                if len(groups) == MOST_GROUPS:
                    break
                groups.append([])
            groups[-1].append(entry)
        return [tuple(group) for group in groups if group]

    def __len__(self) -> int:
        return len(self.entries)

    def matches(self, words: Sequence[str]) -> list[Match]:
        """Places of entries among the words of a transcript.

        Args:
            words: in order, with their punctuation.
        """
        pieces = [
            (plain(part), i)
            for i, word in enumerate(words)
            for part in _PARTS.split(word)
            if plain(part)
        ]
        found: dict[tuple[int, int], float] = {}
        texts = [piece for piece, _ in pieces]
        for place in range(len(pieces)):
            for end, confidence in self._at(texts, place):
                span = pieces[place][1], pieces[end - 1][1] + 1
                found[span] = max(found.get(span, 0.0), confidence)
        for first, last in self._figures(words):
            found[first, last] = EXACT
        return [Match(a, b, c) for (a, b), c in sorted(found.items())]

    def _at(self, pieces: list[str], place: int) -> Iterator[tuple[int, float]]:
        """Ends of the entries that begin at a piece, with confidences."""
        for parts in self._phrases.get(pieces[place][:2], ()):
            heard = pieces[place : place + len(parts)]
            if len(heard) == len(parts) and all(map(_inflected, parts, heard)):
                yield place + len(parts), EXACT if heard == parts else INFLECTED
        if not self._keys:
            return
        for count in range(1, self._longest + 1):
            if place + count > len(pieces):
                break
            key_heard = sound_key("".join(pieces[place : place + count]))
            plural = key_heard.endswith("s") and count == 1
            for own in {key_heard, key_heard[:-1] if plural else key_heard}:
                if len(own) < LEAST:
                    continue
                for short in shorter(own):
                    for key, size in self._keys.get(short, ()):
                        if abs(size - count) <= 1 and near(key, own):
                            yield place + count, ALIKE if key == own else NEARLY

    def _figures(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Places of the list's numbers, in words or digits, however they are grouped."""
        if not self._numbers:
            return
        longest = max(len(number) for number in self._numbers)
        for first in range(len(words)):
            for last in range(first + 1, min(len(words), first + longest + 2) + 1):
                digits = _digits(" ".join(words[first:last]))
                if digits is None or len(digits) > longest:
                    break
                if digits in self._numbers:
                    yield first, last


def read_list(path: str | os.PathLike[str]) -> OwnList:
    """A list from a text file: a word or phrase a line; lines after ``#`` are comments.

    Raises:
        RedactionError: it cannot be read, is no text, or holds no word or too many.
    """
    name = os.fspath(path)
    refuse_named_pipe(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise RedactionError(f"{name}: cannot be read ({error.strerror}); check the name") from None
    if len(data) > MOST_BYTES:
        raise RedactionError(f"{name}: larger than {MOST_BYTES >> 20} MiB; check the name")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise RedactionError(f"{name}: is no text in UTF-8; give a word or phrase a line")
    lines = [line.strip() for line in text.splitlines()]
    found = OwnList(line for line in lines if not line.startswith("#"))
    if not found.entries:
        raise RedactionError(f"{name}: holds no word; give a word or phrase a line")
    if len(found) > MOST_ENTRIES:
        raise RedactionError(f"{name}: holds {len(found)} entries; at most {MOST_ENTRIES} are read")
    return found


def _inflected(entry: str, heard: str) -> bool:
    """Whether a word is an entry's, with an ending at most."""
    if heard == entry:
        return True
    if len(entry) < SHORT:
        return heard in (f"{entry}s", f"{entry}es")
    stem = entry[:-1] if entry[-1] in "aeiouy" and len(entry) > SHORT else entry
    return heard.startswith(stem) and len(heard) - len(stem) <= ENDINGS


def _digits(text: str) -> str | None:
    """Digits of a text that is a number and nothing else; None for others."""
    spoken = re.sub(r"[-‐-―]", " ", text.casefold())
    written = in_digits(re.sub(r"\b(?:oh|o)\b", "zero", spoken))
    digits = re.sub(r"[\s.,]|(?<=\d)(?:st|nd|rd|th)\b", "", written)
    return digits if digits.isdigit() else None
