"""Times of findings: where words are silenced, and what cannot be placed.

Times of words come from an aligner that errs. Each interval is widened by more than the errors that
were measured (:data:`BEFORE`, :data:`AFTER`, docs/howto/redact.md). A word without a time, or with
one in which it cannot have been spoken, is not placed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from voicenym.errors import RedactionError
from voicenym.redaction.finding.word_finder import Found, words_of
from voicenym.transcription.timed_words import Transcript, Word, sentences

BEFORE, AFTER = 0.5, 0.5
"""Seconds by which an interval is widened on either side."""
LETTER, DIGIT = 0.012, 0.06
"""Seconds that a letter or a digit takes at least; words in less time are not placed."""
LEAST = 0.02
MOST_LEAST = 0.25
"""Seconds that are never asked for more of a finding."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class Placed:
    """A finding in time.

    Args:
        found: the words.
        start, end: in seconds, without what widens them.
        missed: whether the words have no time, and these are the times of their sentence.
    """

    found: Found
    start: float
    end: float
    missed: bool = False


def place(found: Found, transcript: Transcript, sentence: bool = False) -> Placed:
    """Times of a finding; those of its sentence where it cannot be placed, or on request."""
    words = words_of(found, transcript)
    if sentence:
        return Placed(found, *_sentence_of(found, transcript))
    if _is_placed(words):
        return Placed(found, min(w.start for w in words), max(w.end for w in words))
    start, end = _sentence_of(found, transcript)
    return Placed(found, start, end, missed=True)


def refuse_missed(placed: Sequence[Placed], name: str) -> None:
    """Refuses findings without times; the message does not name the words.

    Raises:
        RedactionError: with the times of their sentences.
    """
    missed = [one for one in placed if one.missed]
    if missed:
        some = ", ".join(f"{one.start:.1f} to {one.end:.1f} s" for one in missed[:3])
        raise RedactionError(
            f"{name}: {len(missed)} of the words to remove cannot be placed in time (sentences at "
            f"{some}), so nothing is written; add --on-miss sentence to remove their sentences, or "
            "correct the times in a file of findings"
        )


def widened(start: float, end: float, seconds: float) -> Interval:
    """An interval with what the aligner may err by, within the recording."""
    return max(0.0, start - BEFORE), min(seconds, end + AFTER)


def union(intervals: Sequence[Interval]) -> list[Interval]:
    """Intervals in order, of which those that touch are one."""
    done: list[Interval] = []
    for start, end in sorted(intervals):
        if done and start <= done[-1][1]:
            done[-1] = done[-1][0], max(done[-1][1], end)
        else:
            done.append((start, end))
    return done


def _is_placed(words: Sequence[Word]) -> bool:
    if not words or not all(word.placed for word in words):
        return False
    if any(b.start < a.start for a, b in pairwise(words)):
        return False
    text = "".join(word.text for word in words)
    digits = sum(c.isdigit() for c in text)
    letters = sum(c.isalpha() for c in text)
    least = min(MOST_LEAST, max(LEAST, LETTER * letters + DIGIT * digits))
    return words[-1].end - words[0].start >= least


def _sentence_of(found: Found, transcript: Transcript) -> Interval:
    """Times of the sentences of a finding, with all that was heard in their segments."""
    words = transcript.of_channel(found.channel)
    place, times = 0, []
    for sentence in sentences(words):
        end = place + len(sentence)
        if place < found.last and found.first < end:
            for word in sentence:
                times += [*word.segment, *((word.start, word.end) if word.placed else ())]
        place = end
    return min(times), max(times)
