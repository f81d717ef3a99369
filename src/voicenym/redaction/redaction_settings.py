"""Settings of a redaction, from which each process makes its redactor."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voicenym.errors import RedactionError
from voicenym.redaction.categories import categories_of
from voicenym.redaction.own_list import OwnList, read_list
from voicenym.redaction.redactor import LEAST_CONFIDENCE, SENTENCE, STOP, Redactor
from voicenym.redaction.sound_removal import SILENCE, WAYS
from voicenym.redaction.word_finder import WordFinder

if TYPE_CHECKING:
    from voicenym.corpus.sound_edits import Prepare
    from voicenym.pseudonym import Key

UNHEARD = ("keep", "silence")


@dataclass(frozen=True)
class RedactionSettings:
    """What is removed from recordings, and by what it is found.

    Args:
        categories: of :data:`voicenym.redaction.categories.CATEGORIES`.
        entries: of one's own list.
        recogniser: of words; a name or a folder.
        language: code; None for that of the recogniser.
        way: ``silence`` or ``beep``.
        on_miss: ``stop`` or ``sentence``.
        entities: spaCy model, or ``rules``; None for the best one installed.
        least: confidence from which a finding is removed.
        unheard: ``keep`` or ``silence``.
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

    def redactor(self, threads: int = 0, stage: Callable[[str], None] = lambda _: None) -> Redactor:
        """A redactor with these settings, whose recogniser and models are loaded.

        Args:
            threads: of the recogniser; 0 for all processors.
            stage: called with the name of each stage.

        Raises:
            DependencyError: faster-whisper or presidio-analyzer is not installed.
            VoicenymError: a model that is not here, or a language that it does not know.
        """
        from voicenym.transcription.faster_whisper_words import FasterWhisperWords

        recogniser = FasterWhisperWords(self.recogniser, language=self.language, threads=threads)
        return Redactor(
            recogniser, self.finder(), way=self.way, on_miss=self.on_miss, least=self.least,
            language=self.language, unheard=self.unheard == "silence", stage=stage,
        )  # fmt: skip

    def finder(self) -> WordFinder:
        """What finds the words, without a recogniser."""
        analyzer = None
        if self.categories:
            from voicenym.redaction.entity_analyzer import LANGUAGE, EntityAnalyzer

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

        from voicenym.redaction.redaction_edit import edit_of

        return partial(edit_of, self.redactor(threads=1))

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
) -> RedactionSettings:
    """Settings by values of a user.

    Args:
        words: categories, several in one text with commas.
        own: file of one's own list.
        recogniser: name or folder; None for the largest that was pulled.
        language, way, on_miss, entities, least, unheard: as of :class:`RedactionSettings`.

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
            raise RedactionError(f"{option} is {' or '.join(known)}, not {value!r}")
    if not 0.0 <= least <= 1.0:
        raise RedactionError(f"--least-confidence is a number from 0 to 1, not {least:g}")
    categories = categories_of(words)
    entries = () if own is None else read_list(own).entries
    folder_of(recogniser or "")
    return RedactionSettings(
        categories, entries, recogniser or at_hand(), language, way, on_miss, entities, least,
        unheard,
    )  # fmt: skip
