"""Vectors of many recordings: transformed and embedded in parallel, each only once."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from voicenym import processes
from voicenym.attack.cache import VectorCache
from voicenym.attack.interface import Verifier
from voicenym.attack.transform import ORIGINAL, Transform
from voicenym.corpus.recording import Recording
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

AT_ONCE = 32
"""Recordings that a worker takes at a time."""

Work = tuple[Verifier, list[tuple[Recording, Transform]]]


def _embed(work: Work) -> np.ndarray:
    verifier, pairs = work
    return verifier.embed([transform(recording) for recording, transform in pairs])


def _start_worker() -> None:
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Embedder:
    """Embeds with a cache and worker processes; use it as a context manager.

    Args:
        cache: where vectors are looked up and kept.
        workers: processes; 1 computes here. The vectors do not depend on it.
        progress: called with the number of recordings done, as they are done.
    """

    def __init__(
        self,
        cache: VectorCache | None = None,
        workers: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self._cache = cache or VectorCache()
        self._workers = workers
        self._progress = progress or (lambda done: None)
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Embedder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=kind is None, cancel_futures=True)
            self._pool = None

    def __call__(
        self,
        verifier: Verifier,
        recordings: Sequence[Recording],
        transform: Transform = ORIGINAL,
    ) -> np.ndarray:
        """Vectors ``[recording, dimension]`` of transformed recordings."""
        prefix = f"{verifier.name} {verifier.version} | "
        identities = [prefix + transform.identity(recording) for recording in recordings]
        found = {identity: self._cache.get(identity) for identity in identities}
        todo = {
            identity: recording
            for identity, recording in zip(identities, recordings, strict=True)
            if found[identity] is None
        }
        names = list(todo)
        blocks = [names[i : i + AT_ONCE] for i in range(0, len(names), AT_ONCE)]
        work = [(verifier, [(todo[name], transform) for name in block]) for block in blocks]
        try:
            for block, vectors in zip(blocks, self._computed(work), strict=True):
                self._cache.put(zip(block, vectors, strict=True))
                found.update(zip(block, vectors, strict=True))
                self._progress(len(block))
        except BrokenProcessPool:
            self._pool = None
            raise VoicenymError(
                "a worker process died (out of memory?); run again with fewer --workers: what was "
                "done is kept"
            ) from None
        self._progress(len(identities) - len(names))
        return np.stack([np.asarray(found[identity]) for identity in identities])

    def _computed(self, work: list[Work]) -> Iterator[np.ndarray]:
        if self._workers <= 1 or len(work) < 2:
            return map(_embed, work)
        if self._pool is None:
            self._pool = processes.pool(self._workers, _start_worker)
        return self._pool.map(_embed, work)
