"""Dataset of speech with targets for every frame: states of phones, and codes of words.

States come from aligned transcripts, a target every 10 ms; codes from a content encoder of word
codes (:mod:`voicenym.nets.words.word_codes.word_code_content`), which needs no transcript, a target
every 40 ms. A recording has one of them or both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.checkpoint import fingerprint
from voicenym.nets.content.content_encoder import RATE
from voicenym.nets.content.tdnnf import HOP
from voicenym.nets.content.word_code_bottleneck import BUNDLED
from voicenym.nets.words.phone_states.phones import Phone, States
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.training.content.units.train_units import identity, keep
from voicenym.training.speech.epoch_sampling import Epoch
from voicenym.training.speech.speech_cache import Utterance

NONE = -100
"""Label of frames without a target."""
LONGEST = 10.0
"""Longest part of an utterance in validation, in seconds."""


@dataclass(frozen=True)
class Labelled:
    """An utterance and its targets.

    Args:
        utterance: its samples.
        phones: one after another; None without an alignment.
        codes: a ``.npy`` of the numbers of its codes, ``[code]`` int16; None without codes.
    """

    utterance: Utterance
    phones: tuple[Phone, ...] | None
    codes: Path | None


class FrameTargets(NamedTuple):
    """A crop, or a batch of crops.

    Args:
        samples: ``[time]`` float32, zeros after the end.
        frames: number of valid frames of 10 ms.
        states: ``[frame / shared]``, :data:`NONE` where unknown.
        codes: ``[frame / every]``, likewise.
        speaker: number of the speaker; :data:`NONE` where nobody asks.
    """

    samples: torch.Tensor
    frames: torch.Tensor
    states: torch.Tensor
    codes: torch.Tensor
    speaker: torch.Tensor


def word_code_encoder(place: str) -> WordCodeContent:
    """Content encoder of word codes, as a source of labels.

    Args:
        place: its folder, or ``bundled`` for the package's.

    Raises:
        VoicenymError: another encoder, or codes of several codebooks.
    """
    from voicenym.nets.content import content_encoders
    from voicenym.nets.encoder_folders import folder_of

    folder = BUNDLED if place == "bundled" else folder_of("content", place)
    found = content_encoders.load(folder)
    if not isinstance(found, WordCodeContent):
        raise VoicenymError(f"{place}: is {found.kind}; give word codes")
    if found.codes.sizes.books != 1:
        raise VoicenymError(
            f"the word codes have {found.codes.sizes.books} codebooks; give codes of one"
        )
    return found


def code_files(content: WordCodeContent, speech: Sequence[Utterance], folder: Path) -> list[Path]:
    """Files with the codes of utterances, extracted where they are missing.

    Args:
        content: of :func:`word_code_encoder`.
        speech: of any length.
        folder: of the files, of these weights alone.

    Raises:
        VoicenymError: a file that cannot be written.
    """
    place = folder / identity({"kind": content.kind, "weights": fingerprint(content.state_dict())})
    found = []
    for utterance in speech:
        path = place / f"{utterance.path.stem}.npy"
        if not path.is_file():
            with torch.inference_mode():
                entries = content.extract(torch.from_numpy(utterance.samples()))
            keep(path, numbers_of(content, entries))
        found.append(path)
    return found


def numbers_of(content: WordCodeContent, entries: torch.Tensor) -> np.ndarray:
    """Numbers ``[code]`` int16 of codebook vectors ``[code, element]``: the nearest entries."""
    count = content.codes.sizes.entries
    with torch.inference_mode():
        book = content.codes.quantizer.looked_up(torch.arange(count)[None, None])[0].T
        return torch.cdist(entries.float(), book.float()).argmin(1).numpy().astype(np.int16)


def crop(
    one: Labelled,
    states: States,
    every: int,
    first: int,
    count: int,
    shared: int = 1,
    speaker: int = NONE,
) -> FrameTargets:
    """``count`` frames of an utterance from ``first`` on, padded where it is shorter.

    Args:
        one: the utterance.
        states: of the phones.
        every: frames of a code; ``first`` and ``count`` are multiples of it.
        first, count: in frames of 10 ms.
        shared: of these frames for one label of states, that of their middle.
        speaker: its number.
    """
    kept = min(count, one.utterance.length // HOP - first)
    samples = torch.zeros(count * HOP)
    samples[: kept * HOP] = torch.from_numpy(one.utterance.samples(first * HOP, kept * HOP))
    of_states, of_codes = torch.full((count,), NONE), torch.full((count // every,), NONE)
    if one.phones is not None:
        # labels of the whole utterance, so that a phone that the crop cuts keeps its halves; the
        # time of a frame is its middle
        middle = 0.5 * HOP / RATE
        moved = [Phone(n, s - middle, e - middle) for n, s, e in one.phones]
        labels = states.labels(moved, one.utterance.length // HOP, HOP / RATE)
        of_states[:kept] = torch.from_numpy(labels[first : first + kept])
    if one.codes is not None:
        numbers = np.load(one.codes, allow_pickle=False)[first // every :][: kept // every]
        of_codes[: len(numbers)] = torch.from_numpy(numbers.astype(np.int64))
    whole = kept // shared * shared
    return FrameTargets(
        samples,
        torch.tensor(whole),
        of_states[shared // 2 :: shared],
        of_codes,
        torch.tensor(speaker),
    )


def numbered(speech: Iterable[Utterance]) -> dict[str, int]:
    """Speakers of utterances by name, numbered in the order of their names."""
    return {name: i for i, name in enumerate(sorted({one.speaker for one in speech}))}


class TargetCrops(Epoch[FrameTargets]):
    """An epoch of crops; an utterance is drawn in proportion to its length.

    Args:
        speech: to crop; shorter utterances are padded with zeros.
        states: of the phones.
        every: frames of a code.
        seconds: length of a crop.
        count: crops in an epoch.
        seed: of the draws.
        shared: see :func:`crop`; ``every`` is a multiple of it.

    Raises:
        CorpusError: nothing to crop.
    """

    def __init__(
        self,
        speech: Sequence[Labelled],
        states: States,
        every: int,
        seconds: float,
        count: int,
        seed: int = 0,
        shared: int = 1,
    ) -> None:
        super().__init__(count, seed, 8)
        self._speech = [one for one in speech if one.utterance.length >= every * HOP]
        if not self._speech:
            raise CorpusError("no utterances to learn from; give a corpus of speech")
        self._states, self._every, self._shared = states, every, shared
        self._numbers = numbered(one.utterance for one in speech)
        self._frames = max(1, round(seconds * RATE / HOP / every)) * every
        lengths = np.array([one.utterance.length for one in self._speech], dtype=np.float64)
        self._share = np.cumsum(lengths / lengths.sum())

    def drawn(self, rng: np.random.Generator) -> FrameTargets:
        place = min(int(np.searchsorted(self._share, rng.random())), len(self._speech) - 1)
        one = self._speech[place]
        room = max(0, one.utterance.length // HOP - self._frames) // self._every
        first = int(rng.integers(room + 1)) * self._every
        number = self._numbers[one.utterance.speaker]
        return crop(one, self._states, self._every, first, self._frames, self._shared, number)


class WholeTargets(torch.utils.data.Dataset[FrameTargets]):
    """Beginnings of utterances, :data:`LONGEST` seconds at most, for validation."""

    def __init__(
        self, speech: Sequence[Labelled], states: States, every: int, shared: int = 1
    ) -> None:
        self._speech = [one for one in speech if one.utterance.length >= every * HOP]
        self._states, self._every, self._shared = states, every, shared

    def __len__(self) -> int:
        return len(self._speech)

    def __getitem__(self, index: int) -> FrameTargets:
        one = self._speech[index]
        length = min(one.utterance.length, round(LONGEST * RATE))
        frames = length // HOP // self._every * self._every
        return crop(one, self._states, self._every, 0, frames, self._shared)
