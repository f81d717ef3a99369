"""The redactor: hears a recording, places what is to be removed, and hears the result again.

Words that are still heard after the removal are removed too, up to :data:`ROUNDS` times. What is
heard after that is an error. Nothing here writes a file.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from voicenym.audio import Reader, open_reader
from voicenym.errors import AudioError, RedactionError
from voicenym.redaction.findings_file import Line
from voicenym.redaction.leftovers import Leftovers, secrets_of
from voicenym.redaction.masked_transcript import Removed, masked
from voicenym.redaction.own_list import OwnList
from voicenym.redaction.sound_removal import SILENCE, removed
from voicenym.redaction.word_finder import Found, WordFinder, text_of, words_of
from voicenym.redaction.word_placing import Interval, Placed, place, refuse_missed, union, widened
from voicenym.transcription.timed_words import Transcript
from voicenym.transcription.word_listening import Blocks, listen
from voicenym.transcription.word_recogniser import WordRecogniser

ROUNDS = 4
LEAST_CONFIDENCE = 0.4
STOP, SENTENCE = "stop", "sentence"
Source = str | os.PathLike[str] | BinaryIO
Stage = Callable[[str], None]


@dataclass(frozen=True)
class Listened:
    """What was heard in a recording: words, samples per channel, and rate in Hz.

    ``hinted`` are what was heard by a recogniser that was told of words of the list.
    """

    transcript: Transcript
    frames: int
    rate: int
    hinted: tuple[Transcript, ...] = ()


@dataclass(frozen=True)
class Decision:
    """A finding and what happens to it.

    Args:
        line: as in a file of findings.
        missed: whether its words have no time; those of the line are of their sentence then.
    """

    line: Line
    missed: bool = False


@dataclass(frozen=True)
class Removal:
    """What is removed from a recording, after the check.

    Args:
        intervals: in seconds, in order, without overlap.
        transcript: without the removed words.
        counts: of findings, by category.
        seconds: removed.
        rounds: how often the result was heard.
        more: words that were found when the result was heard, and removed.
        frames: samples per channel of the recording.
        warnings: for the user, each a sentence.
    """

    intervals: tuple[Interval, ...]
    transcript: Transcript
    counts: dict[str, int]
    seconds: float
    rounds: int
    more: int
    frames: int
    warnings: tuple[str, ...] = ()

    def log(self) -> dict[str, object]:
        """Fields for a log, without a word of the recording."""
        return {
            "findings": dict(sorted(self.counts.items())),
            "seconds": round(self.seconds, 3),
            "heard_again": self.rounds,
            "found_again": self.more,
        }


class Redactor:
    """Removes words from recordings.

    Args:
        recogniser: of words.
        finder: of what is to be removed.
        way: ``silence`` or ``beep``.
        on_miss: ``stop`` or ``sentence``, for words that cannot be placed in time.
        least: confidence from which a finding is removed.
        language: of the recordings; None for that of the recogniser.
        unheard: whether speech of which no word was recognised is removed.
        stage: called with the name of each stage.
    """

    def __init__(
        self,
        recogniser: WordRecogniser,
        finder: WordFinder,
        *,
        way: str = SILENCE,
        on_miss: str = STOP,
        least: float = LEAST_CONFIDENCE,
        language: str | None = None,
        unheard: bool = False,
        stage: Stage = lambda text: None,
    ) -> None:
        self._recogniser, self._finder = recogniser, finder
        self.way, self._on_miss, self._least = way, on_miss, least
        self._language, self._unheard, self._stage = language, unheard, stage

    def hear(self, source: Source, name: str, *, lenient: bool = False) -> Listened:
        """Words of a recording.

        Raises:
            AudioError: it cannot be read, or there is no speech in it and ``lenient`` is false.
            RedactionError: speech, of which no word was recognised.
        """
        self._stage("hearing the recording")
        with open_reader(source, lenient=lenient) as reader:
            counted = _Counted(reader)
            heard = self._heard(counted)
        if not heard.words and heard.unheard and not self._unheard:
            raise RedactionError(
                f"{name}: there is speech in it, and no word was recognised, so that none can be "
                "removed for certain; give a larger --recogniser, or the right --language"
            )
        if not heard.words and not heard.unheard and not lenient:
            raise AudioError(
                f"{name}: no speech was found in it; check that the right track was recorded, or "
                "add --lenient to write it as it is"
            )
        hinted = []
        for hints in self._finder.own.hints() if self._finder.own is not None else ():
            self._stage("hearing it with words of the list")
            with open_reader(source, lenient=lenient) as reader:
                hinted.append(self._heard(reader, hints))
        return Listened(heard, counted.count, reader.rate, tuple(hinted))

    def decide(self, heard: Listened) -> list[Decision]:
        """Findings of the finder in order of time; those of little confidence are kept.

        Words of the list that were heard with hints alone are added.
        """
        found = [
            self._decided(one, heard.transcript, one.confidence >= self._least)
            for one in self._finder.find(heard.transcript)
        ]
        for transcript in heard.hinted:
            for one in WordFinder(own=self._finder.own).find(transcript):
                more = self._decided(one, transcript, one.confidence >= self._least)
                if not any(_same(more.line, other.line) for other in found):
                    found.append(more)
        return sorted(found, key=lambda one: (one.line.start or 0.0, one.line.end or 0.0))

    def of_lines(self, lines: Iterable[Line], heard: Listened, path: str) -> list[Decision]:
        """Decisions of a file of findings; words without times are looked for.

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
                found.append(self._decided(own, heard.transcript, line.redact))
        return found

    def secure(
        self,
        source: Source,
        name: str,
        heard: Listened,
        decisions: Sequence[Decision],
        *,
        lenient: bool = False,
    ) -> Removal:
        """Intervals whose removal leaves nothing of the words to be heard.

        Raises:
            RedactionError: words that cannot be placed, or are still heard after :data:`ROUNDS`.
            AudioError: the recording cannot be read.
        """
        transcript = heard.transcript
        taken = [one for one in decisions if one.line.redact]
        if self._on_miss == STOP:
            refuse_missed([_placed(one) for one in taken if one.missed], name)
        times = [
            Removed(one.line.start, one.line.end, one.line.category)
            for one in taken
            if one.line.start is not None and one.line.end is not None
        ]
        kept = [_times(one.line) for one in decisions if not one.line.redact]
        secrets = secrets_of([(o.line.category, o.line.words) for o in taken], self._finder.own)
        search = Leftovers(secrets, kept)
        seconds = transcript.seconds
        intervals = [widened(one.start, one.end, seconds) for one in times]
        if self._unheard:
            intervals += [widened(a, b, seconds) for a, b in transcript.unheard]
        rounds = more = 0
        while search and (intervals or rounds == 0):
            rounds += 1
            self._stage(f"hearing the result ({rounds})")
            again = self._without(source, heard.frames, intervals, lenient)
            left = [place(one, again) for one in search.find(again, union(intervals))]
            if not left:
                break
            if rounds == ROUNDS:
                raise RedactionError(
                    f"{name}: {len(left)} of the words to remove are still heard after "
                    f"{rounds} rounds of removal (first at {left[0].start:.1f} s), so nothing is "
                    "written; silence that part by hand, or give a larger --recogniser"
                )
            if self._on_miss == STOP:
                refuse_missed(left, name)
            more += len(left)
            times += [Removed(one.start, one.end, one.found.category) for one in left]
            wider = [widened(one.start, one.end, seconds) for one in left]
            intervals = [*intervals, *wider]
        final = union(intervals)
        return Removal(
            tuple(final),
            masked(transcript, times, secrets, kept),
            dict(Counter(one.line.category for one in taken)),
            sum(end - start for start, end in final),
            rounds,
            more,
            heard.frames,
            tuple(_warnings(name, transcript, self._unheard)),
        )

    def _without(
        self, source: Source, frames: int, intervals: Sequence[Interval], lenient: bool
    ) -> Transcript:
        """Words of the recording without the intervals."""
        with open_reader(source, lenient=lenient) as reader:
            return self._heard(removed(reader, intervals, frames, self.way))

    def _heard(self, blocks: Blocks, hints: Sequence[str] = ()) -> Transcript:
        return listen(blocks, self._recogniser, language=self._language, hints=hints, eager=True)

    def _decided(self, found: Found, transcript: Transcript, redact: bool) -> Decision:
        placed = place(found, transcript)
        words = text_of(words_of(found, transcript))
        line = Line(redact, placed.start, placed.end, found.category, found.confidence, words)
        return Decision(line, placed.missed)


class _Counted:
    """A reader that counts the samples which it gave."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.rate, self.channels, self.count = reader.rate, reader.channels, 0

    def blocks(self, size: int):
        for block in self._reader.blocks(size):
            self.count += block.shape[1]
            yield block


def _same(one: Line, other: Line) -> bool:
    """Whether a finding of the list lies within another one of it that is removed."""
    if one.category != other.category or (one.redact and not other.redact):
        return False
    (a, b), (start, end) = _times(one), _times(other)
    return start - 0.1 <= a and b <= end + 0.1


def _times(line: Line) -> Interval:
    return line.start or 0.0, line.end or 0.0


def _placed(one: Decision) -> Placed:
    start, end = _times(one.line)
    return Placed(Found(one.line.category, one.line.confidence, 0, 0, 0), start, end, True)


def _warnings(name: str, transcript: Transcript, silenced: bool) -> Iterable[str]:
    seconds = sum(end - start for start, end in transcript.unheard)
    if seconds and not silenced:
        yield (
            f"{name}: no word was recognised in {seconds:.1f} s of speech (first at "
            f"{transcript.unheard[0][0]:.1f} s); names in it stay, unless you add --unheard silence"
        )
