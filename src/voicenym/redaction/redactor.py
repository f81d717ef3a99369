"""The redactor: hears a recording, places what is to be removed, and hears the result again.

Words that are still heard after the removal are removed too, up to :data:`ROUNDS` times. What is
heard after that is an error. Nothing here writes a file.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO

from voicenym.audio import Reader, open_reader
from voicenym.errors import AudioError, RedactionError
from voicenym.redaction.by_time import ByTime
from voicenym.redaction.findings_file import Line
from voicenym.redaction.leftovers import Leftovers, secrets_of
from voicenym.redaction.masked_transcript import Removed, masked
from voicenym.redaction.own_list import OwnList
from voicenym.redaction.removal import Decision, Listened, Removal, warnings_of
from voicenym.redaction.replacement_words import LANGUAGE, ReplacementWords
from voicenym.redaction.sound_removal import BEEP, SILENCE, WORD, removed
from voicenym.redaction.spoken_replacements import (
    ReplacementPlanner,
    ReplacementVoice,
    SpokenWords,
)
from voicenym.redaction.surrounding_levels import SurroundingLevels
from voicenym.redaction.text_redaction import TextRedaction
from voicenym.redaction.word_finder import Found, WordFinder, text_of, words_of
from voicenym.redaction.word_placing import Interval, Placed, place, refuse_missed, union, widened
from voicenym.transcription.assumed_language import AssumedLanguage
from voicenym.transcription.heard_stretches import HeardStretches
from voicenym.transcription.timed_words import Transcript
from voicenym.transcription.word_listening import Blocks, listen
from voicenym.transcription.word_recogniser import WordRecogniser

ROUNDS = 4
LEAST_CONFIDENCE = 0.4
NEAR = 0.1
"""Seconds by which the times of one finding may differ in two hearings."""
STOP, SENTENCE = "stop", "sentence"
Source = str | os.PathLike[str] | BinaryIO
Stage = Callable[[str], None]


class Redactor:
    """Removes words from recordings.

    Args:
        recogniser: of words.
        finder: of what is to be removed.
        way: ``silence``, ``beep`` or ``word``.
        on_miss: ``stop`` or ``sentence``, for words that cannot be placed in time.
        least: confidence from which a finding is removed.
        language: of the recordings; None for that of the recogniser.
        unheard: whether speech of which no word was recognised is removed.
        stage: called with the name of each stage.
        progress: called with the seconds that a stage has heard.
        voice: that speaks words instead of removed ones; with the way ``word``.
        plain: what stands where no word can, ``beep`` or ``silence``.
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
        progress: Callable[[float], None] | None = None,
        voice: ReplacementVoice | None = None,
        plain: str = BEEP,
    ) -> None:
        self.recogniser, self._finder, self._voice = recogniser, finder, voice
        self._progress = progress
        self.plain = plain if way == WORD else way
        self.way, self._on_miss, self._least = way, on_miss, least
        self._language, self._unheard, self._stage = language, unheard, stage

    def hear(
        self,
        source: Source,
        name: str,
        *,
        lenient: bool = False,
        kept: HeardStretches | None = None,
    ) -> Listened:
        """Words of a recording.

        Args:
            source: the recording.
            name: of it, for messages.
            lenient: accept a recording without speech.
            kept: what an interrupted run heard, and to which is added what this one hears.

        Raises:
            AudioError: it cannot be read, there is no speech in it and ``lenient`` is false, or the
                speech is likely not of the only language that the recogniser knows.
            RedactionError: speech, of which no word was recognised.
        """
        self._stage("hearing the recording")
        with open_reader(source, lenient=lenient) as reader:
            counted = _Counted(reader)
            check = AssumedLanguage(name, self.recogniser)
            heard = self._heard(counted, kept=kept, check=check)
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
        for hints in self._finder.hints():
            self._stage("hearing it with words that may occur")
            with open_reader(source, lenient=lenient) as reader:
                hinted.append(self._heard(reader, hints, kept))
        return Listened(heard, counted.count, reader.rate, tuple(hinted))

    def decide(self, heard: Listened) -> list[Decision]:
        """Findings of the finder in order of time; those of little confidence are kept.

        Words of the list and numbers that were heard with hints alone are added.
        """
        found = [
            self._decided(one, heard.transcript, one.confidence >= self._least)
            for one in self._finder.find(heard.transcript)
        ]
        known = ByTime((*_times(one.line), one.line) for one in found)
        for transcript in heard.hinted:
            for one in self._finder.find_hinted(transcript):
                more = self._decided(one, transcript, one.confidence >= self._least)
                start, end = _times(more.line)
                if not any(_same(more.line, line) for line in known.near(start - NEAR, end + NEAR)):
                    found.append(more)
                    known.add(start, end, more.line)
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
        kept: HeardStretches | None = None,
    ) -> Removal:
        """Intervals whose removal leaves nothing of the words to be heard.

        Args:
            source, name, lenient, kept: as of :meth:`hear`.
            heard: what was heard in the recording.
            decisions: what is removed of it.

        Raises:
            RedactionError: words that cannot be placed, or are still heard after :data:`ROUNDS`.
            AudioError: the recording cannot be read.
        """
        transcript = heard.transcript
        if self._voice is not None and transcript.language not in ("", LANGUAGE):
            raise RedactionError(
                f"{name}: the speech is of the language {transcript.language!r}, and words of the "
                "same class are known in English alone; give --by beep, or --by silence"
            )
        taken = [one for one in decisions if one.line.redact]
        if self._on_miss == STOP:
            refuse_missed([_placed(one) for one in taken if one.missed], name)
        times = [
            Removed(one.line.start, one.line.end, one.line.category, one.line.words)
            for one in taken
            if one.line.start is not None and one.line.end is not None
        ]
        shown = [_times(one.line) for one in decisions if not one.line.redact]
        secrets = secrets_of([(o.line.category, o.line.words) for o in taken], self._finder.own)
        search = Leftovers(secrets, shown)
        seconds = transcript.seconds
        intervals = [widened(one.start, one.end, seconds) for one in times]
        if self._unheard:
            intervals += [widened(a, b, seconds) for a, b in transcript.unheard]
        planner = self._planner(source, taken, seconds, lenient)
        misheard: list[Interval] = []
        words = self._planned(planner, times, intervals)
        rounds = more = 0
        while search and (intervals or rounds == 0):
            rounds += 1
            self._stage(f"hearing the result ({rounds})")
            intervals = intervals if words is None else list(words.holes)
            again = self._without(source, heard.frames, intervals, lenient, words, kept)
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
            times += [
                Removed(one.start, one.end, one.found.category, text_of(words_of(one.found, again)))
                for one in left
            ]
            wider = [widened(one.start, one.end, seconds) for one in left]
            if words is not None:  # a replacement that sounds like a removed word is none
                found = [(one.start, one.end) for one in left]
                misheard += [one for one in found if words.speak_in(*one)]
            intervals = [*intervals, *wider]
            words = self._planned(planner, times, intervals, misheard)
        final = union(intervals if words is None else words.holes)
        return Removal(
            tuple(final),
            masked(transcript, times, secrets, shown),
            dict(Counter(one.line.category for one in taken)),
            sum(end - start for start, end in final),
            rounds,
            more,
            heard.frames,
            tuple(warnings_of(name, transcript, self._unheard, words, self.plain)),
            words,
            self.plain,
        )

    def text_redaction(self, decisions: Sequence[Decision], removal: Removal) -> TextRedaction:
        """What removes words from texts that a system heard in the result, and will speak."""
        taken = [one.line for one in decisions if one.line.redact]
        secrets = secrets_of([(line.category, line.words) for line in taken], self._finder.own)
        instead, said = None, []
        if self._voice is not None:
            own = () if self._finder.own is None else self._finder.own.entries
            instead = ReplacementWords(
                self._voice.pseudonym, [*(line.words for line in taken), *own]
            )
            said = [] if removal.words is None else removal.words.texts()
        return TextRedaction(self._finder, self._least, secrets, instead, said)

    def _planner(
        self, source: Source, taken: Sequence[Decision], seconds: float, lenient: bool
    ) -> ReplacementPlanner | None:
        """What plans the words that stand for removed ones; None if none do."""
        if self._voice is None or not taken:
            return None
        self._stage("measuring levels")
        with open_reader(source, lenient=lenient) as reader:
            levels = SurroundingLevels(reader)
        own = () if self._finder.own is None else self._finder.own.entries
        secrets = [*(one.line.words for one in taken), *own]
        return ReplacementPlanner(self._voice, levels, secrets, seconds)

    def _planned(
        self,
        planner: ReplacementPlanner | None,
        times: Sequence[Removed],
        intervals: Sequence[Interval],
        misheard: Sequence[Interval] = (),
    ) -> SpokenWords | None:
        if planner is None:
            return None
        self._stage("speaking other words")
        return planner.words(times, intervals, misheard)

    def _without(
        self,
        source: Source,
        frames: int,
        intervals: Sequence[Interval],
        lenient: bool,
        words: SpokenWords | None,
        kept: HeardStretches | None,
    ) -> Transcript:
        """Words of the recording without the intervals."""
        with open_reader(source, lenient=lenient) as reader:
            edited = removed(reader, intervals, frames, self.plain, words)
            return self._heard(edited, kept=kept)

    def _heard(
        self,
        blocks: Blocks,
        hints: Sequence[str] = (),
        kept: HeardStretches | None = None,
        check: AssumedLanguage | None = None,
    ) -> Transcript:
        return listen(
            blocks, self.recogniser, language=self._language, hints=hints, eager=True,
            progress=self._progress, kept=kept, check=check,
        )  # fmt: skip

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
    return start - NEAR <= a and b <= end + NEAR


def _times(line: Line) -> Interval:
    return line.start or 0.0, line.end or 0.0


def _placed(one: Decision) -> Placed:
    start, end = _times(one.line)
    return Placed(Found(one.line.category, one.line.confidence, 0, 0, 0), start, end, True)
