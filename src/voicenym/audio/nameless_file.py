"""A file object without a name: decoders that see a name open it or trust its extension."""

from __future__ import annotations

from typing import IO, Any


class Bare:
    """Wrapper with some methods of an open file, without name and ``close``."""

    def __init__(self, file: IO[bytes], *methods: str) -> None:
        for name in methods:
            if hasattr(file, name):
                setattr(self, name, getattr(file, name))


def reading(file: IO[bytes]) -> Any:
    """Methods of a file that a decoder uses."""
    return Bare(file, "read", "readinto", "seek", "tell")


def writing(file: IO[bytes]) -> Any:
    """Methods of a file that an encoder uses."""
    return Bare(file, "write", "seek", "tell")
