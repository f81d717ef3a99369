"""Transcripts without the removed words: labels of their categories stand instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from voicenym.redaction.by_time import ByTime
from voicenym.redaction.finding.categories import LABELS, LISTED
from voicenym.redaction.finding.own_list import OwnList
from voicenym.redaction.word_placing import Interval
from voicenym.transcription.timed_words import Transcript, Word

_MARK = re.compile(r"[.,;:!?…]$")
SHARE = 0.3
"""Share of a word within a removed interval from which the word is masked, too."""


@dataclass(frozen=True)
class Removed:
    """A removed interval in seconds, not widened, its category and its words."""

    start: float
    end: float
    category: str
    words: str = ""


def masked(
    transcript: Transcript,
    removed: Sequence[Removed],
    secrets: OwnList | None,
    kept: Sequence[Interval] = (),
) -> Transcript:
    """A transcript whose removed words are replaced; neighbours under one label are one word.

    Args:
        transcript: what was heard first.
        removed: what was removed, by category.
        secrets: words that must not be shown wherever they stand.
        kept: intervals of words that a person kept.
    """
    words: list[Word] = []
    near = ByTime((one.start, one.end, one) for one in removed)
    shown = ByTime((start, end, (start, end)) for start, end in kept)
    for channel in transcript.channels:
        own = transcript.of_channel(channel)
        labels = [_label(word, near) for word in own]
        for match in secrets.matches([word.text for word in own]) if secrets else ():
            for place in range(match.first, match.last):
                if not labels[place] and not _within(own[place], shown):
                    labels[place] = LABELS[LISTED]
        words += _with_labels(own, labels)
    return replace(transcript, words=tuple(words))


def _with_labels(own: Sequence[Word], labels: Sequence[str]) -> list[Word]:
    """Words of a channel, of which a run under one label is one word with the last one's mark."""
    words: list[Word] = []
    for label, run in groupby(zip(labels, own, strict=True), key=lambda pair: pair[0]):
        same = [word for _, word in run]
        if not label:
            words += same
            continue
        end = _MARK.search(same[-1].text)
        text = label + (end[0] if end else "")
        words.append(replace(same[0], text=text, end=max(w.end for w in same), probability=1.0))
    return words


def _label(word: Word, removed: ByTime[Removed]) -> str:
    """Label of a word; empty where it is shown."""
    start, end = (word.start, word.end) if word.placed else word.segment
    length = max(end - start, 1e-3)
    best, label = 0.0, ""
    for one in removed.near(start, end):
        shared = min(end, one.end) - max(start, one.start)
        if shared >= SHARE * min(length, one.end - one.start) and shared > best:
            best, label = shared, LABELS[one.category]
    return label


def _within(word: Word, kept: ByTime[Interval]) -> bool:
    middle = (word.start + word.end) / 2.0
    return word.placed and any(a <= middle <= b for a, b in kept.near(middle, middle))
