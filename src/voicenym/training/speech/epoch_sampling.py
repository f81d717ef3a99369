"""Epochs of random items that are the same in every run.

An item depends on the seed, the epoch and its index alone, whichever process makes it, so that an
interrupted training continues with the same items.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np
import torch

from voicenym.errors import CorpusError
from voicenym.training.speech.speech_cache import Utterance

T = TypeVar("T")
L = TypeVar("L")


class Epoch(torch.utils.data.Dataset[T], ABC):
    """An epoch of random items; :meth:`advance` selects another one.

    Args:
        count: items in an epoch.
        seed: of the draws: one number, or several.
    """

    def __init__(self, count: int, *seed: int) -> None:
        self._count, self._seed, self._epoch = count, seed, 0

    def advance(self, epoch: int) -> None:
        """Go to an epoch."""
        self._epoch = epoch

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> T:
        if not 0 <= index < self._count:
            raise IndexError(index)
        return self.drawn(np.random.default_rng((*self._seed, self._epoch, index)))

    @abstractmethod
    def drawn(self, rng: np.random.Generator) -> T:
        """An item."""


class HasUtterance(Protocol):
    """Anything with an utterance."""

    @property
    def utterance(self) -> Utterance: ...


K = TypeVar("K", bound=HasUtterance)


class LongCrops(Epoch[T], Generic[K, T]):
    """An epoch of crops, each of an utterance drawn in proportion to its length.

    Args:
        items: to crop; those shorter than a crop are left out.
        length: of an item.
        least: length of a crop, in the same unit.
        seconds: of a crop, for the error.
        count: crops in an epoch.
        seed: of the draws.

    Attributes:
        items: those that are long enough.
        places: the position of each of these among all that were given.
        speakers: of these, sorted.
        labels: number of each item's speaker.

    Raises:
        CorpusError: nothing is long enough.
    """

    def __init__(
        self,
        items: Sequence[K],
        length: Callable[[K], int],
        least: int,
        seconds: float,
        count: int,
        seed: int,
    ) -> None:
        super().__init__(count, seed)
        self.places = [place for place, item in enumerate(items) if length(item) >= least]
        self.items = [items[place] for place in self.places]
        if not self.items:
            raise CorpusError(
                f"no recording is {seconds} s long; give longer ones, or take a shorter crop"
            )
        self.speakers = sorted({item.utterance.speaker for item in self.items})
        number = {name: i for i, name in enumerate(self.speakers)}
        self.labels = [number[item.utterance.speaker] for item in self.items]
        lengths = np.array([length(item) for item in self.items], dtype=np.float64)
        self._share = np.cumsum(lengths / lengths.sum())

    def picked(self, rng: np.random.Generator) -> int:
        """Index of an item, drawn in proportion to its length."""
        return min(int(np.searchsorted(self._share, rng.random())), len(self.items) - 1)


class PaddedCrops(Epoch[T], Generic[L, T]):
    """An epoch of crops of utterances of any length, each drawn in proportion to its length.

    Args:
        items: to crop; at least one.
        lengths: of the items.
        size: length of a crop, in the same unit; shorter items begin at 0.
        count: crops in an epoch.
        seed: of the draws.
    """

    def __init__(
        self, items: Sequence[L], lengths: Sequence[int], size: int, count: int, seed: int
    ) -> None:
        super().__init__(count, seed)
        self._items, self._lengths, self.size = list(items), list(lengths), size
        self._share = np.cumsum(np.array(lengths, dtype=np.float64) / sum(lengths))

    def placed(self, rng: np.random.Generator) -> tuple[L, int]:
        """An item, and where its crop begins."""
        place = min(int(np.searchsorted(self._share, rng.random())), len(self._items) - 1)
        room = max(0, self._lengths[place] - self.size)
        return self._items[place], int(rng.integers(room + 1))
