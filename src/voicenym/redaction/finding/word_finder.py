"""Words of a transcript that are to be removed: by category, and by one's own list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from voicenym.errors import RedactionError
from voicenym.redaction.finding.categories import LISTED, NUMBERS
from voicenym.redaction.finding.entity_analyzer import LANGUAGE, EntityAnalyzer
from voicenym.redaction.finding.own_list import OwnList
from voicenym.transcription.timed_words import Transcript, Word, joined

NUMBER_HINTS = (
    "one two three four five six seven eight nine ten",
    "twenty thirty forty fifty sixty hundred",
)
"""Words of numbers in the language of the rules."""
PASSAGE = 300
"""Words of a text that is analysed at a time."""
OVERLAP = 40
"""Words that it shares with the next one, so that no entity is cut."""


@dataclass(frozen=True)
class Found:
    """Words that belong to a category.

    Args:
        category: of :data:`voicenym.redaction.finding.categories.CATEGORIES`, or ``list``.
        confidence: in [0, 1].
        channel: of the words.
        first, last: ``[first, last)`` among the words of the channel.
    """

    category: str
    confidence: float
    channel: int
    first: int
    last: int


class WordFinder:
    """Finds the words of categories and lists in transcripts.

    Args:
        categories: of entities.
        analyzer: of entities; None without categories.
        own: one's own list; None without one.
    """

    def __init__(
        self,
        categories: Sequence[str] = (),
        analyzer: EntityAnalyzer | None = None,
        own: OwnList | None = None,
    ) -> None:
        self.categories, self.own = tuple(categories), own
        self._analyzer = analyzer

    def hints(self) -> list[tuple[str, ...]]:
        """Groups of words that a recogniser is told of in a further hearing each.

        They are those of one's own list and, where numbers are looked for, words of numbers: a
        small recogniser takes digits of an accented voice for other words (docs/howto/redact.md).
        """
        own = [] if self.own is None else self.own.hints()
        return [*own, NUMBER_HINTS] if self._hears_numbers else own

    def find_hinted(self, transcript: Transcript) -> list[Found]:
        """Findings in what was heard with :meth:`hints`: of one's own list, and numbers."""
        analyzer = self._analyzer if self._hears_numbers else None
        return WordFinder((NUMBERS,), analyzer, self.own).find(transcript)

    @property
    def _hears_numbers(self) -> bool:
        analyzer = self._analyzer
        return analyzer is not None and NUMBERS in self.categories and analyzer.language == LANGUAGE

    def find(self, transcript: Transcript) -> list[Found]:
        """All findings; those of one category that overlap are joined.

        Raises:
            RedactionError: entities are looked for, and the speech is of another language than that
                of the analyzer.
        """
        spoken = transcript.language
        if self._analyzer is not None and spoken not in ("", self._analyzer.language):
            raise RedactionError(
                f"the speech is of the language {spoken!r}, and names and numbers would be looked "
                f"for in {self._analyzer.language!r}; give --language {spoken} with a spaCy model "
                "of it (--entities), or words of your own alone (--list FILE)"
            )
        found: dict[tuple[int, str, int, int], float] = {}
        for channel in transcript.channels:
            words = transcript.of_channel(channel)
            for category, first, last, confidence in (*self._entities(words), *self._listed(words)):
                key = channel, category, first, last
                found[key] = max(found.get(key, 0.0), confidence)
        return _joined(
            Found(category, confidence, channel, first, last)
            for (channel, category, first, last), confidence in sorted(found.items())
        )

    def _entities(self, words: Sequence[Word]) -> Iterator[tuple[str, int, int, float]]:
        if self._analyzer is None or not self.categories:
            return
        step = PASSAGE - OVERLAP
        for begin in range(0, max(1, len(words) - OVERLAP), step):
            passage = words[begin : begin + PASSAGE]
            text, places = _with_places(passage)
            for entity in self._analyzer.entities(text, self.categories):
                inside = [i for i, (a, b) in enumerate(places) if a < entity.end > entity.start < b]
                inside = [i for i in inside if places[i][1] > entity.start]
                if inside:
                    first, last = begin + inside[0], begin + inside[-1] + 1
                    yield entity.category, first, last, entity.confidence

    def _listed(self, words: Sequence[Word]) -> Iterator[tuple[str, int, int, float]]:
        if self.own is None:
            return
        for match in self.own.matches(_whole(words)):
            yield LISTED, match.first, match.last, match.confidence


def words_of(found: Found, transcript: Transcript) -> list[Word]:
    """The words of a finding."""
    return transcript.of_channel(found.channel)[found.first : found.last]


def text_of(words: Sequence[Word]) -> str:
    """Words as a text, without the punctuation around it."""
    return joined(tuple(words)).strip(" .,;:!?…\"'“”‘’()[]")


def _whole(words: Sequence[Word]) -> list[str]:
    return [word.text for word in words]


def _with_places(words: Sequence[Word]) -> tuple[str, list[tuple[int, int]]]:
    """Text of words, and where each stands in it."""
    text, places = "", []
    for i, word in enumerate(words):
        if i and not word.glued:
            text += "\n" if word.opens and words[i - 1].text[-1:] in ".!?" else " "
        places.append((len(text), len(text) + len(word.text)))
        text += word.text
    return text, places


def _joined(findings: Iterator[Found]) -> list[Found]:
    """Findings, of which those of one category that share words are one, with the best confidence.

    A weak finding does not widen a strong one.
    """
    done: list[Found] = []
    for one in sorted(findings, key=lambda f: (f.channel, f.category, f.first, -f.last)):
        last = done[-1] if done else None
        same = last is not None and (last.channel, last.category) == (one.channel, one.category)
        if last is not None and same and one.first < last.last:
            done[-1] = Found(
                last.category,
                max(last.confidence, one.confidence),
                last.channel,
                last.first,
                max(last.last, one.last),
            )
        else:
            done.append(one)
    return sorted(done, key=lambda f: (f.channel, f.first, f.last, f.category))
