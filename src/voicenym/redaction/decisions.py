"""What is removed of what was heard: findings of a finder, or of a file that a person edited."""

from __future__ import annotations

from collections.abc import Iterable

from voicenym.errors import RedactionError
from voicenym.redaction.by_time import ByTime
from voicenym.redaction.finding.own_list import OwnList
from voicenym.redaction.finding.word_finder import Found, WordFinder, text_of, words_of
from voicenym.redaction.findings_file import Line
from voicenym.redaction.removal import Decision, Listened
from voicenym.redaction.word_placing import Interval, place
from voicenym.transcription.timed_words import Transcript

NEAR = 0.1
"""Seconds by which the times of one finding may differ in two hearings."""


def decisions_of(finder: WordFinder, heard: Listened, least: float) -> list[Decision]:
    """Findings in order of time; those of little confidence are kept.

    Words of the list and numbers that were heard with hints alone are added.

    Args:
        finder: of what is to be removed.
        heard: the recording.
        least: confidence from which a finding is removed.
    """
    found = [
        _decided(one, heard.transcript, one.confidence >= least)
        for one in finder.find(heard.transcript)
    ]
    known = ByTime((*times_of(one.line), one.line) for one in found)
    for transcript in heard.hinted:
        for one in finder.find_hinted(transcript):
            more = _decided(one, transcript, one.confidence >= least)
            start, end = times_of(more.line)
            if not any(_same(more.line, line) for line in known.near(start - NEAR, end + NEAR)):
                found.append(more)
                known.add(start, end, more.line)
    return sorted(found, key=lambda one: times_of(one.line))


def decisions_of_lines(lines: Iterable[Line], heard: Listened, path: str) -> list[Decision]:
    """Decisions of a file of findings; words without times are looked for.

    Args:
        lines: of the file, in order.
        heard: the recording.
        path: of the file, for messages.

    Raises:
        RedactionError: words that were not heard.
    """
    found: list[Decision] = []
    for number, line in enumerate(lines, 1):
        if line.start is not None:
            found.append(Decision(line))
            continue
        places = WordFinder(own=OwnList([line.words])).find(heard.transcript)
        if not places and line.redact:
            raise RedactionError(
                f"{path}: the words of finding {number} were not heard, so that they cannot be "
                "placed in time; give start and end in seconds"
            )
        for one in places:
            own = Found(line.category, line.confidence, one.channel, one.first, one.last)
            found.append(_decided(own, heard.transcript, line.redact))
    return found


def times_of(line: Line) -> Interval:
    """Start and end of a finding in seconds; 0 where it has none."""
    return line.start or 0.0, line.end or 0.0


def _decided(found: Found, transcript: Transcript, redact: bool) -> Decision:
    placed = place(found, transcript)
    words = text_of(words_of(found, transcript))
    line = Line(
        redact, placed.start, placed.end, found.category, found.confidence, words, placed.missed
    )
    return Decision(line, placed.missed)


def _same(one: Line, other: Line) -> bool:
    """Whether a finding of the list lies within another one of it that is removed."""
    if one.category != other.category or (one.redact and not other.redact):
        return False
    (a, b), (start, end) = times_of(one), times_of(other)
    return start - NEAR <= a and b <= end + NEAR
