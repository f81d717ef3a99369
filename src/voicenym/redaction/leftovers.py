"""Search of a redacted recording's transcript for the words that were removed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from voicenym.redaction.by_time import ByTime
from voicenym.redaction.finding.categories import ADDRESSES, LISTED, NAMES, PLACES
from voicenym.redaction.finding.own_list import OwnList
from voicenym.redaction.finding.proper_names import is_function_word
from voicenym.redaction.finding.sound_keys import plain
from voicenym.redaction.finding.word_finder import Found
from voicenym.redaction.word_placing import Interval
from voicenym.transcription.timed_words import Transcript

NEAR = 1.0
"""Seconds beside a removed interval within which a part of a removed phrase counts as left over."""
LEAST_PART = 4
"""Letters of such a part."""


def secrets_of(found: Iterable[tuple[str, str]], own: OwnList | None) -> Secrets:
    """Words that must not be heard or shown any more.

    What was taken for a name and is a word of grammar ("Which") is removed where it was found, and
    not searched in the whole recording, in which it is everywhere.

    Args:
        found: category and words of what is removed.
        own: one's own list.
    """
    phrases: list[str] = []
    parts: list[str] = []
    for category, words in found:
        each = [word for word in re.split(r"[\s\-]+", words) if plain(word)]
        if category in (NAMES, PLACES):
            each = [word for word in each if not is_function_word(plain(word))]
        if each or category not in (NAMES, PLACES):
            phrases.append(words)
        if category in (NAMES, PLACES, LISTED, ADDRESSES):
            parts += [word for word in each if len(plain(word)) >= LEAST_PART]
    return Secrets(OwnList(phrases, alike=False), OwnList(parts, alike=False), own)


class Secrets(OwnList):
    """Words that were removed: as phrases, as parts of them, and by one's own list.

    Args:
        phrases: that are found anywhere.
        parts: of them, which count beside a removed interval.
        own: one's own list, with other spellings of the same sound.
    """

    def __init__(self, phrases: OwnList, parts: OwnList, own: OwnList | None) -> None:
        super().__init__(phrases.entries, alike=False)
        self.parts, self._own = parts, own

    def matches(self, words: Sequence[str]):
        found = super().matches(words)
        return [*found, *(self._own.matches(words) if self._own is not None else ())]

    def __bool__(self) -> bool:
        return bool(self.entries) or self._own is not None


class Leftovers:
    """Searches transcripts for secrets.

    Args:
        secrets: to search for.
        kept: intervals in seconds of words that a person kept.
    """

    def __init__(self, secrets: Secrets, kept: Sequence[Interval] = ()) -> None:
        self._secrets = secrets
        self._kept = ByTime((start, end, (start, end)) for start, end in kept)

    def __bool__(self) -> bool:
        return bool(self._secrets)

    def find(self, transcript: Transcript, removed: Sequence[Interval]) -> list[Found]:
        """Secrets that were heard, each once.

        Args:
            transcript: of the redacted recording.
            removed: intervals in seconds.
        """
        found: dict[tuple[int, int, int], float] = {}
        holes = ByTime((a - NEAR, b + NEAR, (a - NEAR, b + NEAR)) for a, b in removed)
        for channel in transcript.channels:
            words = transcript.of_channel(channel)
            texts = [word.text for word in words]
            for match in self._secrets.matches(texts):
                span = words[match.first : match.last]
                if not _inside(span[0].start, span[-1].end, self._kept):
                    found[channel, match.first, match.last] = match.confidence
            for match in self._secrets.parts.matches(texts):
                span = words[match.first : match.last]
                start, end = span[0].start, span[-1].end
                beside = any(a < end and start < b for a, b in holes.near(start, end))
                if beside and not _inside(start, end, self._kept):
                    found[channel, match.first, match.last] = match.confidence
        return [Found(LISTED, sure, *key) for key, sure in sorted(found.items())]


def _inside(start: float, end: float, kept: ByTime[Interval]) -> bool:
    """Whether the middle of an interval lies in one of the others."""
    middle = (start + end) / 2.0
    return any(a <= middle <= b for a, b in kept.near(middle, middle))
