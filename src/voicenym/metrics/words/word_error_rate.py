"""Word and character error rates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voicenym.errors import DependencyError, UnmeasurableError, counted
from voicenym.metrics.intervals.binomial import unanimous
from voicenym.metrics.intervals.bootstrap_draws import Drawn, share
from voicenym.metrics.intervals.interval import FEW_PEOPLE, Interval, drawn_ratios, percentiles
from voicenym.metrics.metric import BOOTSTRAP_OF_ERRORS, Axis, Display, Estimate, Metric
from voicenym.metrics.metric_inputs import RecognisedWords, Tally
from voicenym.metrics.words.english_text import english

KINDS = ("substitutions", "deletions", "insertions")
"""Of errors, as :class:`ErrorRate` names its counts."""


@dataclass(frozen=True)
class ErrorRate:
    """Errors of a recogniser.

    Args:
        value: (substitutions + deletions + insertions) / length; above 1 where much is inserted.
        interval: by bootstrap over speakers; None without speakers, or with a single one.
        substitutions, deletions, insertions: counts.
        length: words (or characters) of the references.
        by_kind: intervals of the shares of substitutions, deletions and insertions, in this order;
            None as ``interval``.
    """

    value: float
    interval: Interval | None
    substitutions: int
    deletions: int
    insertions: int
    length: int
    unit: str = "share"
    by_kind: tuple[Interval, Interval, Interval] | None = None


def normalise(text: str) -> str:
    """Text as recognisers are trained on: NFKC, lower case, apostrophes within words alone.

    Error rates count after :func:`voicenym.metrics.words.english_text.english`, which goes further.

    Digits stay as they are ("2" is not "two"), hyphens part words, white space is one blank. Marks
    that are no letters of their own belong to the word, as the vowels of Hindi or Thai do;
    invisible characters (soft hyphens, joiners) are dropped.

    Example:
        >>> normalise("Don\N{RIGHT SINGLE QUOTATION MARK}t  stop--it's 'GO'!")
        "don't stop it's go"
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    text = "".join(map(_part, text))
    text = re.sub(r"(?<!\w)'|'(?!\w)", " ", text)
    return " ".join(text.split())


def _part(character: str) -> str:
    """A character as part of a word, or a blank; the class w of regular expressions lacks marks."""
    kind = unicodedata.category(character)
    if kind == "Cf" and character != "\N{ZERO WIDTH SPACE}":
        return ""
    return character if kind[0] in "LMN" or character == "'" else " "


def word_errors(
    references: Sequence[str],
    hypotheses: Sequence[str],
    speakers: Sequence[str] | None = None,
    *,
    characters: bool = False,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> ErrorRate:
    """Word error rate of texts, after :func:`voicenym.metrics.words.english_text.english`.

    Args:
        references: transcripts of the recordings.
        hypotheses: recognised texts, in the same order.
        speakers: of each text, for the interval.
        characters: count characters (without blanks) instead of words.
        level, replicates, seed: of the bootstrap.

    Raises:
        DependencyError: jiwer is not installed.
        UnmeasurableError: another number of hypotheses or speakers, or references without any word.

    Example:
        >>> found = word_errors(["please call stella"], ["please tall bella now"])
        >>> found.value, found.substitutions, found.insertions
        (1.0, 2, 1)
    """
    if isinstance(references, str) or isinstance(hypotheses, str):
        raise UnmeasurableError("references and hypotheses are lists of texts, not one text")
    if len(references) != len(hypotheses):
        texts = counted(len(hypotheses), "hypothesis", "hypotheses")
        raise UnmeasurableError(f"{counted(len(references), 'reference')} but {texts}")
    if speakers is not None and len(speakers) != len(references):
        people = counted(len(speakers), "speaker")
        raise UnmeasurableError(f"{counted(len(references), 'reference')} but {people}")
    counts = word_counts(references, hypotheses, characters=characters)
    substitutions, deletions, insertions, length = (int(c) for c in counts.sum(0))
    if not length:
        raise UnmeasurableError("the references hold no words; there is nothing to compare with")
    interval, by_kind = None, None
    if speakers is not None and len(set(speakers)) >= FEW_PEOPLE:
        overall, *kinds = (
            error_interval(
                errors, counts[:, 3], speakers, level=level, replicates=replicates, seed=seed
            )
            for errors in (counts[:, :3].sum(1), *counts[:, :3].T)
        )
        interval, by_kind = overall, (kinds[0], kinds[1], kinds[2])
    value = (substitutions + deletions + insertions) / length
    return ErrorRate(value, interval, substitutions, deletions, insertions, length, by_kind=by_kind)


def error_interval(
    errors: np.ndarray,
    lengths: np.ndarray,
    speakers: Sequence[str],
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> Interval:
    """The interval of a rate of errors, speakers being drawn (:func:`.unanimous` without errors).

    Args:
        errors, lengths: of each recording.
        speakers: of the recordings.
        level, replicates, seed: of the bootstrap.

    Example:
        >>> low, high = error_interval(np.zeros(5), np.ones(5), list("abcde"))
        >>> low, round(high, 3)
        (0.0, 0.434)
    """
    draws = drawn_ratios(errors, lengths, speakers, replicates=replicates, seed=seed)
    interval = percentiles(draws, level)
    if errors.any():
        return interval
    people = len({who for who, length in zip(speakers, lengths, strict=True) if length})
    return unanimous(0.0, interval, people, level)


def word_counts(
    references: Sequence[str], hypotheses: Sequence[str], *, characters: bool = False
) -> np.ndarray:
    """Substitutions, deletions, insertions and the reference's length, ``[text, 4]``.

    Args:
        references, hypotheses, characters: as for :func:`word_errors`.

    Raises:
        DependencyError: jiwer is not installed.

    Example:
        >>> word_counts(["please call stella"], ["please tall bella now"])
        array([[2, 0, 1, 3]])
    """
    counts = [
        _counts(english(r), english(h), characters)
        for r, h in zip(references, hypotheses, strict=True)
    ]
    return np.array(counts, dtype=np.int64).reshape(-1, 4)


def _counts(reference: str, hypothesis: str, characters: bool) -> tuple[int, int, int, int]:
    """Substitutions, deletions, insertions and the reference's length."""
    r, h = (list(t.replace(" ", "")) if characters else t.split() for t in (reference, hypothesis))
    if not r or not h:
        return 0, len(r), len(h), len(r)
    try:
        import jiwer
    except ImportError as error:
        raise DependencyError("word error rates: pip install 'voicenym[evaluate]'") from error
    found = jiwer.process_words(" ".join(r), " ".join(h))
    return found.substitutions, found.deletions, found.insertions, len(r)


def tally(words: RecognisedWords) -> Tally:
    """Word errors and reference words of each recording."""
    counts = word_counts(words.references, words.hypotheses).astype(np.float64)
    return Tally(counts[:, :3].sum(1), counts[:, 3], tuple(words.names), tuple(words.speakers))


def _by_word(words: RecognisedWords) -> ErrorRate:
    return word_errors(words.references, words.hypotheses, words.speakers, **words.bootstrap)


def _by_character(words: RecognisedWords) -> ErrorRate:
    return word_errors(
        words.references, words.hypotheses, words.speakers, characters=True, **words.bootstrap
    )


def _redrawn(counts: Tally) -> Drawn:
    return share(counts.above, counts.below, counts.speakers)


def _metrics(
    name: str, unit: str, count: Callable[[RecognisedWords], ErrorRate], **display: Any
) -> tuple[Metric[RecognisedWords], ...]:
    """A rate, and the shares of the kinds of errors that add up to it."""

    def of_kind(number: int) -> Callable[[RecognisedWords], Estimate]:
        def measure(words: RecognisedWords) -> Estimate:
            found = words.once(count)
            errors = getattr(found, KINDS[number]) / found.length
            return Estimate(errors, found.by_kind and found.by_kind[number])

        return measure

    whole = Metric(
        name=name,
        unit="%",
        better="lower",
        chance=None,
        interval=BOOTSTRAP_OF_ERRORS,
        definition=f"Errors of a recogniser as a share of the {unit} of the reference: "
        "substitutions, deletions and insertions, after the normalisation of Radford et al. (2023)",
        data=RecognisedWords,
        measure=lambda words: words.once(count),
        display=Display(table="errors", digits=1, subject="words", card=True, **display),
        scale=100.0,
        originals=True,
        redraw=_redrawn if count is _by_word else None,
    )
    kinds = (
        replace(
            whole,
            name=f"{name} {kind}",
            definition=f"Share of {kind} in {name}",
            measure=of_kind(number),
            display=Display(table="errors", digits=1),
            redraw=None,
        )
        for number, kind in enumerate(KINDS)
    )
    return (whole, *kinds)


WORDS, SUBSTITUTED_WORDS, DELETED_WORDS, INSERTED_WORDS = _metrics(
    "WER",
    "words",
    _by_word,
    heading="WER, %",
    summary=True,
    compared=True,
    axis=Axis("keeps words\n(100 % − WER)", worst=100.0, best=0.0),
)
CHARACTERS, SUBSTITUTED_CHARACTERS, DELETED_CHARACTERS, INSERTED_CHARACTERS = _metrics(
    "CER", "characters (without blanks)", _by_character
)
