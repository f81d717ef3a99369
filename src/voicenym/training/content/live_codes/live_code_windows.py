"""Windows of speech with the vectors that an encoder of whole recordings gives for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from voicenym.errors import CorpusError
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.words.whisper.whisper import STATE
from voicenym.nets.words.word_codes.live_word_codes import together
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.private import private_folder
from voicenym.training.content.native_codes.native_code_windows import paced
from voicenym.training.content.native_codes.native_vectors import native_vectors
from voicenym.training.content.units.train_units import identity, keep
from voicenym.training.speech.epoch_sampling import Epoch
from voicenym.training.speech.speech_cache import Utterance

Item = tuple[torch.Tensor, torch.Tensor]
"""Samples ``[time]`` of whole chunks, and vectors ``[code, element]``."""


class Taught(NamedTuple):
    """An utterance and the vectors of its codes.

    Args:
        utterance: its samples.
        vectors: a ``.npy``, ``[code, element]`` float16.
    """

    utterance: Utterance
    vectors: Path

    @property
    def name(self) -> str:
        """Stem of its recording's file in the speech cache, the same at every pace."""
        return self.utterance.path.stem


@torch.inference_mode()
def taught(
    speech: Sequence[Utterance],
    content: WordCodeContent,
    teacher: WordCodeEncoder,
    folder: Path,
    paces: Sequence[float] = (1.0,),
    say: Callable[[str], None] = lambda text: None,
) -> list[Taught]:
    """Utterances with the teacher's vectors, which are kept in a folder.

    Utterances longer than a window of Whisper are left out.

    Args:
        speech: the utterances.
        content: whose states the teacher reads.
        teacher: of whole recordings.
        folder: of the vectors, readable by its owner alone.
        paces: at which each utterance is taken, times its own; pitch and formants go with it.
        say: receives the number that are done.

    Raises:
        VoicenymError: vectors cannot be kept.
    """
    known = together(content.encoder, teacher)
    place = private_folder(folder, "vectors of speech") / identity({"teacher": known})
    found = []
    for done, whole in enumerate(speech, 1):
        for pace in paces:
            utterance = paced(whole, pace)
            if utterance.length > content.most_samples:
                continue
            path = place / f"{whole.path.stem}-{pace:g}.npy"
            if not path.is_file():
                keep(path, native_vectors(utterance, content, teacher))
            found.append(Taught(utterance, path))
        if done % 500 == 0:
            say(f"vectors of {done} of {len(speech)} utterances")
    return found


class SpeakerWindows(Epoch[Item]):
    """An epoch of windows, each of recordings of one speaker in a row, as in a stream.

    Args:
        speech: with vectors; all speakers are drawn equally often.
        states: of Whisper in a window.
        every: states of a code.
        count: windows of an epoch.
        gains: least and greatest random gain, in dB.
        seed: of the draws.

    Raises:
        CorpusError: no speech.
    """

    def __init__(
        self,
        speech: Sequence[Taught],
        states: int,
        every: int,
        count: int,
        gains: tuple[float, float] = (0.0, 0.0),
        seed: int = 0,
    ) -> None:
        super().__init__(count, seed, 9)
        self._speakers: dict[str, list[Taught]] = {}
        for one in speech:
            if one.utterance.length:
                self._speakers.setdefault(one.utterance.speaker, []).append(one)
        if not self._speakers:
            raise CorpusError("no speech to learn from; give recordings of up to 30 s")
        self._names = sorted(self._speakers)
        self._codes, self._every, self._gains = states // every, every, gains

    def drawn(self, rng: np.random.Generator) -> Item:
        own = self._speakers[self._names[int(rng.integers(len(self._names)))]]
        hop = self._every * STATE
        sounds: list[np.ndarray] = []
        vectors: list[np.ndarray] = []
        wanted = self._codes + int(rng.integers(self._codes))
        while sum(map(len, vectors)) < wanted:
            one = own[int(rng.integers(len(own)))]
            found = np.load(one.vectors, allow_pickle=False)
            sounds.append(whole(one.utterance.samples(), len(found) * hop))
            vectors.append(found)
        start = int(rng.integers(sum(map(len, vectors)) - self._codes + 1))
        sound = np.concatenate(sounds)[start * hop :][: self._codes * hop]
        gain = 10.0 ** (rng.uniform(*self._gains) / 20.0)
        target = np.concatenate(vectors)[start:][: self._codes].astype(np.float32)
        loud = torch.from_numpy(sound * np.float32(gain)).clamp(-1.0, 1.0)
        return loud, torch.from_numpy(target)


class WholeSpeech(torch.utils.data.Dataset[Item]):
    """Utterances with their vectors, up to the last whole chunk, for validation.

    Args:
        speech: with vectors.
        chunk: states of a chunk.
        every: of a code.

    Raises:
        CorpusError: no utterance of a whole chunk.
    """

    def __init__(self, speech: Sequence[Taught], chunk: int, every: int) -> None:
        self._chunk, self._every = chunk, every
        self._speech = [one for one in speech if one.utterance.length >= chunk * STATE]
        if not self._speech:
            raise CorpusError("no speech of held-out speakers; give more speakers")

    def __len__(self) -> int:
        return len(self._speech)

    def __getitem__(self, index: int) -> Item:
        one = self._speech[index]
        chunks = one.utterance.length // (self._chunk * STATE)
        samples = torch.from_numpy(one.utterance.samples(0, chunks * self._chunk * STATE))
        vectors = np.load(one.vectors, allow_pickle=False)[: chunks * self._chunk // self._every]
        return samples, torch.from_numpy(vectors.astype(np.float32))


def whole(samples: np.ndarray, length: int) -> np.ndarray:
    """Samples ``[time]`` with silence up to a length."""
    return np.pad(samples, (0, length - len(samples)))
