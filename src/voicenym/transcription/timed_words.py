"""Words in time: what a recogniser heard, and when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_ENDS = re.compile(r"[.!?…。？！][\"')\]»”’]*$")
_TITLE = re.compile(r"\W*(?:mr|mrs|ms|dr|prof|st|mt)\.$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a transcript; ten hours have 100,000.

    Args:
        text: as written, with its punctuation, without surrounding blanks.
        start, end: in seconds; equal where the recogniser could not place the word.
        probability: of the recogniser, in [0, 1].
        segment: start and end in seconds of what it was heard in; it may be wider than the words.
        opens: whether a segment of the recogniser begins with it.
        glued: whether no blank stands before it.
        channel: of the recording, from 0.
    """

    text: str
    start: float
    end: float
    probability: float
    segment: tuple[float, float]
    opens: bool = False
    glued: bool = False
    channel: int = 0

    @property
    def placed(self) -> bool:
        """Whether the word has a time."""
        return self.end > self.start


@dataclass(frozen=True)
class Transcript:
    """What was heard in a recording.

    Args:
        words: by channel, then in order of time.
        seconds: length of the recording.
        language: code such as ``en``; empty where nothing was heard.
        unheard: ``(start, end)`` in seconds of speech of which no word was recognised.
    """

    words: tuple[Word, ...]
    seconds: float
    language: str
    unheard: tuple[tuple[float, float], ...] = ()

    @property
    def channels(self) -> list[int]:
        """Channels with words, in order."""
        return sorted(self._by_channel)

    def of_channel(self, channel: int) -> list[Word]:
        """Words of one channel, in order; the list is not to be changed."""
        return self._by_channel.get(channel, [])

    @cached_property
    def _by_channel(self) -> dict[int, list[Word]]:
        """Asked for by each finding, of which there are thousands in a long recording."""
        found: dict[int, list[Word]] = {}
        for word in self.words:
            found.setdefault(word.channel, []).append(word)
        return found

    def text(self) -> str:
        """All words as a text; a line for each sentence."""
        return "\n".join(
            joined(sentence)
            for channel in self.channels
            for sentence in sentences(self.of_channel(channel))
        )


def joined(words: list[Word] | tuple[Word, ...]) -> str:
    """Words as a text, with blanks where the language has them."""
    parts: list[str] = []
    for i, word in enumerate(words):
        parts.append(word.text if i == 0 or word.glued else f" {word.text}")
    return "".join(parts)


def sentences(words: list[Word]) -> Iterator[list[Word]]:
    """Words by sentence: one ends with its punctuation, or where a segment does.

    The stop of a title, as in "Mrs. Smith", ends none.

    Args:
        words: of one channel, in order.

    Example:
        >>> texts = "Hello. How are you?".split()
        >>> one = [Word(text, i, i + 1, 1.0, (0, 4)) for i, text in enumerate(texts)]
        >>> list(map(joined, sentences(one)))
        ['Hello.', 'How are you?']
    """
    sentence: list[Word] = []
    for word in words:
        if sentence and word.opens and not _continues(sentence[-1], word):
            yield sentence
            sentence = []
        sentence.append(word)
        if _ENDS.search(word.text) and not _TITLE.match(word.text):
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _continues(before: Word, word: Word) -> bool:
    """Whether a segment goes on with the sentence of the one before it."""
    return word.text[:1].islower() or before.text.endswith(",")
