"""Branches of channel attackers: an extractor, its measures, and their comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from voicenym.attack.channels.channel_extractors import (
    NUMBER,
    PHONES,
    ProsodyMeasures,
    RoomMeasures,
    SpokenWords,
    TimedPhones,
    measures_of,
    phones_of,
    timed_phones_of,
    words_of,
)
from voicenym.attack.channels.content_extractor import ContentUnits, codes_of, statistics_of
from voicenym.nets.words.phone_states.phones import SILENCE
from voicenym.verification import speech_timing, unit_lengths
from voicenym.verification.authorship import CosineDelta, TfIdf, profiles
from voicenym.verification.measure_comparison import MeasureComparison
from voicenym.verification.plda import PLDA
from voicenym.verification.principal_plda import PrincipalPLDA
from voicenym.verification.scoring import Array, Backend
from voicenym.verification.verifier import Verifier

WORD_PLACES = 8192
"""Sizes of the hash tables of words, of pairs of words, and of pairs of content units."""
UNITS = 512
"""Entries of the codebook of the bundled word codes."""
Vectors = Sequence[np.ndarray]


@dataclass(frozen=True)
class Branch:
    """One way to compare speakers by one channel.

    Args:
        name: for messages.
        extractor: whose vectors the cache keeps.
        measures: from its vectors to ``[recording, measure]``.
        train: fits a back end to measures ``[recording, measure]`` of other people and their names.
        keeps: whether some systems change the channel under no key. If so, copies under several
            keys would count as several recordings, and properties of the recording as properties of
            the speaker; :func:`voicenym.attack.fusion.branch_weights.copies_count` decides.
    """

    name: str
    extractor: Verifier
    measures: Callable[[Vectors], Array]
    train: Callable[[Array, Sequence[str]], Backend]
    keeps: bool = True


def _stacked(vectors: Vectors) -> Array:
    return np.stack([np.asarray(vector, dtype=np.float64) for vector in vectors])


def _timing(vectors: Vectors) -> Array:
    return speech_timing.measure(timed_phones_of(vectors))


def _phone_profiles(vectors: Vectors, order: int) -> Array:
    spoken = [phones[phones != NUMBER[SILENCE]] for phones in phones_of(vectors)]
    return profiles(spoken, order, len(PHONES) if order == 1 else len(PHONES) ** 2 + 1)


def _word_profiles(vectors: Vectors) -> Array:
    words = words_of(vectors)
    # counts are exact in single precision, and the pool's under all keys are many
    parts = [profiles(words, order, WORD_PLACES).astype(np.float32) for order in (1, 2)]
    found: Any = np.hstack(parts)
    return found


def voice(verifier: Verifier) -> Branch:
    """The vectors of a verifier of voices, with PLDA."""
    return Branch("voice", verifier, _stacked, PLDA.train, keeps=False)


def prosody() -> Branch:
    """Trajectories of level and pitch."""
    return Branch("trajectories", ProsodyMeasures(), measures_of, MeasureComparison.train)


def timing() -> Branch:
    """Rates, pauses, durations of phones, and rhythm."""
    return Branch("timing", TimedPhones(), _timing, MeasureComparison.train)


def words() -> list[Branch]:
    """Frequencies of phones and words."""
    phones = TimedPhones()
    single: Any = partial(_phone_profiles, order=1)
    pairs: Any = partial(_phone_profiles, order=2)
    return [
        Branch("frequent phones", phones, single, CosineDelta.train),
        Branch("pairs of phones", phones, pairs, TfIdf.train),
        Branch("words and pairs of words", SpokenWords(), _word_profiles, TfIdf.train),
    ]


def _unit_profiles(vectors: Vectors, order: int) -> Array:
    return profiles(codes_of(vectors), order, UNITS if order == 1 else WORD_PLACES)


def _unit_lengths(vectors: Vectors) -> Array:
    return unit_lengths.measure(codes_of(vectors))


def content() -> list[Branch]:
    """Frequencies and lengths of content units, and statistics of the states behind them."""
    units = ContentUnits()
    single: Any = partial(_unit_profiles, order=1)
    pairs: Any = partial(_unit_profiles, order=2)
    return [
        Branch("frequent units", units, single, CosineDelta.train),
        Branch("pairs of units", units, pairs, TfIdf.train),
        Branch("lengths of units", units, _unit_lengths, MeasureComparison.train),
        Branch("states of units", units, statistics_of, PrincipalPLDA.train),
    ]


def room() -> Branch:
    """Noise of pauses, decay, limits of the band, traces of codecs."""
    return Branch("room", RoomMeasures(), measures_of, MeasureComparison.train)
