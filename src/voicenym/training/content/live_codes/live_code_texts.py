"""Windows of whole recordings with their words, for live encoders that a decoder reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from voicenym.errors import CorpusError
from voicenym.nets.masked_batch import padded
from voicenym.nets.words.whisper.whisper import STATE
from voicenym.training.content.live_codes.live_code_windows import SpeakerWindows, Taught, whole
from voicenym.training.content.word_codes.word_code_batches import texts
from voicenym.training.speech.epoch_sampling import Epoch


class TextWindow(NamedTuple):
    """Recordings of one speaker in a row.

    Args:
        samples: ``[time]`` float32 at 16 kHz, of whole codes.
        vectors: ``[code, element]`` float32, the teacher's.
        tokens: ``[token]``, with prefix and end; of a window without words these alone.
        prefix: tokens that are not asked for.
    """

    samples: np.ndarray
    vectors: np.ndarray
    tokens: np.ndarray
    prefix: int


class TextBatch(NamedTuple):
    """Windows padded to a batch.

    Args:
        samples: ``[row, time]``, of whole chunks.
        vectors: ``[row, code, element]``, zeros behind.
        lengths: ``[row]``, states.
        tokens, wanted: as of
        :class:`~voicenym.training.content.word_codes.word_code_batches.Batch`.
    """

    samples: torch.Tensor
    vectors: torch.Tensor
    lengths: torch.Tensor
    tokens: torch.Tensor
    wanted: torch.Tensor


class TextWindows(Epoch[TextWindow]):
    """An epoch of windows of whole recordings, each of one speaker; all speakers are drawn equally
    often.

    Args:
        speech: with vectors.
        texts: tokens of the text of each, by the stem of its recording's file in the speech cache;
            recordings that have none are left out.
        begin, end: tokens around a window's text.
        states: of Whisper in a window, at most; longer recordings are left out.
        every: states of a code.
        count: windows of an epoch.
        gains: least and greatest random gain, in dB.
        seed: of the draws.
        wordless: share of windows of any recordings, from anywhere to anywhere, without words.

    Raises:
        CorpusError: no recording with a text fits.
    """

    def __init__(
        self,
        speech: Sequence[Taught],
        texts: Mapping[str, Sequence[int]],
        begin: Sequence[int],
        end: int,
        states: int,
        every: int,
        count: int,
        gains: tuple[float, float] = (0.0, 0.0),
        seed: int = 0,
        wordless: float = 0.0,
    ) -> None:
        super().__init__(count, seed, 10)
        self._wordless = wordless
        self._parts = SpeakerWindows(speech, states, every, count, gains, seed)
        self._texts, self._begin, self._end = texts, tuple(begin), end
        self._most, self._hop, self._gains = states // every, every * STATE, gains
        self._speakers: dict[str, list[Taught]] = {}
        for one in speech:
            if one.name in texts and 0 < one.utterance.length <= self._most * self._hop:
                self._speakers.setdefault(one.utterance.speaker, []).append(one)
        if not self._speakers:
            raise CorpusError(
                f"no recording of up to {states * STATE / 16_000:g} s has a text; give texts, or "
                "'words: 0' in the configuration"
            )
        self._names = sorted(self._speakers)

    def drawn(self, rng: np.random.Generator) -> TextWindow:
        if rng.random() < self._wordless:
            samples, target = (x.numpy() for x in self._parts.drawn(rng))
            none = np.array([*self._begin, self._end])
            return TextWindow(samples, target, none, len(none))
        own = self._speakers[self._names[int(rng.integers(len(self._names)))]]
        sounds: list[np.ndarray] = []
        vectors: list[np.ndarray] = []
        tokens = list(self._begin)
        wanted = int(rng.integers(1, self._most + 1))
        while True:
            one = own[int(rng.integers(len(own)))]
            found = np.load(one.vectors, allow_pickle=False)
            if sounds and sum(map(len, vectors)) + len(found) > wanted:
                break
            sounds.append(whole(one.utterance.samples(), len(found) * self._hop))
            vectors.append(found)
            tokens += self._texts[one.name]
        gain = np.float32(10.0 ** (rng.uniform(*self._gains) / 20.0))
        return TextWindow(
            np.clip(gain * np.concatenate(sounds), -1.0, 1.0),
            np.concatenate(vectors).astype(np.float32),
            np.array([*tokens, self._end]),
            len(self._begin),
        )


def text_batch(
    windows: Sequence[TextWindow], every: int, chunk: int, places: torch.Tensor
) -> TextBatch:
    """Windows padded to a batch of whole chunks.

    Args:
        windows: of :class:`TextWindows`.
        every: states of a code.
        chunk: states of a chunk, or a common multiple of those of several.
        places: of each token among those that scores are made for.
    """
    samples, sizes = padded([torch.from_numpy(one.samples) for one in windows])
    samples = torch.nn.functional.pad(samples, (0, -samples.shape[1] % (chunk * STATE)))
    vectors, _ = padded([torch.from_numpy(one.vectors) for one in windows])
    missing = samples.shape[1] // (every * STATE) - vectors.shape[1]
    vectors = torch.nn.functional.pad(vectors, (0, 0, 0, missing))
    tokens, wanted = texts(windows, places)
    return TextBatch(samples, vectors, sizes // STATE, tokens, wanted)
