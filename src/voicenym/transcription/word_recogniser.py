"""The interface of recognisers that say when each word was spoken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from voicenym.recognition.interface import Recording
from voicenym.transcription.timed_words import Word


@dataclass(frozen=True)
class Heard:
    """Words of a stretch of speech.

    Args:
        words: in order; times in seconds from its start.
        language: code such as ``en``.
    """

    words: tuple[Word, ...]
    language: str


class WordRecogniser(Protocol):
    """Recognises words with their times, one stretch of speech after the other.

    What is heard in a stretch depends on its samples and on the arguments alone.
    """

    @property
    def name(self) -> str:
        """Name in messages and files."""
        ...

    @property
    def version(self) -> str:
        """What tells two recognisers of one name apart."""
        ...

    @property
    def assumes(self) -> str:
        """Code of the language that it takes all speech for, because it knows no other and the user
        did not state it; empty otherwise.
        """
        ...

    def hear(
        self, samples: Recording, language: str | None = None, hints: Sequence[str] = ()
    ) -> Heard:
        """Words of a stretch of speech.

        Args:
            samples: ``[time]``, mono, at 16 kHz, of at most
                :data:`voicenym.transcription.word_listening.WINDOW_SECONDS`.
            language: of an earlier stretch; None for that of the recogniser, or to detect it.
            hints: words and phrases that may occur, for their spelling.
        """
        ...
