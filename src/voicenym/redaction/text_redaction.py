"""Removal of words from texts that are going to be spoken, such as those of ``asr-tts``.

A system that retells words hears the recording by itself, after words were removed from its sound.
What it heard is searched as the transcript was: another recogniser may hear names elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from voicenym.redaction.finding.categories import LISTED
from voicenym.redaction.finding.sound_keys import plain
from voicenym.redaction.finding.word_finder import Found, WordFinder, text_of
from voicenym.redaction.leftovers import Secrets
from voicenym.redaction.replacements.replacement_words import ReplacementWords
from voicenym.transcription.timed_words import Transcript, Word


class TextRedaction:
    """Removes words from the phrases of one recording.

    Args:
        finder: of what is to be removed.
        least: confidence from which a finding is removed.
        secrets: words that were removed from the sound.
        instead: draws words of the same class; None to leave words out.
        said: replacements in the sound, which are no findings.

    Attributes:
        count: findings in the texts so far.
    """

    def __init__(
        self,
        finder: WordFinder,
        least: float,
        secrets: Secrets,
        instead: ReplacementWords | None = None,
        said: Sequence[str] = (),
    ) -> None:
        self._finder, self._least, self._secrets = finder, least, secrets
        self._instead = instead
        self._said = {plain(word) for text in said for word in text.split()}
        self.count = 0

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """As many phrases without the words; an empty one where nothing is left.

        Raises:
            RedactionError: as of :meth:`voicenym.redaction.finding.word_finder.WordFinder.find`.
        """
        words = [
            Word(text, 0.0, 1.0, 1.0, (0.0, 1.0), opens=not i)
            for phrase in texts
            for i, text in enumerate(phrase.split())
        ]
        edited = [word.text for word in words]
        done: set[int] = set()
        for found in self._findings(words):
            places = set(range(found.first, found.last))
            new, own = places - done, words[found.first : found.last]
            for place in new:
                edited[place] = ""
            done |= places
            self.count += bool(new)
            if new == places and self._instead is not None:
                mark = own[-1].text[len(own[-1].text.rstrip(".,;:!?")) :]
                other = self._instead.instead(found.category, text_of(own))
                edited[found.first] = f"{other}{mark}" if other else ""
        place, phrases = 0, []
        for phrase in texts:
            count = len(phrase.split())
            left = " ".join(word for word in edited[place : place + count] if word)
            phrases.append(left if any(c.isalnum() for c in left) else "")
            place += count
        return phrases

    def _findings(self, words: Sequence[Word]) -> list[Found]:
        """What is removed: the longest first."""
        transcript = Transcript(tuple(words), 1.0, "")
        found = [f for f in self._finder.find(transcript) if f.confidence >= self._least]
        texts = [word.text for word in words]
        for match in (*self._secrets.matches(texts), *self._secrets.parts.matches(texts)):
            found.append(Found(LISTED, match.confidence, 0, match.first, match.last))
        others = [f for f in found if not self._is_said(texts[f.first : f.last])]
        return sorted(others, key=lambda f: (f.first - f.last, f.category == LISTED, f.first))

    def _is_said(self, words: Sequence[str]) -> bool:
        return all(plain(word) in self._said for word in words)
