"""Cache of decoded or anonymized speech for training, as 16-bit samples in files.

Training reads a recording hundreds of times; decoding or anonymizing it each time would take longer
than the training itself. The files contain speech: only their owner can read their folder. Their
names are digests of recording and rendering, so that nothing is rendered twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from voicenym.corpus.recording import RATE, SHORTEST, Recording
from voicenym.corpus.skipped import STRICT, LeftOut, nothing_left, reason
from voicenym.corpus.workers.worker_pool import Death, Pool
from voicenym.errors import AudioError, VoicenymError
from voicenym.private import private_folder, write_private

FULL_SCALE = 32767.0


class Rendering(Protocol):
    """A function from a recording to samples."""

    def identity(self, recording: Recording) -> str:
        """Names the result; equal names mean equal samples."""

    def __call__(self, recording: Recording) -> np.ndarray:
        """Samples ``[time]`` float32 at 16 kHz."""


@dataclass(frozen=True)
class Utterance:
    """A recording in the speech cache.

    Args:
        recording: source of the rendering.
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


class SpeechCache:
    """Rendered recordings in a folder.

    Args:
        folder: created if missing, readable by its owner alone.

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
        left_out: LeftOut = STRICT,
    ) -> list[Utterance]:
        """The utterances of :meth:`in_places` without those that cannot be rendered."""
        found = self.in_places(recordings, rendering, workers, progress, left_out)
        return [utterance for utterance in found if utterance is not None]

    def in_places(
        self,
        recordings: Sequence[Recording],
        rendering: Rendering,
        workers: int = 1,
        progress: Callable[[int], None] = lambda done: None,
        left_out: LeftOut = STRICT,
    ) -> list[Utterance | None]:
        """Utterance of each recording, rendered unless the cache has it; None if that fails.

        Args:
            recordings: to render.
            rendering: pickled to the workers.
            workers: processes.
            progress: receives the number of further recordings in the speech cache.
            left_out: collects recordings that cannot be rendered; the default raises at the first
                one.

        Raises:
            VoicenymError: no recording can be rendered, or the disk is full.
        """
        failed: dict[str, str] = {}

        def leave(recording: Recording, why: str) -> None:
            failed[recording.name] = why
            left_out.add(recording.name, why, step_of(rendering))

        work = []
        paths: list[Path | None] = [None] * len(recordings)
        for place, recording in enumerate(recordings):
            try:
                paths[place] = path = self._path(recording, rendering)
                work.append((recording, rendering, path))
            except Exception as error:
                leave(recording, reason(error, recording.name))
        missing = [item for item in work if not item[2].is_file()]
        progress(len(work) - len(missing))
        for (recording, _, _), why in zip(missing, _mapped(missing, workers), strict=True):
            if why is not None:
                leave(recording, why)
            progress(1)
        if failed and not any(path.is_file() for _, _, path in work):
            raise nothing_left(len(recordings), failed)
        return [
            Utterance(recording, path, path.stat().st_size // 2)
            if path is not None and path.is_file()
            else None
            for recording, path in zip(recordings, paths, strict=True)
        ]

    def _path(self, recording: Recording, rendering: Rendering) -> Path:
        name = hashlib.sha256(rendering.identity(recording).encode()).hexdigest()
        return self._folder / f"{name}.i16"


Work = tuple[Recording, Rendering, Path]


def step_of(rendering: Rendering) -> str:
    """Name of a rendering in the list of recordings left out; empty if it only reads."""
    return str(getattr(rendering, "description", ""))


def _mapped(work: list[Work], workers: int) -> Iterator[str | None]:
    """Reason why each recording was not rendered; None for success."""
    if workers <= 1 or len(work) < 2:
        yield from map(_render, work)
        return
    with Pool.of(_render, workers) as pool:
        for (recording, _, _), why in zip(work, pool.in_order(work), strict=True):
            yield reason(why, recording.name) if isinstance(why, Death) else why


def _render(work: Work) -> str | None:
    recording, rendering, path = work
    try:
        samples = rendered(recording, rendering)
    except Exception as error:
        return reason(error, recording.name)
    try:
        write_private(path, np.rint(samples * FULL_SCALE).astype(np.int16).tobytes())
    except OSError as error:
        raise VoicenymError(
            f"{path.parent}: cannot keep speech here ({error.strerror}); free some space, or "
            "choose another folder"
        ) from error
    return None


def rendered(recording: Recording, rendering: Rendering) -> np.ndarray:
    """Samples for training, ``[time]`` float32 in [-1, 1].

    Raises:
        AudioError: the result is too short, or not audio.
    """
    samples = np.asarray(rendering(recording))
    if len(samples) < SHORTEST * RATE:
        raise AudioError(f"{recording.name}: the result is shorter than {SHORTEST:g} s")
    if not np.isfinite(samples).all():
        raise AudioError(f"{recording.name}: the result has samples that are not finite")
    return np.clip(samples, -1.0, 1.0)
