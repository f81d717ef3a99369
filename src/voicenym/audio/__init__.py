"""Reading and writing of audio in any container, without metadata, atomically.

>>> from voicenym.audio import open_reader, open_writer

:func:`read` and :func:`write` hold a recording in memory; :func:`open_reader` and
:func:`open_writer` process it block by block. Readers and writers are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from voicenym.audio.types import Audio, Format

if TYPE_CHECKING:
    from voicenym.audio.in_memory import read, write
    from voicenym.audio.reader import Reader, open_reader
    from voicenym.audio.writer import Writer, open_writer

_FACE = {
    "Reader": "voicenym.audio.reader",
    "open_reader": "voicenym.audio.reader",
    "Writer": "voicenym.audio.writer",
    "open_writer": "voicenym.audio.writer",
    "read": "voicenym.audio.in_memory",
    "write": "voicenym.audio.in_memory",
}

__all__ = ["Audio", "Format", "Reader", "Writer", "open_reader", "open_writer", "read", "write"]


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module 'voicenym.audio' has no attribute {name!r}")
    return getattr(import_module(_FACE[name]), name)
