"""The redactor: hears a recording, decides what is to be removed, and hears the result again.

Nothing here writes a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO

from voicenym.audio import Reader, open_reader
from voicenym.errors import AudioError, RedactionError
from voicenym.redaction.checked_removal import CheckedRemoval
from voicenym.redaction.decisions import decisions_of, decisions_of_lines
from voicenym.redaction.finding.word_finder import WordFinder
from voicenym.redaction.findings_file import Line
from voicenym.redaction.leftovers import Secrets, secrets_of
from voicenym.redaction.removal import Decision, Listened, Removal
from voicenym.redaction.replacements.replacement_words import LANGUAGE, ReplacementWords
from voicenym.redaction.replacements.spoken_replacements import (
    ReplacementPlanner,
    ReplacementVoice,
    SpokenWords,
)
from voicenym.redaction.sound_removal import BEEP, SILENCE, WORD, removed
from voicenym.redaction.surrounding_levels import SurroundingLevels
from voicenym.redaction.text_redaction import TextRedaction
from voicenym.redaction.word_placing import Interval
from voicenym.transcription.assumed_language import AssumedLanguage
from voicenym.transcription.heard_stretches import HeardStretches, KnownStretches
from voicenym.transcription.timed_words import Transcript
from voicenym.transcription.word_listening import Blocks, listen
from voicenym.transcription.word_recogniser import WordRecogniser

LEAST_CONFIDENCE = 0.4
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
        known = KnownStretches()
        self._stage("hearing the recording")
        with open_reader(source, lenient=lenient) as reader:
            counted = _Counted(reader)
            check = AssumedLanguage(name, self.recogniser)
            heard = self._heard(counted, kept=kept, known=known, check=check)
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
        return Listened(heard, counted.count, reader.rate, tuple(hinted), known)

    def decide(self, heard: Listened) -> list[Decision]:
        """Findings of the finder in order of time; those of little confidence are kept."""
        return decisions_of(self._finder, heard, self._least)

    def of_lines(self, lines: Iterable[Line], heard: Listened, path: str) -> list[Decision]:
        """Decisions of a file of findings; words without times are looked for.

        Raises:
            RedactionError: words that were not heard.
        """
        return decisions_of_lines(lines, heard, path)

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
            RedactionError: words that cannot be placed, or are still heard after
                :data:`voicenym.redaction.checked_removal.ROUNDS`.
            AudioError: the recording cannot be read.
        """
        transcript = heard.transcript
        if self._voice is not None and transcript.language not in ("", LANGUAGE):
            raise RedactionError(
                f"{name}: the speech is of the language {transcript.language!r}, and words of the "
                "same class are known in English alone; give --by beep, or --by silence"
            )
        taken = [one for one in decisions if one.line.redact]
        removal = CheckedRemoval(
            name, heard, decisions, self._secrets(decisions),
            unheard=self._unheard, strict=self._on_miss == STOP,
            planner=self._planner(source, taken, transcript.seconds, lenient),
            plain=self.plain, stage=self._stage,
        )  # fmt: skip

        def hear(intervals: Sequence[Interval], words: SpokenWords | None) -> Transcript:
            with open_reader(source, lenient=lenient) as reader:
                edited = removed(reader, intervals, heard.frames, self.plain, words)
                return self._heard(edited, kept=kept, known=heard.stretches)

        return removal.removal(hear)

    def text_redaction(self, decisions: Sequence[Decision], removal: Removal) -> TextRedaction:
        """What removes words from texts that a system heard in the result, and will speak."""
        taken = [one.line for one in decisions if one.line.redact]
        instead, said = None, []
        if self._voice is not None:
            own = () if self._finder.own is None else self._finder.own.entries
            instead = ReplacementWords(
                self._voice.pseudonym, [*(line.words for line in taken), *own]
            )
            said = [] if removal.words is None else removal.words.texts()
        return TextRedaction(self._finder, self._least, self._secrets(decisions), instead, said)

    def _secrets(self, decisions: Sequence[Decision]) -> Secrets:
        """Words that must not be heard any more."""
        taken = [one.line for one in decisions if one.line.redact]
        return secrets_of([(line.category, line.words) for line in taken], self._finder.own)

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

    def _heard(
        self,
        blocks: Blocks,
        hints: Sequence[str] = (),
        kept: HeardStretches | None = None,
        known: KnownStretches | None = None,
        check: AssumedLanguage | None = None,
    ) -> Transcript:
        return listen(
            blocks, self.recogniser, language=self._language, hints=hints, eager=True,
            progress=self._progress, kept=kept, known=known, check=check,
        )  # fmt: skip


class _Counted:
    """A reader that counts the samples which it gave."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.rate, self.channels, self.count = reader.rate, reader.channels, 0

    def blocks(self, size: int):
        for block in self._reader.blocks(size):
            self.count += block.shape[1]
            yield block
