"""Extractors of single channels: timed phones, words, prosody trajectories, and room.

An extractor is a verifier whose vectors hold measures, not a voice; the vector cache keeps them.
Timed phones and words have as many elements as the recording needs.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voicenym.nets.words.phone_states.phones import SILENCE
from voicenym.recognition.sphinx_processes.segment_decoding import SegmentDecoder
from voicenym.verification import prosody, room_measures
from voicenym.verification.given_recordings import tensors
from voicenym.verification.gmm_ubm import fingerprint
from voicenym.verification.scoring import Array, unit
from voicenym.verification.verifier import Verifier

if TYPE_CHECKING:
    from voicenym.nets.statistics.background_model import Background

PHONES = (
    SILENCE, "AA", "AE", "AH", "AO", "AW", "AY", "B", "CH", "D", "DH", "EH", "ER", "EY", "F", "G",
    "HH", "IH", "IY", "JH", "K", "L", "M", "N", "NG", "OW", "OY", "P", "R", "S", "SH", "T", "TH",
    "UH", "UW", "V", "W", "Y", "Z", "ZH",
)  # fmt: skip
"""Phones of the phone loop in the order of their numbers."""
NUMBER = {name: number for number, name in enumerate(PHONES)}
WORD_BITS = 0xFFFFFF
"""Words are hashes of 24 bits, which float32 holds exactly."""
UNKNOWN = -1e30
"""Stands for NaN in stored vectors, which must be finite."""


class TimedPhones(Verifier):
    """The phones of a recording and their durations, by pocketsphinx's phone loop.

    Vectors are ``[length, phone, frames, phone, frames...]``: the number of phones, then numbers of
    :data:`PHONES` and frames of 10 ms.
    """

    name = "timed phones"
    version = "1"

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        found: Any = np.empty(len(recordings), dtype=object)
        for place, samples in enumerate(recordings):
            segments = _decoder("phones").decode(samples)
            pairs = [(NUMBER.get(s.name, 0), s.frames) for s in segments]
            flat = [float(len(pairs)), *(float(x) for pair in pairs for x in pair)]
            found[place] = np.array(flat, dtype=np.float32)
        return found


class SpokenWords(Verifier):
    """The words of a recording, by pocketsphinx's model of free text with narrow beams.

    Vectors are ``[length, word...]``: the number of words, then their hashes.
    """

    name = "spoken words"
    version = "1"

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        found: Any = np.empty(len(recordings), dtype=object)
        for place, samples in enumerate(recordings):
            segments = _decoder("words").decode(samples)
            words = [hashed(s.name) for s in segments if s.name != SILENCE]
            found[place] = np.array([len(words), *words], dtype=np.float32)
        return found


class ProsodyMeasures(Verifier):
    """Prosody measures as they are (:func:`voicenym.verification.prosody.measure`)."""

    name = "prosody measures"
    version = f"{prosody.METHOD}"

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        return known(prosody.measure(recordings))


class RoomMeasures(Verifier):
    """Measures of room and channel (:func:`voicenym.verification.room_measures.measure`)."""

    name = "room measures"
    version = f"{room_measures.METHOD}"

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        return known(room_measures.measure(recordings))


class PlainIVectors(Verifier):
    """i-vectors of an extractor, before the LDA and PLDA that were trained with it.

    Args:
        folder: of a trained :class:`~voicenym.verification.ivector.IVector`.
    """

    def __init__(self, folder: Path) -> None:
        self.name = "plain i-vectors"
        self.folder = folder
        self.version = fingerprint(folder)

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        found = _extractor(self.folder, self.version).ivectors(tensors(recordings)).numpy()
        return unit(found).astype(np.float32)


@lru_cache(maxsize=2)
def _extractor(folder: Path, version: str) -> Background:
    from voicenym.nets.checkpoint import read, rebuilding
    from voicenym.nets.statistics.background_model import Background

    with rebuilding(folder):
        return Background.of(*read(folder))


@lru_cache(maxsize=2)
def _decoder(kind: str) -> SegmentDecoder:
    """Decoder process of each kind, cached for the life of this process."""
    return SegmentDecoder(kind)


def known(measures: Array) -> npt.NDArray[np.float32]:
    """Measures with :data:`UNKNOWN` in place of NaN."""
    return np.nan_to_num(measures, nan=UNKNOWN).astype(np.float32)


def measures_of(vectors: Sequence[npt.NDArray[np.floating]]) -> Array:
    """Inverse of :func:`known`: ``[recording, measure]`` with NaN."""
    numbers = np.stack([np.asarray(vector, dtype=np.float64) for vector in vectors])
    return np.where(numbers <= UNKNOWN / 2.0, np.nan, numbers)


def timed_phones_of(vectors: Sequence[npt.NDArray[np.floating]]) -> list[list[tuple[str, int]]]:
    """Phones and their numbers of frames, by recording."""
    pairs = [np.asarray(vector[1:]).astype(int).reshape(-1, 2).tolist() for vector in vectors]
    return [[(PHONES[phone], frames) for phone, frames in own] for own in pairs]


def phones_of(vectors: Sequence[npt.NDArray[np.floating]]) -> list[npt.NDArray[np.int64]]:
    """Numbers of the phones of each recording, silences among them."""
    return [np.asarray(vector[1::2]).astype(np.int64) for vector in vectors]


def words_of(vectors: Sequence[npt.NDArray[np.floating]]) -> list[npt.NDArray[np.int64]]:
    """Hashes of the words of each recording."""
    return [np.asarray(vector[1:]).astype(np.int64) for vector in vectors]


def hashed(word: str) -> int:
    """Number of a word in 24 bits, the same in every process."""
    return zlib.crc32(word.lower().encode()) & WORD_BITS
