"""Crops of speech with the units of their frames, and whole utterances for validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from voicenym.errors import CorpusError
from voicenym.nets.content.hubert import HOP
from voicenym.training.speech.epoch_sampling import Epoch
from voicenym.training.speech.speech_cache import Utterance

NONE = -100
"""Label of padding, in place of a unit."""
LONGEST = 10.0
"""Longest part of an utterance in validation, in seconds."""
Item = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""Samples ``[time]``, units ``[frame]`` and the number of frames, ``[]``; padded alike."""


class UnitCrops(Epoch[Item]):
    """An epoch of crops with their units.

    Args:
        speech: to crop; all utterances are drawn equally often.
        units: of their frames.
        seconds: length of a crop; shorter utterances are padded with zeros.
        count: crops in an epoch.
        seed: of the draws.

    Raises:
        CorpusError: nothing to crop.
    """

    def __init__(
        self,
        speech: Sequence[Utterance],
        units: Callable[[Utterance], np.ndarray],
        seconds: float,
        count: int,
        seed: int = 0,
    ) -> None:
        super().__init__(count, seed, 6)
        self._speech = [utterance for utterance in speech if utterance.length >= HOP]
        if not self._speech:
            raise CorpusError("no utterances to learn from; give a corpus of speech")
        self._units = units
        self._frames = max(1, round(seconds * 16_000 / HOP))

    def drawn(self, rng: np.random.Generator) -> Item:
        utterance = self._speech[int(rng.integers(len(self._speech)))]
        frames = utterance.length // HOP
        start = int(rng.integers(max(1, frames - self._frames + 1)))
        kept = min(frames, self._frames)
        samples = torch.zeros(self._frames * HOP)
        samples[: kept * HOP] = torch.from_numpy(utterance.samples(start * HOP, kept * HOP))
        units = torch.full((self._frames,), NONE)
        units[:kept] = torch.from_numpy(self._units(utterance)[start : start + kept].astype(int))
        return samples, units, torch.tensor(kept)


class WholeUtterances(torch.utils.data.Dataset[Item]):
    """Beginnings of utterances, one per item."""

    def __init__(
        self, speech: Sequence[Utterance], units: Callable[[Utterance], np.ndarray]
    ) -> None:
        self._speech = [utterance for utterance in speech if utterance.length >= HOP]
        self._units = units

    def __len__(self) -> int:
        return len(self._speech)

    def __getitem__(self, index: int) -> Item:
        utterance = self._speech[index]
        frames = min(utterance.length, round(LONGEST * 16_000)) // HOP
        samples = torch.from_numpy(utterance.samples(0, frames * HOP))
        units = torch.from_numpy(self._units(utterance)[:frames].astype(int))
        return samples[None], units[None], torch.tensor([frames])
