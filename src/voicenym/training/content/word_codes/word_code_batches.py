"""Batches of Whisper states for the training of word codes: windows of like length.

A batch joins windows of :mod:`voicenym.training.content.word_codes.word_state_dataset` whose
lengths differ little, with so much speech in each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import torch

from voicenym.nets.content.word_code_encoder import STATES_PER_SECOND
from voicenym.nets.masked_batch import padded
from voicenym.training.content.word_codes.word_state_dataset import Window, kept, text_of
from voicenym.training.speech.epoch_sampling import Epoch

ALIKE = 1.5
"""The longest window of a batch is at most so many times the shortest."""


class HasInputs(Protocol):
    """Any window: states of its speech, ``[state, size]``."""

    @property
    def inputs(self) -> np.ndarray: ...


class HasText(Protocol):
    """Any window: its text as tokens, with prefix and end, and the length of the prefix."""

    @property
    def tokens(self) -> np.ndarray: ...

    @property
    def prefix(self) -> int: ...


W = TypeVar("W", bound=HasInputs)
B = TypeVar("B")


class Batch(NamedTuple):
    """Windows of like length.

    Args:
        inputs: states of the input, ``[batch, state, size]``, zeros behind.
        states: the same of the original.
        lengths: ``[batch]``, states.
        tokens: ``[batch, token]``, the decoder's input.
        wanted: ``[batch, token]``, the next token; places in :class:`WordCoding`'s pieces, -100 for
            the prefix and after the end.
        targets: the decoder's output for the original states, ``[batch, token, width]``.
        speakers: ``[batch]``, their numbers; -1 where a window has several, or they do not matter.
    """

    inputs: torch.Tensor
    states: torch.Tensor
    lengths: torch.Tensor
    tokens: torch.Tensor
    wanted: torch.Tensor
    targets: torch.Tensor
    speakers: torch.Tensor


def batch(windows: Sequence[Window], places: torch.Tensor) -> Batch:
    """Windows padded to a batch.

    Args:
        windows: of the cache.
        places: of each token among those that scores are made for.
    """

    def half(found: Sequence[np.ndarray]) -> list[torch.Tensor]:
        return [torch.from_numpy(x).float() for x in found]

    inputs, lengths = padded(half([w.inputs for w in windows]))
    original = [w.inputs if w.states is None else w.states for w in windows]
    states, _ = padded(half(original))
    tokens, wanted = texts(windows, places)
    targets, _ = padded(half([w.targets for w in windows]))
    speakers = torch.tensor([w.speaker for w in windows])
    return Batch(inputs, states, lengths, tokens, wanted, targets, speakers)


class AlikeBatches(Epoch[B], Generic[W, B]):
    """An epoch of batches of windows of like length, with so much speech in each.

    Args:
        paths: of windows.
        seconds: of speech in a batch.
        count: batches in an epoch.
        seed: of the draws.
        read: a window.
        joined: a batch of windows.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        seconds: float,
        count: int,
        seed: int,
        read: Callable[[Path], W],
        joined: Callable[[Sequence[W]], B],
    ) -> None:
        super().__init__(count, seed)
        # a file's size grows with the window
        order = np.argsort([path.stat().st_size for path in paths], kind="stable")
        self._paths = [paths[i] for i in order]
        self._sizes = np.array([path.stat().st_size for path in self._paths], dtype=np.float64)
        self._share = np.cumsum(self._sizes / self._sizes.sum())
        self._most, self._read, self._joined = seconds * STATES_PER_SECOND, read, joined

    def drawn(self, rng: np.random.Generator) -> B:
        middle = min(int(np.searchsorted(self._share, rng.random())), len(self._paths) - 1)
        low = int(np.searchsorted(self._sizes, self._sizes[middle] / ALIKE))
        high = int(np.searchsorted(self._sizes, self._sizes[middle] * ALIKE, side="right"))
        found = [self._read(self._paths[middle])]
        longest = len(found[0].inputs)
        while True:
            one = self._read(self._paths[int(rng.integers(low, high))])
            longest = max(longest, len(one.inputs))
            if (len(found) + 1) * longest > self._most:
                return self._joined(found)
            found.append(one)


class WindowBatches(AlikeBatches[Window, Batch]):
    """An epoch of batches of windows of word states.

    The windows are those of :mod:`voicenym.training.content.word_codes.word_state_dataset`.

    Args:
        paths, seconds, count, seed: as of :class:`AlikeBatches`.
        places: of tokens, as :func:`batch` needs them.
        speakers: number of each window's speaker; -1 for those that are not here.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        seconds: float,
        count: int,
        places: torch.Tensor,
        seed: int,
        speakers: Mapping[Path, int] | None = None,
    ) -> None:
        self._speakers = speakers or {}
        super().__init__(paths, seconds, count, seed, self._kept, partial(batch, places=places))

    def _kept(self, path: Path) -> Window:
        return kept(path, self._speakers.get(path, -1))


class SingleWindows(torch.utils.data.Dataset[B], Generic[W, B]):
    """Windows to watch by, one to a batch.

    Args:
        paths, read, joined: as of :class:`AlikeBatches`.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        read: Callable[[Path], W],
        joined: Callable[[Sequence[W]], B],
    ) -> None:
        self._paths, self._read, self._joined = list(paths), read, joined

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> B:
        return self._joined([self._read(self._paths[index])])


class ValidationWindows(SingleWindows[Window, Batch]):
    """Windows of the training of word codes to watch by."""

    def __init__(self, paths: Sequence[Path], places: torch.Tensor) -> None:
        super().__init__(paths, kept, partial(batch, places=places))


def texts(windows: Sequence[HasText], places: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens of windows for the decoder, and the next ones, as of :class:`Batch`.

    Args:
        windows: of the cache.
        places: of each token among those that scores are made for.
    """
    tokens, _ = padded([torch.from_numpy(w.tokens[:-1]).long() for w in windows])
    wanted = torch.full(tokens.shape, -100)
    for row, window in enumerate(windows):
        # the first piece of the text is asked for by the last of the prefix
        first = window.prefix - 1
        wanted[row, first : len(window.tokens) - 1] = places[
            torch.from_numpy(window.tokens[window.prefix :]).long()
        ]
    return tokens, wanted


def tokens_of(paths: Sequence[Path]) -> torch.Tensor:
    """Numbers of the tokens in the texts of windows, sorted: what scores are made for in training,
    which is a fifth of the work of making them for all.
    """
    found: set[int] = set()
    for path in paths:
        found.update(text_of(path).tolist())
    return torch.tensor(sorted(found))
