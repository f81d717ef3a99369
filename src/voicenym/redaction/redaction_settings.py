"""Settings of a redaction, from which each process makes its redactor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from voicenym.errors import RedactionError, WeightsError
from voicenym.redaction.finding.categories import categories_of
from voicenym.redaction.finding.own_list import OwnList, read_list
from voicenym.redaction.finding.word_finder import WordFinder
from voicenym.redaction.redactor import LEAST_CONFIDENCE, SENTENCE, STOP, Redactor
from voicenym.redaction.sound_removal import BEEP, SILENCE, WAYS, WORD

if TYPE_CHECKING:
    from voicenym.corpus.sound_edits import Prepare
    from voicenym.pseudonym import Key, Pseudonym
    from voicenym.redaction.replacements.spoken_replacements import ReplacementVoice
    from voicenym.systems.asr_tts import AsrTts

UNHEARD = ("keep", "silence")
PURPOSE = "voicenym redaction"
"""Utterance of nobody, whose pseudonym draws the replacements of a key."""


@dataclass(frozen=True)
class RedactionSettings:
    """What is removed from recordings, and by what it is found.

    Args:
        categories: of :data:`voicenym.redaction.finding.categories.CATEGORIES`.
        entries: of one's own list.
        recogniser: of words; a name or a folder.
        language: code; None for that of the recogniser.
        way: ``silence``, ``beep`` or ``word``.
        on_miss: ``stop`` or ``sentence``.
        entities: spaCy model, or ``rules``; None for the best one installed.
        least: confidence from which a finding is removed.
        unheard: ``keep`` or ``silence``.
        synthesiser: that speaks replacements; a name, file or folder, empty for what was pulled.
        pseudonym: that draws replacements and their voice; with ``word``.
        plain: what stands where no word can, ``beep`` or ``silence``.
    """

    categories: tuple[str, ...]
    entries: tuple[str, ...]
    recogniser: str
    language: str | None = None
    way: str = SILENCE
    on_miss: str = STOP
    entities: str | None = None
    least: float = LEAST_CONFIDENCE
    unheard: str = "keep"
    synthesiser: str = ""
    pseudonym: Pseudonym | None = None
    plain: str = BEEP

    def with_key(self, key: Key, synthesiser: str = "") -> RedactionSettings:
        """These settings, with replacements that a key draws.

        Args:
            key: of the run.
            synthesiser: that speaks them, unless one is set.
        """
        return replace(
            self,
            pseudonym=key.pseudonym("", PURPOSE),
            synthesiser=self.synthesiser or synthesiser,
        )

    def redactor(
        self,
        threads: int = 0,
        stage: Callable[[str], None] = lambda _: None,
        progress: Callable[[float], None] | None = None,
    ) -> Redactor:
        """A redactor with these settings, whose recogniser and models are loaded.

        Args:
            threads: of the recogniser; 0 for all processors.
            stage: called with the name of each stage.
            progress: called with the seconds that a stage has heard.

        Raises:
            DependencyError: faster-whisper or presidio-analyzer is not installed.
            VoicenymError: a model that is not here, or a language that it does not know.
        """
        from voicenym.transcription.faster_whisper_words import FasterWhisperWords

        recogniser = FasterWhisperWords(self.recogniser, language=self.language, threads=threads)
        return Redactor(
            recogniser, self.finder(), way=self.way, on_miss=self.on_miss, least=self.least,
            language=self.language, unheard=self.unheard == "silence", stage=stage,
            progress=progress, voice=self.voice(), plain=self.plain,
        )  # fmt: skip

    def voice(self) -> ReplacementVoice | None:
        """The voice of replacements; None without them.

        Raises:
            WeightsError: no synthesiser is here; the message names the command that fetches one.
            DependencyError, VoicenymError: it cannot be run, or speaks another language.
        """
        if self.way != WORD or self.pseudonym is None:
            return None
        from voicenym.redaction.replacements.replacement_words import LANGUAGE
        from voicenym.redaction.replacements.spoken_replacements import ReplacementVoice

        return ReplacementVoice(self._speaking(LANGUAGE).opened_synthesiser(), self.pseudonym)

    def _speaking(self, language: str = "") -> AsrTts:
        """The system whose synthesiser speaks."""
        from voicenym.systems.asr_tts import AsrTts

        found = AsrTts(synthesiser=self.synthesiser, language=language)
        with self._named():
            found.opened_synthesiser().check()
        return found

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Names this option where no synthesiser is here."""
        try:
            yield
        except WeightsError:
            raise WeightsError(
                f"--by word: no synthesiser {self.synthesiser or 'is'} here; fetch one once "
                "(voicenym models pull kokoro-82m), or give a file or folder (--synthesiser "
                "./NAME.onnx)"
            ) from None

    def finder(self) -> WordFinder:
        """What finds the words, without a recogniser."""
        analyzer = None
        if self.categories:
            from voicenym.redaction.finding.entity_analyzer import LANGUAGE, EntityAnalyzer

            analyzer = EntityAnalyzer(self.entities, self.language or LANGUAGE)
        return WordFinder(
            self.categories, analyzer, OwnList(self.entries) if self.entries else None
        )

    def editor(self) -> Prepare:
        """What prepares the removal from each recording, on one core, with its models loaded.

        Raises:
            DependencyError, VoicenymError: as :meth:`redactor`.
        """
        from functools import partial

        from voicenym.redaction.redaction_edit import resumed_edit_of

        return partial(resumed_edit_of, self.redactor(threads=1), self.language)

    def stamp(self, key: Key) -> dict[str, Any]:
        """Settings for a log: the list is a tag that reveals nothing without the key."""
        stamp: dict[str, Any] = {
            "words": list(self.categories),
            "recogniser": os.path.basename(self.recogniser.rstrip("/")),
            "on_miss": self.on_miss,
            "least": self.least,
            "unheard": self.unheard,
        }
        if self.entities:
            stamp["entities"] = os.path.basename(self.entities.rstrip("/"))
        if self.way != SILENCE:  # earlier logs have none
            stamp["by"] = self.way
        if self.way == WORD:
            from voicenym.systems.asr_tts import synthesiser_version

            with self._named():
                stamp["synthesiser"] = synthesiser_version(self.synthesiser)
        if self.entries:
            stamp["list"] = key.tag("redaction list", "\n".join(sorted(self.entries)))[:16]
        return stamp


def settings_of(
    words: Sequence[str],
    own: str | os.PathLike[str] | None,
    recogniser: str | None,
    language: str | None,
    *,
    way: str = SILENCE,
    on_miss: str = STOP,
    entities: str | None = None,
    least: float = LEAST_CONFIDENCE,
    unheard: str = "keep",
    synthesiser: str | None = None,
    plain: str = BEEP,
) -> RedactionSettings:
    """Settings by values of a user.

    Args:
        words: categories, several in one text with commas.
        own: file of one's own list.
        recogniser: name or folder; None for the largest that was pulled.
        language, way, on_miss, entities, least, unheard, synthesiser, plain: as of
            :class:`RedactionSettings`.

    Raises:
        RedactionError: a value that is none, a list that cannot be read, or nothing to remove.
        VoicenymError: no recogniser is here.
    """
    from voicenym.transcription.faster_whisper_words import at_hand, folder_of

    for option, value, known in (
        ("--by", way, WAYS),
        ("--on-miss", on_miss, (STOP, SENTENCE)),
        ("--unheard", unheard, UNHEARD),
    ):
        if value not in known:
            raise RedactionError(
                f"{option} is {', '.join(known[:-1])} or {known[-1]}, not {value!r}"
            )
    if synthesiser and way != WORD:
        raise RedactionError("--synthesiser speaks words that stand for others; add --by word")
    if way == WORD and language not in (None, "en"):
        raise RedactionError(
            f"--by word knows English words alone, and the speech is {language!r}; give --by beep "
            "or --by silence"
        )
    if not 0.0 <= least <= 1.0:
        raise RedactionError(f"--least-confidence is a number from 0 to 1, not {least:g}")
    categories = categories_of(words)
    entries = () if own is None else read_list(own).entries
    folder_of(recogniser or "")
    return RedactionSettings(
        categories, entries, recogniser or at_hand(), language, way, on_miss, entities, least,
        unheard, synthesiser or "", plain=plain,
    )  # fmt: skip
