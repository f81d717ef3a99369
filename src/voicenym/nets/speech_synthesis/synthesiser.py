"""Interface of text-to-speech voices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.pseudonym import Pseudonym

Timbre = tuple[float, ...]
"""A synthesiser's own description of one of its voices: shares of styles, or a speaker."""
PURPOSE = "asr-tts.timbre"
"""Name of the draws of a timbre."""


class Synthesiser(Protocol):
    """Speaks texts in many voices."""

    rate: int
    """Of its samples, in Hz."""
    language: str
    """Code such as ``en-us``, of espeak-ng."""
    sexes: tuple[str, ...]
    """Labels of its voices, of ``f`` and ``m``; empty where they have none."""
    voices: int
    """Number of voices that it was published with."""

    def timbre(self, pseudonym: Pseudonym, sex: str = "") -> Timbre:
        """The voice of a pseudonym.

        Args:
            pseudonym: draws it.
            sex: ``f`` or ``m``, one of :attr:`sexes`; empty for any.
        """
        ...

    def speak(self, text: str, timbre: Timbre, speed: float, rng: np.random.Generator) -> Any:
        """Speech ``[time]`` float32 of a sentence; empty where nothing can be pronounced.

        Args:
            text: a sentence, with punctuation.
            timbre: of the voice.
            speed: 1 for the usual one; higher is faster.
            rng: of the noise within the speech.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.speech_synthesis.phonemes`.
        """
        ...

    def check(self) -> None:
        """Checks what it needs beside its files.

        Raises:
            DependencyError, VoicenymError: as :meth:`speak`.
        """
        ...


def json_of(path: Path) -> Mapping[str, Any]:
    """A configuration of a voice.

    Raises:
        VoicenymError: it cannot be read.
    """
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise VoicenymError(f"{path}: cannot be read ({error}); it comes with the voice") from error
