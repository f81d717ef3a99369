"""Removal of words as an edit of recordings that are anonymized in the same pass."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voicenym.audio import Reader
from voicenym.errors import VoicenymError
from voicenym.redaction.redactor import Redactor, Source
from voicenym.redaction.removal import Removal
from voicenym.redaction.sound_removal import removed
from voicenym.redaction.text_redaction import TextRedaction
from voicenym.redaction.word_placing import Interval
from voicenym.transcription.heard_stretches import HeardStretches, heard_before
from voicenym.transcription.transcript_files import format_text


class RedactionEdit:
    """The removal of words from one recording.

    Args:
        removal: after its check.
        text: removes words from texts that a system is going to speak.
        kept: what was heard for it; :meth:`finish` removes it.
    """

    def __init__(
        self, removal: Removal, text: TextRedaction, kept: HeardStretches | None = None
    ) -> None:
        self._removal, self._text, self._kept = removal, text, kept

    @property
    def transcript(self) -> str:
        """The transcript without the removed words."""
        return format_text(self._removal.transcript)

    @property
    def log(self) -> Mapping[str, Any]:
        """Fields for the log."""
        more = {"found_in_text": self._text.count} if self._text.count else {}
        return {**self._removal.log(), **more}

    @property
    def warnings(self) -> tuple[str, ...]:
        """For the user, each a sentence."""
        return self._removal.warnings

    @property
    def intervals(self) -> Sequence[Interval]:
        """Parts whose sound is replaced: start and end in seconds."""
        return self._removal.intervals

    def __call__(self, reader: Reader) -> Reader:
        removal = self._removal
        return removed(reader, removal.intervals, removal.frames, removal.plain, removal.words)

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Phrases without the words to remove."""
        return self._text(texts)

    def finish(self) -> None:
        """Removes what was heard: the recording is written, or failed."""
        if self._kept is not None:
            self._kept.remove()


def edit_of(
    redactor: Redactor,
    source: Source,
    name: str,
    lenient: bool,
    kept: HeardStretches | None = None,
) -> RedactionEdit:
    """The edit of a recording, whose result was heard and holds none of the words.

    Args:
        redactor: of words.
        source, name, lenient, kept: as of :meth:`voicenym.redaction.redactor.Redactor.hear`.

    Raises:
        AudioError, RedactionError: as of :class:`voicenym.redaction.redactor.Redactor`.
    """
    heard = redactor.hear(source, name, lenient=lenient, kept=kept)
    decisions = redactor.decide(heard)
    removal = redactor.secure(source, name, heard, decisions, lenient=lenient, kept=kept)
    return RedactionEdit(removal, redactor.text_redaction(decisions, removal), kept)


def resumed_edit_of(
    redactor: Redactor, language: str | None, source: Source, name: str, lenient: bool
) -> RedactionEdit:
    """The edit of a recording as of :func:`edit_of`, which goes on where a run was interrupted.

    What was heard lies beside the recording until :meth:`RedactionEdit.finish`.

    Args:
        redactor: of words.
        language: of the recogniser; None if it finds it.
        source, name, lenient: as of :func:`edit_of`.

    Raises:
        AudioError, RedactionError: as there; nothing is kept then.
    """
    kept = None
    if isinstance(source, str | os.PathLike):
        place = Path(source)
        kept = heard_before(place, place, redactor.recogniser, language=language)
    try:
        return edit_of(redactor, source, name, lenient, kept)
    except BaseException as error:
        if kept is not None:
            if isinstance(error, VoicenymError):
                kept.remove()
            kept.close()
        raise
