"""Private copies of recordings in shards and stores, for what reads a recording more than once.

Attacks, recognisers and trainings read each recording many times and at any place, so that it is
copied out of its shard once. Copies lie in a folder of mode 0700 in the folder for temporary files.
They are removed when the command ends, however it ends; after ``kill -9``, by the next such
command.
"""

from __future__ import annotations

import atexit
import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from voicenym.audio.atomic import sweep, temporary_folder, write_failed
from voicenym.temporary import folder_for_temporary_files

_open: list[ExitStack] = []


@contextmanager
def private_copies() -> Iterator[None]:
    """Context at whose end the copies that were made in it are removed."""
    with ExitStack() as stack:
        _open.append(stack)
        try:
            yield
        finally:
            _open.remove(stack)


def new_folder() -> Path:
    """A private folder that is removed at the end of the context, or of the process without one."""
    if not _open:
        stack = ExitStack()
        atexit.register(stack.close)
        _open.append(stack)
    within = folder_for_temporary_files()
    sweep(within)
    return _open[-1].enter_context(temporary_folder(within))


def stored(folder: Path, data: bytes, suffix: str) -> Path:
    """File of a recording, named by its content: programs name what they keep of it by its file.

    Args:
        folder: of :func:`new_folder`.
        data: the recording.
        suffix: of the file.

    Raises:
        AudioError: the disk is full.
    """
    path = folder / f"{hashlib.sha256(data).hexdigest()[:40]}{suffix.lower()}"
    if not path.exists():
        try:
            path.write_bytes(data)
        except OSError as error:
            raise write_failed(str(folder), error) from None
    return path
