"""Speech at hand for training: rendered once, kept as 16-bit samples, read piece by piece.

Training hears a recording hundreds of times; decoding it, or anonymizing it, each time would take
longer than learning from it. The files are plain speech: they lie in a folder that only its owner
can read, and are named by what they hold, so that nothing is rendered twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from voicenym import processes
from voicenym.corpus.recording import Recording
from voicenym.errors import VoicenymError
from voicenym.private import private_folder, write_private

FULL_SCALE = 32767.0


class Rendering(Protocol):
    """What a recording is turned into before anybody learns from it."""

    def identity(self, recording: Recording) -> str:
        """Names the result; equal names mean equal samples."""

    def __call__(self, recording: Recording) -> np.ndarray:
        """Samples ``[time]`` float32 at 16 kHz."""


@dataclass(frozen=True)
class Utterance:
    """One recording on the shelf.

    Args:
        recording: what it was rendered from.
        path: of its samples, 16-bit in the machine's order.
        length: in samples at 16 kHz.
    """

    recording: Recording
    path: Path
    length: int

    @property
    def speaker(self) -> str:
        return self.recording.speaker

    def samples(self, start: int = 0, length: int | None = None) -> np.ndarray:
        """``[time]`` float32 from ``start`` on, at most ``length``."""
        stop = self.length if length is None else min(self.length, start + length)
        whole = np.memmap(self.path, dtype=np.int16, mode="r", shape=(self.length,))
        return whole[start:stop].astype(np.float32) / FULL_SCALE


class Shelf:
    """Rendered recordings in a folder.

    Args:
        folder: made where there is none, for its owner alone.

    Raises:
        VoicenymError: as of :func:`voicenym.private.private_folder`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = private_folder(folder, "decoded speech")

    def fill(
        self,
        recordings: Sequence[Recording],
        rendering: Rendering,
        workers: int = 1,
        progress: Callable[[int], None] = lambda done: None,
    ) -> list[Utterance]:
        """Recordings in their order, rendered where they are not on the shelf yet.

        Args:
            recordings: what to render.
            rendering: how; pickled to the workers.
            workers: processes.
            progress: told how many more are on the shelf.

        Raises:
            VoicenymError: a recording cannot be rendered, or the disk is full.
        """
        work = [
            (recording, rendering, self._path(recording, rendering)) for recording in recordings
        ]
        missing = [item for item in work if not item[2].is_file()]
        progress(len(work) - len(missing))
        try:
            for _ in _mapped(missing, workers):
                progress(1)
        except BrokenProcessPool:
            raise VoicenymError(
                "a worker process died (out of memory?); run again with fewer --workers: what was "
                "done is kept"
            ) from None
        return [Utterance(recording, path, path.stat().st_size // 2) for recording, _, path in work]

    def _path(self, recording: Recording, rendering: Rendering) -> Path:
        name = hashlib.sha256(rendering.identity(recording).encode()).hexdigest()
        return self._folder / f"{name}.i16"


Work = tuple[Recording, Rendering, Path]


def _mapped(work: list[Work], workers: int) -> Iterator[None]:
    if workers <= 1 or len(work) < 2:
        yield from map(_render, work)
        return
    with processes.pool(workers, _start_worker) as pool:
        yield from pool.map(_render, work, chunksize=8)


def _start_worker() -> None:
    import torch

    torch.set_num_threads(1)


def _render(work: Work) -> None:
    recording, rendering, path = work
    samples = np.clip(rendering(recording), -1.0, 1.0)
    try:
        write_private(path, np.rint(samples * FULL_SCALE).astype(np.int16).tobytes())
    except OSError as error:
        raise VoicenymError(
            f"{path.parent}: cannot keep speech here ({error.strerror}); free some space, or "
            "choose another folder"
        ) from error
