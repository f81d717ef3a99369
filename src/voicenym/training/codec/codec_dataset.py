"""Dataset of the codec: two segments of an utterance, its speaker, and a teacher's labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from voicenym.training.codec.codec_losses import NO_LABEL, Teacher
from voicenym.training.content.units.train_units import identity, keep
from voicenym.training.speech.epoch_sampling import LongCrops
from voicenym.training.speech.speech_cache import Utterance


@dataclass(frozen=True)
class LabelledUtterance:
    """An utterance with the labels of a teacher.

    Args:
        utterance: its samples.
        labels: a ``.npy`` of tokens ``[frame]`` or posteriors ``[frame, class]``; None without a
            teacher.
    """

    utterance: Utterance
    labels: Path | None


class Segments(NamedTuple):
    """A crop.

    Args:
        samples: ``[time]``, from a frame's beginning.
        other: ``[time]``, from a random position in the utterance.
        labels: ``[frame]`` or ``[frame, class]``.
        speaker: by number.
    """

    samples: torch.Tensor
    other: torch.Tensor
    labels: torch.Tensor
    speaker: torch.Tensor


def labelled(
    utterances: Sequence[Utterance],
    teacher: Teacher | None,
    folder: Path,
    say: Callable[[str], None] = lambda text: None,
) -> list[LabelledUtterance]:
    """Labels of utterances by a teacher; labels in the cache are not computed again.

    Args:
        utterances: of any length.
        teacher: None for none.
        folder: of the cached labels, under the teacher's source.
        say: receives lines of progress.

    Raises:
        VoicenymError: the labels cannot be stored.
    """
    if teacher is None:
        return [LabelledUtterance(utterance, None) for utterance in utterances]
    place = folder / identity(teacher.source)
    made = []
    for done, utterance in enumerate(utterances):
        path = place / f"{utterance.path.stem}.npy"
        if not path.is_file():
            labels = teacher(torch.from_numpy(utterance.samples()))
            keep(path, labels.astype(np.float16 if labels.ndim == 2 else np.int32))
        made.append(LabelledUtterance(utterance, path))
        if (done + 1) % 500 == 0:
            say(f"{done + 1} of {len(utterances)} recordings labelled by the teacher")
    return made


class CodecCrops(LongCrops[LabelledUtterance, Segments]):
    """An epoch of crops; an utterance is drawn in proportion to its length.

    Args:
        items: utterances; those shorter than a crop are left out.
        seconds: length of a crop, which is a whole number of frames.
        hop: samples of a frame.
        count: crops in an epoch.
        seed: of the draws.

    Raises:
        CorpusError: no utterance is long enough.
    """

    def __init__(
        self, items: Sequence[LabelledUtterance], seconds: float, hop: int, count: int, seed: int
    ) -> None:
        self._frames = max(1, round(seconds * 16_000 / hop))
        self._hop = hop
        self._length = self._frames * hop
        super().__init__(items, _samples, self._length, seconds, count, seed)

    def drawn(self, rng: np.random.Generator) -> Segments:
        which = self.picked(rng)
        item, length = self.items[which], self._length
        first = int(rng.integers(item.utterance.length // self._hop - self._frames + 1))
        elsewhere = int(rng.integers(item.utterance.length - length + 1))
        return Segments(
            torch.from_numpy(item.utterance.samples(first * self._hop, length)),
            torch.from_numpy(item.utterance.samples(elsewhere, length)),
            self._labels(item, first),
            torch.tensor(self.labels[which]),
        )

    def _labels(self, item: LabelledUtterance, first: int) -> torch.Tensor:
        if item.labels is None:
            return torch.full((self._frames,), NO_LABEL)
        labels = np.load(item.labels, mmap_mode="r", allow_pickle=False)[
            first : first + self._frames
        ]
        missing = self._frames - len(labels)
        if labels.ndim == 2:
            return torch.from_numpy(np.pad(labels.astype(np.float32), ((0, missing), (0, 0))))
        kept = np.pad(labels.astype(np.int64), (0, missing), constant_values=NO_LABEL)
        return torch.from_numpy(kept)


def _samples(item: LabelledUtterance) -> int:
    return item.utterance.length
