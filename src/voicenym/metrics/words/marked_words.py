"""Word accuracy on proper nouns and on numbers, whose loss changes the meaning most.

A number is a word of the normalised reference with a digit in it. A proper noun is a word that is
capitalised within a sentence of the reference; where the references have capitals alone, or none,
it is a word of a list of given names, places, peoples, days and months (``proper_nouns.txt``), so
that surnames are missed there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from voicenym.errors import DependencyError
from voicenym.metrics.intervals.binomial import of_share
from voicenym.metrics.intervals.bootstrap_draws import Drawn, share
from voicenym.metrics.intervals.interval import drawn_ratios
from voicenym.metrics.metric import BOOTSTRAP_OF_SHARE, Display, Estimate, Metric
from voicenym.metrics.metric_inputs import RecognisedWords, Tally
from voicenym.metrics.words.english_text import english

FEWEST = 10
"""Words of a kind below which no figure is given."""
NO_NAMES = frozenset({"i"})
Mark = Callable[[Sequence[str]], list[set[int]]]
"""From the references to the places of the words of each, normalised, that are marked."""


def proper_nouns(references: Sequence[str]) -> list[set[str]]:
    """Proper nouns of each reference, normalised.

    Example:
        >>> sorted(proper_nouns(["Then Mary met Dr. Okonkwo. She smiled."])[0])
        ['mary', 'okonkwo']
        >>> sorted(proper_nouns(["I MET MARY ON MONDAY"])[0])
        ['mary', 'monday']
    """
    letters = "".join(references)
    if letters.upper() == letters or letters.lower() == letters:
        known = _listed()
        return [set(english(text).split()) & known for text in references]
    return [_capitalised(text) for text in references]


def _capitalised(text: str) -> set[str]:
    found: set[str] = set()
    first = True
    for token in text.split():
        word = token.strip("\"'()[]{}.,;:!?-\N{LEFT DOUBLE QUOTATION MARK}")
        if word and word[0].isupper() and not first and not re.match(r"I('|\b)", word):
            found.update(english(word).split())
        title = re.fullmatch(r"(Mr|Mrs|Ms|Dr|St|Prof)\.", token) is not None
        first = bool(re.search(r"[.!?]['\")]*$", token)) and not title
    titles = {"mister", "missus", "miss", "doctor", "saint", "professor"}
    return {word for word in found if not any(c.isdigit() for c in word)} - NO_NAMES - titles


def numbers(words: Sequence[str]) -> set[int]:
    """Places of the numbers among normalised words.

    A single 1 is none, since it may be the pronoun.

    Example:
        >>> sorted(numbers(english("no one had two dogs and twenty-one cats in 1 9 8 4").split()))
        [3, 6, 9, 10, 11, 12]
    """
    found = {i for i, word in enumerate(words) if any(c.isdigit() for c in word)}
    return {i for i in found if words[i] != "1" or {i - 1, i + 1} & found}


@cache
def _listed() -> frozenset[str]:
    text = files("voicenym.metrics.words").joinpath("proper_nouns.txt").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word for line in lines for word in line.split())


def marked_counts(references: Sequence[str], hypotheses: Sequence[str], mark: Mark) -> np.ndarray:
    """Marked words that are recognised at their place, and all of them, ``[text, 2]``.

    Args:
        references, hypotheses: texts in one order; they are aligned as for WER.
        mark: which words count.

    Raises:
        DependencyError: jiwer is not installed.
    """
    try:
        import jiwer
    except ImportError as error:
        raise DependencyError("word error rates: pip install 'voicenym[evaluate]'") from error
    counts = []
    for reference, hypothesis, places in zip(references, hypotheses, mark(references), strict=True):
        r, h = english(reference), english(hypothesis)
        right = 0
        if places and h:
            right_places = {
                i
                for chunk in jiwer.process_words(r, h).alignments[0]
                if chunk.type == "equal"
                for i in range(chunk.ref_start_idx, chunk.ref_end_idx)
            }
            right = len(right_places.intersection(places))
        counts.append((right, len(places)))
    return np.array(counts, dtype=np.int64).reshape(-1, 2)


def _proper_nouns(references: Sequence[str]) -> list[set[int]]:
    return [
        {i for i, word in enumerate(english(text).split()) if word in marked}
        for text, marked in zip(references, proper_nouns(references), strict=True)
    ]


def _numbers(references: Sequence[str]) -> list[set[int]]:
    return [numbers(english(text).split()) for text in references]


def tally(words: RecognisedWords, mark: Mark) -> Tally:
    """Recognised and all marked words of each recording."""
    counts = marked_counts(words.references, words.hypotheses, mark).astype(np.float64)
    return Tally(counts[:, 0], counts[:, 1], tuple(words.names), tuple(words.speakers))


def _accuracy(mark: Mark) -> Callable[[RecognisedWords], Estimate | None]:
    def measure(words: RecognisedWords) -> Estimate | None:
        found = tally(words, mark)
        if found.below.sum() < FEWEST:
            return None
        value = float(found.above.sum() / found.below.sum())
        interval = None
        if len(set(words.speakers)) > 1:
            spoken = {who for who, count in zip(found.speakers, found.below, strict=True) if count}
            drawn = drawn_ratios(found.above, found.below, words.speakers, **words.bootstrap)
            interval = of_share(value, drawn, len(spoken), int(found.below.sum()))
        return Estimate(value, interval)

    return measure


def _redrawn(counts: Tally) -> Drawn:
    return share(counts.above, counts.below, counts.speakers)


def _metric(name: str, definition: str, mark: Mark) -> Metric[RecognisedWords]:
    return Metric(
        name=name,
        unit="%",
        better="higher",
        chance=None,
        interval=BOOTSTRAP_OF_SHARE,
        definition=definition,
        data=RecognisedWords,
        measure=_accuracy(mark),
        display=Display(table="errors", digits=1, subject="words", card=True),
        scale=100.0,
        originals=True,
    )


PROPER_NOUNS = _metric(
    "proper nouns",
    "Share of the reference's proper nouns that the recogniser has at their place: words "
    "capitalised within a sentence, or of a list where the texts have one case",
    _proper_nouns,
)
NUMBERS = _metric(
    "numbers",
    "Share of the reference's numbers that the recogniser has at their place, in words or digits",
    _numbers,
)
