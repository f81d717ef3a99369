"""Authorship attribution: comparison of speakers by frequencies of words and phones.

Profiles of n-grams are compared like documents: by the cosine of tf-idf weights (Salton and
Buckley, "Term-weighting approaches in automatic text retrieval", 1988), and by the cosine Delta of
the most frequent items (Burrows, "Delta: a measure of stylistic difference", 2002; Evert et al.,
"Understanding and explaining Delta measures for authorship attribution", 2017). Phone n-grams as
features of a speaker after Andrews, Kohler and Campbell, "Phonetic speaker recognition" (2001);
words alone find speakers of LibriSpeech (Tomashenko et al., "Exploiting context-dependent
linguistic content for privacy attacks", arXiv 2506.09521, with BERT).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voicenym.errors import VoicenymError
from voicenym.verification.scoring import Array, unit

MOST_FREQUENT = 150
"""Items that Delta compares."""
MULTIPLIER = 1_000_003
"""Of the first item in the hash of a pair."""


def profiles(sequences: Sequence[npt.NDArray[np.integer]], order: int, size: int) -> Array:
    """Counts of n-grams, ``[recording, size]``; hashed where there are more n-grams than places.

    Args:
        sequences: items of each recording as numbers from 0 on.
        order: 1 for single items, 2 for pairs.
        size: number of places.

    Example:
        >>> profiles([np.array([0, 1, 1])], 1, 3)
        array([[1., 2., 0.]])
    """
    counts = np.zeros((len(sequences), size))
    for row, items in enumerate(sequences):
        numbers = np.asarray(items, dtype=np.int64)
        if order == 2:
            numbers = numbers[:-1] * MULTIPLIER + numbers[1:]
        counts[row] = np.bincount(numbers % size, minlength=size)
    return counts


@dataclass(frozen=True)
class TfIdf:
    """Cosine of tf-idf weights, with (1 + ln tf) ln((1 + N) / (1 + df)); a back end.

    Args:
        weight: inverse document frequency of each item, ``[item]``.
    """

    weight: Array

    @classmethod
    def train(cls, counts: Array, speakers: Sequence[str] | np.ndarray) -> TfIdf:
        """Document frequencies of other people's recordings.

        Args:
            counts: ``[recording, item]``.
            speakers: of each recording; not used.

        Raises:
            VoicenymError: no recording.
        """
        if not len(counts):
            raise VoicenymError("no recordings of other people to count n-grams in")
        frequency = (counts > 0).sum(0)
        return cls(np.log((1.0 + len(counts)) / (1.0 + frequency)))

    def score(self, enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
        """Cosines ``[model, trial]``; 0 where nothing is recognised."""
        models = self._weighed(np.stack([np.asarray(x).sum(0) for x in enrolment]))
        return models @ self._weighed(np.asarray(trials)).T

    def _weighed(self, counts: npt.NDArray[np.floating]) -> Array:
        counts = np.asarray(counts, dtype=np.float64)
        frequency = np.where(counts > 0, 1.0 + np.log(np.maximum(counts, 1.0)), 0.0)
        return unit(frequency * self.weight)


@dataclass(frozen=True)
class CosineDelta:
    """Cosine of standardised relative frequencies of the most frequent items; a back end.

    Args:
        items: the most frequent ones, ``[item]``.
        mean, scale: of their relative frequencies in other people's recordings, ``[item]``.
    """

    items: npt.NDArray[np.int64]
    mean: Array
    scale: Array

    @classmethod
    def train(cls, counts: Array, speakers: Sequence[str] | np.ndarray) -> CosineDelta:
        """Statistics of other people's recordings.

        Args:
            counts: ``[recording, item]``.
            speakers: of each recording; not used.

        Raises:
            VoicenymError: nothing is recognised in any recording.
        """
        total = counts.sum(0)
        items = np.argsort(-total, kind="stable")[:MOST_FREQUENT]
        items = items[total[items] > 0]
        if not len(items):
            raise VoicenymError("nothing is recognised in the speech of other people")
        frequencies = _relative(counts)[:, items]
        return cls(items, frequencies.mean(0), frequencies.std(0) + 1e-4)

    def score(self, enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
        """Cosines ``[model, trial]``."""
        models = self._standard(np.stack([np.asarray(x).sum(0) for x in enrolment]))
        return models @ self._standard(np.asarray(trials)).T

    def _standard(self, counts: npt.NDArray[np.floating]) -> Array:
        return unit((_relative(counts)[:, self.items] - self.mean) / self.scale)


def _relative(counts: npt.NDArray[np.floating]) -> Array:
    found: Array = counts / np.maximum(counts.sum(1, keepdims=True), 1.0)
    return found
