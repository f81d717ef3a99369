"""Inputs of metrics: scores of trials, pairs of recordings, words, speaker vectors.

Each input remembers intermediate results, so that metrics that share a computation (such as the two
figures of ZEBRA) run it once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from voicenym.metrics.intervals import jackknife
from voicenym.metrics.trials.scores import Array, Speakers
from voicenym.metrics.trials.sorted_trials import SortedTrials
from voicenym.metrics.voice_similarity.similarity import Similarity, similarity_matrix

Result = TypeVar("Result")


@dataclass(frozen=True)
class Tally:
    """Numerators and denominators of a ratio of sums: word errors over words, values over counts.

    Args:
        above, below: ``[recording]``.
        names, speakers: of the recordings.
    """

    above: np.ndarray
    below: np.ndarray
    names: tuple[str, ...]
    speakers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Input:
    """Settings of the bootstrap, and results that several metrics share."""

    replicates: int = 1000
    seed: int = 0
    _results: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def bootstrap(self) -> dict[str, Any]:
        """Keyword arguments of the metrics' functions."""
        return {"replicates": self.replicates, "seed": self.seed}

    def once(self, compute: Callable[[Any], Result]) -> Result:
        """``compute(self)``; the second call returns the result of the first one."""
        if compute not in self._results:
            self._results[compute] = compute(self)
        found: Result = self._results[compute]
        return found


@dataclass(frozen=True)
class TrialScores(_Input):
    """Scores of verification trials of one attacker.

    Args:
        target, nontarget: scores, higher for the same speaker.
        speakers: of the trials, for the bootstrap.
        threshold: of equal errors on original speech; None where the scores have another scale.
    """

    target: Array
    nontarget: Array
    speakers: Speakers
    threshold: float | None = None

    def estimate(self, function: Callable[..., Result]) -> Result:
        """The result of a metric's function of these scores, which is called once."""
        if function not in self._results:
            self._results[function] = function(
                self.target, self.nontarget, self.speakers, **self.bootstrap
            )
        found: Result = self._results[function]
        return found

    @property
    def trials(self) -> SortedTrials:
        """The trials in the order of their scores, sorted and resampled once for all metrics."""
        return self.once(_sorted)

    def shared(self, function: Callable[..., Result]) -> Result:
        """The result of a function of :class:`.SortedTrials`, which is called once."""
        if function not in self._results:
            self._results[function] = function(self.trials, **self.bootstrap)
        found: Result = self._results[function]
        return found


def _sorted(scores: TrialScores) -> SortedTrials:
    return SortedTrials(scores.target, scores.nontarget, scores.speakers)


@dataclass(frozen=True)
class IdentificationScores(_Input):
    """Scores of recordings of unknown speakers against candidates.

    Args:
        scores: ``[candidate, recording]``, higher for the same speaker.
        tested: ``[candidate, recording]``, which of them count.
        candidates, speakers: who the candidates and the recordings are, as numbers.
    """

    scores: np.ndarray
    tested: np.ndarray
    candidates: np.ndarray
    speakers: np.ndarray


@dataclass(frozen=True)
class SpeechPairs(_Input):
    """Recordings before and after anonymization; both are the originals where nothing is done.

    Args:
        original, changed: ``[time]`` each, mono.
        rate: in Hz.
        names, speakers, texts: of the recordings; an empty text is unknown.
        seconds: computing time of each; empty where nothing is done.
    """

    original: Sequence[np.ndarray]
    changed: Sequence[np.ndarray]
    rate: int
    names: Sequence[str]
    speakers: Sequence[str]
    texts: Sequence[str]
    seconds: Sequence[float] = ()
    _each: dict[Any, list[Any]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def each(self, compute: Callable[[np.ndarray, np.ndarray, int], Result]) -> list[Result]:
        """``compute(original, changed, rate)`` of each recording; its results are remembered."""
        if compute not in self._each:
            pairs = zip(self.original, self.changed, strict=True)
            self._each[compute] = [compute(x, y, self.rate) for x, y in pairs]
        return self._each[compute]

    def part(self, places: Sequence[int] | np.ndarray) -> SpeechPairs:
        """Some of the recordings, with what is known of each of them.

        Args:
            places: of the recordings.
        """
        taken = SpeechPairs(
            _taken(self.original, places),
            _taken(self.changed, places),
            self.rate,
            _taken(self.names, places),
            _taken(self.speakers, places),
            _taken(self.texts, places),
            _taken(self.seconds, places) if self.seconds else (),
            **self.bootstrap,
        )
        taken._each.update({one: _taken(known, places) for one, known in self._each.items()})
        return taken


@dataclass(frozen=True)
class RecognisedWords(_Input):
    """Reference texts and what a recogniser made of the recordings.

    Args:
        references, hypotheses: texts in one order.
        names, speakers: of the recordings.
    """

    references: Sequence[str]
    hypotheses: Sequence[str]
    names: Sequence[str]
    speakers: Sequence[str]

    def part(self, places: Sequence[int] | np.ndarray) -> RecognisedWords:
        """Some of the recordings, as of :meth:`SpeechPairs.part`."""
        columns = (self.references, self.hypotheses, self.names, self.speakers)
        return RecognisedWords(*(_taken(column, places) for column in columns), **self.bootstrap)


@dataclass(frozen=True)
class RecognisedPhones(_Input):
    """Pronunciations of reference texts and the phones that a recogniser found.

    Args:
        references: of each recording the words, of each word its pronunciations, of each of these
            the phones with blanks between.
        hypotheses: phones of each recording, in the same order.
        names, speakers: of the recordings.
    """

    references: Sequence[Sequence[Sequence[str]]]
    hypotheses: Sequence[Sequence[str]]
    names: Sequence[str]
    speakers: Sequence[str]

    def part(self, places: Sequence[int] | np.ndarray) -> RecognisedPhones:
        """Some of the recordings, as of :meth:`SpeechPairs.part`."""
        columns = (self.references, self.hypotheses, self.names, self.speakers)
        return RecognisedPhones(*(_taken(column, places) for column in columns), **self.bootstrap)


@dataclass(frozen=True)
class GuessedLabels(_Input):
    """Labels of recordings and a classifier's guesses of them.

    Args:
        labels, guesses: of each recording.
        speakers: of the recordings.
    """

    labels: Sequence[str]
    guesses: Sequence[str]
    speakers: Sequence[str]


class GuessedEmotions(GuessedLabels):
    """Guesses of emotions."""


class GuessedAccents(GuessedLabels):
    """Guesses of accents."""


@dataclass(frozen=True)
class VoiceVectors(_Input):
    """Speaker vectors of recordings before and after anonymization.

    Args:
        original, published: ``[recording, dimension]``, each of length one.
        speakers: of the recordings.
    """

    original: np.ndarray
    published: np.ndarray
    speakers: np.ndarray

    def similarity(self, block: str) -> Similarity:
        """The voice similarity matrix ``oo``, ``oa`` or ``aa``: original, anonymized, by cosine."""
        if block not in self._results:
            rows, columns = ({"o": self.original, "a": self.published}[side] for side in block)
            itself = np.eye(len(self.speakers), dtype=bool)
            self._results[block] = similarity_matrix(
                rows @ columns.T, self.speakers, self.speakers, same_segment=itself
            )
        found: Similarity = self._results[block]
        return found

    def part(self, places: Sequence[int] | np.ndarray) -> VoiceVectors:
        """Some of the recordings, as of :meth:`SpeechPairs.part`."""
        columns = (self.original, self.published, self.speakers)
        return VoiceVectors(*(column[places] for column in columns), **self.bootstrap)

    def without(self, names: np.ndarray) -> VoiceVectors:
        """The vectors of all but some speakers."""
        return self.part(np.flatnonzero(~np.isin(self.speakers, names)))

    def jackknifed(self) -> list[VoiceVectors]:
        """The vectors without each group of :mod:`.jackknife`, for all figures alike."""
        return self.once(_jackknifed)

    def voices(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean vector of each speaker before and after, ``[speaker, dimension]``."""
        before, after = (speaker_means(v, self.speakers) for v in (self.original, self.published))
        return before, after


def _taken(values: Sequence[Any], places: Sequence[int] | np.ndarray) -> list[Any]:
    return [values[place] for place in places]


def _jackknifed(voices: VoiceVectors) -> list[VoiceVectors]:
    return [voices.without(names) for names in jackknife.groups(voices.speakers, voices.seed)]


def speaker_means(vectors: np.ndarray, speakers: np.ndarray) -> np.ndarray:
    """The mean vector of each speaker, ``[speaker, dimension]``, in the order of their names.

    Args:
        vectors: ``[recording, dimension]``.
        speakers: of the recordings.
    """
    return np.stack([vectors[speakers == name].mean(0) for name in sorted(set(speakers))])
