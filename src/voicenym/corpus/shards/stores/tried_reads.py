"""Reads of an object of a store, each tried again after errors that pass."""

from __future__ import annotations

import io
from typing import Any, BinaryIO, cast

from voicenym.corpus.shards.stores.store_calls import tried

SMALL = 512
"""Bytes of a buffer above the store's own, which is one of blocks."""


def tried_again(location: str, opened: BinaryIO) -> BinaryIO:
    """A file whose reads are tried again.

    Args:
        location: URL, for messages.
        opened: file of the object.
    """
    return cast(BinaryIO, io.BufferedReader(_TriedReads(location, opened), SMALL))


class _TriedReads(io.RawIOBase):
    def __init__(self, location: str, opened: BinaryIO) -> None:
        self._location, self._opened = location, opened

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._opened.seek(offset, whence)

    def tell(self) -> int:
        return self._opened.tell()

    def readinto(self, buffer: Any) -> int:
        start = self._opened.tell()

        def read() -> bytes:
            self._opened.seek(start)
            return self._opened.read(len(buffer))

        data = tried(self._location, read)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._opened.close()
        super().close()
