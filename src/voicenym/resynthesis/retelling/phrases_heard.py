"""What a listener found in a recording: phrases with their texts, and what cannot be retold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

MUSIC, LANGUAGE, UNCLEAR, NO_SPEECH = "music", "language", "unclear", "no speech"
"""Reasons why sound cannot be retold."""
NAMED = {
    MUSIC: "music or noise",
    LANGUAGE: "another language",
    UNCLEAR: "speech not understood well enough",
    NO_SPEECH: "sounds that are no speech",
}
SENTENCE_ENDS = (".", "?", "!", "。")
LONGEST_SENTENCE = 280
"""Characters after which a sentence is parted at the next pause."""


@dataclass(frozen=True)
class Phrase:
    """Speech between two pauses.

    Args:
        start, end: in seconds from the beginning of the recording.
        text: what was said.
    """

    start: float
    end: float
    text: str


@dataclass(frozen=True)
class Heard:
    """What was found in a part of a recording.

    Args:
        phrases: that can be retold, in order.
        silenced: seconds by reason.
    """

    phrases: tuple[Phrase, ...] = ()
    silenced: Mapping[str, float] = field(default_factory=dict)


class Listener(Protocol):
    """Finds phrases in speech."""

    def hear(self, samples: np.ndarray) -> Heard:
        """Phrases of a part of a recording, with times from its beginning.

        Args:
            samples: ``[time]`` float32 at 16 kHz, of 30 s at most.
        """
        ...


def sentences(phrases: Sequence[Phrase], gap: float) -> list[Phrase]:
    """Phrases joined to sentences.

    Args:
        phrases: in order.
        gap: seconds of a pause that ends a sentence without a mark.

    Example:
        >>> spoken = [Phrase(0, 1, "I came,"), Phrase(1.4, 2, "and saw."), Phrase(2.3, 3, "Then")]
        >>> [sentence.text for sentence in sentences(spoken, 1.0)]
        ['I came, and saw.', 'Then']
    """
    found: list[Phrase] = []
    for phrase in phrases:
        last = found[-1] if found else None
        if (
            last is None
            or last.text.endswith(SENTENCE_ENDS)
            or phrase.start - last.end > gap
            or len(last.text) + len(phrase.text) > LONGEST_SENTENCE
        ):
            found.append(phrase)
        else:
            found[-1] = Phrase(last.start, phrase.end, f"{last.text} {phrase.text}")
    return found
