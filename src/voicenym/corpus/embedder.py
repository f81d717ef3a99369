"""Embedder: transforms and embeds many recordings in parallel, with a cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import numpy as np

from voicenym.anonymizer import check_device
from voicenym.corpus.batches.engines import LOCAL, Answering, Engine
from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import STRICT, LeftOut, nothing_left, reason
from voicenym.corpus.transforms import ORIGINAL, Transform
from voicenym.corpus.workers.worker_pool import Death
from voicenym.corpus.workers.worker_process import single_threaded
from voicenym.errors import AudioError, VoicenymError
from voicenym.verification.vector_store import VectorCache
from voicenym.verification.verifier import Verifier

AT_ONCE = 32
"""Recordings in a task of a worker."""

Pairs = list[tuple[Recording, Transform]]
Work = tuple[Verifier, Pairs]
Found = np.ndarray | str
"""A vector, or the reason for its absence."""

SILENT = "the result is silent"
"""Reason of a failure that leaves nothing to attack, and to a listener the loss of all words."""


class Embedder:
    """Transforms and embeds recordings with a cache and worker processes; a context manager.

    Args:
        cache: of vectors; None for one in memory.
        workers: processes; 1 computes in this process. The vectors do not depend on it. With
            Ray, 0 means all processors of the cluster.
        progress: receives the number of recordings finished since its last call.
        left_out: receives recordings without a vector; the default raises at the first one.
        engine: of the workers, which are started when they are first needed and kept.
    """

    def __init__(
        self,
        cache: VectorCache | None = None,
        workers: int = 1,
        progress: Callable[[int], None] | None = None,
        left_out: LeftOut = STRICT,
        engine: Engine = LOCAL,
    ) -> None:
        self._cache = cache or VectorCache()
        self._workers = workers
        self._progress = progress or (lambda done: None)
        self._engine = engine
        self._pool: Answering | None = None
        self._stack = ExitStack()
        self._failed: dict[str, str] = {}
        self.left_out = left_out

    def __enter__(self) -> Embedder:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool = None
        self._stack.close()

    def __call__(
        self,
        verifier: Verifier,
        recordings: Sequence[Recording],
        transform: Transform = ORIGINAL,
    ) -> np.ndarray:
        """Vectors ``[recording, dimension]`` of transformed recordings.

        Raises:
            AudioError: a recording has no vector.
        """
        found = self.vectors_or_reasons(verifier, recordings, transform)
        bad = next((why for why in found if isinstance(why, str)), None)
        if bad is not None:
            raise AudioError(bad)
        return np.stack([np.asarray(vector) for vector in found])

    def vectors_or_reasons(
        self,
        verifier: Verifier,
        recordings: Sequence[Recording],
        transform: Transform = ORIGINAL,
    ) -> list[Found]:
        """Vector ``[dimension]`` of each recording, or the reason for its absence.

        Raises:
            VoicenymError: a failure concerns the whole run.
        """
        where = "" if verifier.device == "cpu" else f"on {verifier.device} "  # other last bits
        prefix = f"{verifier.name} {verifier.version} {where}| "
        identities: list[str] = []
        for recording in recordings:
            try:
                identities.append(prefix + transform.identity(recording))
            except Exception as error:
                identities.append(f"failed {recording.name} {transform.description}")
                self._leave(identities[-1], recording, transform, reason(error, recording.name))
        found: dict[str, Found | None] = {
            identity: self._failed.get(identity, self._cache.get(identity))
            for identity in identities
        }
        todo = {
            identity: recording
            for identity, recording in zip(identities, recordings, strict=True)
            if found[identity] is None
        }
        names = list(todo)
        blocks = [names[i : i + AT_ONCE] for i in range(0, len(names), AT_ONCE)]
        work = [(verifier, [(todo[name], transform) for name in block]) for block in blocks]
        for number, vectors in self._computed(work):
            block = blocks[number]
            pairs = list(zip(block, vectors, strict=True))
            self._cache.put((name, x) for name, x in pairs if not isinstance(x, str))
            for name, vector in pairs:
                if isinstance(vector, str):
                    self._leave(name, todo[name], transform, vector)
            found.update(pairs)
            self._progress(len(block))
        self._progress(len(identities) - len(names))
        for identity, recording in zip(identities, recordings, strict=True):
            if isinstance(why := found[identity], str):  # equal files are several recordings
                self._leave(identity, recording, transform, why)
        return [x for identity in identities if (x := found[identity]) is not None]

    def failing(
        self,
        verifier: Verifier,
        recordings: Sequence[Recording],
        transform: Transform = ORIGINAL,
    ) -> dict[str, str]:
        """Reasons by the names of recordings without a vector; the other vectors enter the cache.

        Raises:
            VoicenymError: a failure concerns the whole run.
        """
        found = self.vectors_or_reasons(verifier, recordings, transform)
        pairs = zip(recordings, found, strict=True)
        return {recording.name: why for recording, why in pairs if isinstance(why, str)}

    def kept(
        self,
        verifier: Verifier,
        recordings: Sequence[Recording],
        transform: Transform = ORIGINAL,
    ) -> tuple[np.ndarray, list[Recording]]:
        """Vectors ``[recording, dimension]``, and the recordings that have one.

        Raises:
            CorpusError: no recording has a vector.
        """
        found = self.vectors_or_reasons(verifier, recordings, transform)
        if found and all(isinstance(one, str) for one in found):
            reasons = {r.name: str(why) for r, why in zip(recordings, found, strict=True)}
            raise nothing_left(len(recordings), reasons)
        pairs = [
            (vector, recording)
            for vector, recording in zip(found, recordings, strict=True)
            if not isinstance(vector, str)
        ]
        return np.stack([vector for vector, _ in pairs]), [recording for _, recording in pairs]

    def _leave(self, identity: str, recording: Recording, transform: Transform, why: str) -> None:
        self._failed[identity] = why
        self.left_out.add(recording.name, why, transform.description)

    def _computed(self, work: list[Work]) -> Iterator[tuple[int, list[Found]]]:
        """Indices of blocks with their vectors, each block once."""
        if (self._workers <= 1 and self._engine is LOCAL) or len(work) < 2:
            yield from enumerate(map(_embed, work))
            return
        work = [(verifier, _without_key(pairs)) for verifier, pairs in work]
        deadly = []
        for number, found in enumerate(self._workers_of_engine().in_order(work)):
            if isinstance(found, Death):
                deadly.append(number)
            else:
                yield number, found
        for number in deadly:
            yield number, self._singly(work[number])

    def _workers_of_engine(self) -> Answering:
        """The pool of workers, which is started at the first call."""
        if self._pool is None:
            self._pool = self._stack.enter_context(
                self._engine.pool(self._workers, lambda task: task, single_threaded, _embed)
            )
        return self._pool

    def _singly(self, work: Work) -> list[Found]:
        """Embeds the recordings of a block that killed a worker one at a time, to find the
        cause.
        """
        verifier, pairs = work
        answers = self._workers_of_engine().in_order((verifier, [pair]) for pair in pairs)
        return [
            reason(one, recording.name) if isinstance(one, Death) else one[0]
            for (recording, _), one in zip(pairs, answers, strict=True)
        ]


def _without_key(pairs: Pairs) -> Pairs:
    """Recordings with transforms that hold their pseudonyms, and no key."""
    found = []
    for recording, transform in pairs:
        try:
            found.append((recording, transform.without_key([recording])))
        except VoicenymError:  # the worker meets it, too, and says whose it is
            found.append((recording, transform))
    return found


def _embed(work: Work) -> list[Found]:
    verifier, pairs = work
    check_device(verifier.device)  # of this node
    found: list[Found] = []
    samples: list[np.ndarray] = []
    for recording, transform in pairs:
        try:
            samples.append(_checked(transform(recording), recording))
            found.append("")
        except Exception as error:
            found.append(reason(error, recording.name))
    places = [place for place, why in enumerate(found) if not why]
    if not places:
        return found
    try:
        vectors: Sequence[Found] = list(verifier.embed(samples))
    except Exception:  # one of them fails: embed them singly
        vectors = [_one(verifier, pairs[p][0], x) for p, x in zip(places, samples, strict=True)]
    for place, vector in zip(places, vectors, strict=True):
        found[place] = vector
        if not isinstance(vector, str) and not np.isfinite(vector).all():
            found[place] = f"{pairs[place][0].place}: {verifier.name} finds no voice in it"
    return found


def _one(verifier: Verifier, recording: Recording, samples: np.ndarray) -> Found:
    try:
        vector: np.ndarray = verifier.embed([samples])[0]
    except Exception as error:
        return reason(error, recording.name)
    return vector


def _checked(samples: np.ndarray, recording: Recording) -> np.ndarray:
    if not len(samples) or not np.isfinite(samples).all():
        raise AudioError(
            f"{recording.name}: the result is empty, or has samples that are not finite"
        )
    if not samples.any():  # whose vectors may be of no direction: a score would be NaN
        raise AudioError(f"{recording.name}: {SILENT}, so that nobody can be told")
    return samples
