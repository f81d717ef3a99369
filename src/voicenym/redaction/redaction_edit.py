"""Removal of words as an edit of recordings that are anonymized in the same pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voicenym.audio import Reader
from voicenym.redaction.redactor import Redactor, Removal, Source
from voicenym.redaction.sound_removal import removed
from voicenym.transcription.transcript_files import format_text


class RedactionEdit:
    """The removal of words from one recording.

    Args:
        removal: after its check.
        way: ``silence`` or ``beep``.
    """

    def __init__(self, removal: Removal, way: str) -> None:
        self._removal, self._way = removal, way
        self.log: Mapping[str, Any] = removal.log()
        self.transcript = format_text(removal.transcript)
        self.warnings = removal.warnings

    def __call__(self, reader: Reader) -> Reader:
        return removed(reader, self._removal.intervals, self._removal.frames, self._way)


def edit_of(redactor: Redactor, source: Source, name: str, lenient: bool) -> RedactionEdit:
    """The edit of a recording, whose result was heard and holds none of the words.

    Raises:
        AudioError, RedactionError: as of :class:`voicenym.redaction.redactor.Redactor`.
    """
    heard = redactor.hear(source, name, lenient=lenient)
    removal = redactor.secure(source, name, heard, redactor.decide(heard), lenient=lenient)
    return RedactionEdit(removal, redactor.way)
