"""lhotse's descriptions of the recordings in an output folder, read in a process of their own.

In a folder that others can write to, an output of an earlier run may be a file that attacks what
decodes it, and a log that they wrote may call it done. The main process has the key, so that a
worker process reads the headers; if it dies, one recording is not described.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from voicenym.corpus.workers.worker_pool import Death, Pool

Task = tuple[Path, str]
"""A recording, and its new id."""


def described(tasks: Sequence[Task]) -> Iterator[Any]:
    """Lhotse's recordings of files, in the order of the tasks; None for a file that is none."""
    from lhotse import Recording

    with Pool[Task, "dict[str, Any] | None"](1, _reader) as pool:
        for answer in pool.in_order(tasks):
            known = None if isinstance(answer, Death) else answer
            yield None if known is None else Recording.from_dict(known)


def _reader() -> Callable[[Task], dict[str, Any] | None]:
    return _header


def _header(task: Task) -> dict[str, Any] | None:
    from lhotse import Recording

    path, name = task
    try:
        return dict(Recording.from_file(path, recording_id=name).to_dict())
    except Exception:  # whatever a decoder says of a file that is no recording
        return None
