"""Names drawn from the key that replace ids of speakers and utterances (``--rename``)."""

from __future__ import annotations

from dataclasses import dataclass

from voicenym.pseudonym import Key

DIGITS = 16
"""Hexadecimal digits of a drawn name: 64 bits."""


@dataclass(frozen=True)
class Names:
    """Names that only the holder of the key can link to those they stand for.

    Equal speakers have equal names in every corpus of a key, so that a corpus can be extended.
    """

    key: Key

    def speaker(self, speaker: str) -> str:
        return self.key.tag("speaker", speaker)[:DIGITS]

    def utterance(self, speaker: str, utterance: str) -> str:
        """Id of a recording, an utterance, a cut or a supervision of a speaker."""
        return self.key.tag("utterance", f"{speaker}\0{utterance}")[:DIGITS]

    def other(self, kind: str, name: str) -> str:
        """Id of an object of another kind; ids of different kinds are unrelated."""
        return self.key.tag(kind, name)[:DIGITS]
