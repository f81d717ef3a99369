"""What the codec learns from: two segments of an utterance, who speaks, and what a teacher says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from voicenym.errors import CorpusError, VoicenymError
from voicenym.training.codec_losses import NOBODY_SAYS, Teacher
from voicenym.training.shelf import Utterance
from voicenym.training.units import identity


@dataclass(frozen=True)
class Taught:
    """An utterance, and what a teacher says of it.

    Args:
        utterance: its samples.
        told: a ``.npy`` of tokens ``[frame]`` or posteriors ``[frame, class]``; None without a
            teacher.
    """

    utterance: Utterance
    told: Path | None


class Segments(NamedTuple):
    """A crop.

    Args:
        samples: ``[time]``, from a frame's beginning.
        other: ``[time]``, from anywhere in the utterance.
        told: ``[frame]`` or ``[frame, class]``.
        speaker: by number.
    """

    samples: torch.Tensor
    other: torch.Tensor
    told: torch.Tensor
    speaker: torch.Tensor


def taught(
    utterances: Sequence[Utterance],
    teacher: Teacher | None,
    folder: Path,
    say: Callable[[str], None] = lambda text: None,
) -> list[Taught]:
    """Let a teacher hear utterances; what it said before is not asked again.

    Args:
        utterances: of any length.
        teacher: None for none.
        folder: where what it says is kept, under the teacher's source.
        say: told how far it is.

    Raises:
        VoicenymError: it cannot be kept.
    """
    if teacher is None:
        return [Taught(utterance, None) for utterance in utterances]
    place = folder / identity(teacher.source)
    made = []
    for done, utterance in enumerate(utterances):
        path = place / f"{utterance.path.stem}.npy"
        if not path.is_file():
            said = teacher(torch.from_numpy(utterance.samples()))
            _keep(path, said.astype(np.float16 if said.ndim == 2 else np.int32))
        made.append(Taught(utterance, path))
        if (done + 1) % 500 == 0:
            say(f"{done + 1} of {len(utterances)} recordings heard by the teacher")
    return made


class CodecCrops(torch.utils.data.Dataset[Segments]):
    """An epoch of crops; an utterance is drawn in proportion to its length.

    The crop of an index depends on the seed, the epoch and the index alone.

    Args:
        takes: utterances; those shorter than a crop are left out.
        seconds: length of a crop, which is a whole number of frames.
        hop: samples of a frame.
        count: crops in an epoch.
        seed: of the draws.

    Raises:
        CorpusError: no utterance is long enough.
    """

    def __init__(
        self, takes: Sequence[Taught], seconds: float, hop: int, count: int, seed: int
    ) -> None:
        self._frames = max(1, round(seconds * 16_000 / hop))
        self._hop = hop
        self._takes = [t for t in takes if t.utterance.length >= self._frames * hop]
        if not self._takes:
            raise CorpusError(
                f"no recording is {seconds} s long; give longer ones, or take a shorter crop"
            )
        self.speakers = sorted({take.utterance.speaker for take in self._takes})
        number = {name: i for i, name in enumerate(self.speakers)}
        self._label = [number[take.utterance.speaker] for take in self._takes]
        lengths = np.array([take.utterance.length for take in self._takes], dtype=np.float64)
        self._share = np.cumsum(lengths / lengths.sum())
        self._count, self._seed, self._epoch = count, seed, 0

    def advance(self, epoch: int) -> None:
        """Go to an epoch."""
        self._epoch = epoch

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Segments:
        if not 0 <= index < self._count:
            raise IndexError(index)
        rng = np.random.default_rng((self._seed, self._epoch, index))
        which = min(int(np.searchsorted(self._share, rng.random())), len(self._takes) - 1)
        take = self._takes[which]
        length = self._frames * self._hop
        first = int(rng.integers(take.utterance.length // self._hop - self._frames + 1))
        elsewhere = int(rng.integers(take.utterance.length - length + 1))
        return Segments(
            torch.from_numpy(take.utterance.samples(first * self._hop, length)),
            torch.from_numpy(take.utterance.samples(elsewhere, length)),
            self._told(take, first),
            torch.tensor(self._label[which]),
        )

    def _told(self, take: Taught, first: int) -> torch.Tensor:
        if take.told is None:
            return torch.full((self._frames,), NOBODY_SAYS)
        said = np.load(take.told, mmap_mode="r", allow_pickle=False)[first : first + self._frames]
        missing = self._frames - len(said)
        if said.ndim == 2:
            return torch.from_numpy(np.pad(said.astype(np.float32), ((0, missing), (0, 0))))
        kept = np.pad(said.astype(np.int64), (0, missing), constant_values=NOBODY_SAYS)
        return torch.from_numpy(kept)


def _keep(path: Path, array: np.ndarray) -> None:
    partial = path.with_suffix(".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with partial.open("wb") as file:
            np.save(file, array, allow_pickle=False)
        partial.replace(path)
    except OSError as error:
        raise VoicenymError(
            f"{path.parent}: cannot keep what the teacher says ({error.strerror}); free some "
            "space, or choose another folder"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
