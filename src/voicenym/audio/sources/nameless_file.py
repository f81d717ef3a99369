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


class Written:
    """Methods of a file that an encoder uses.

    After an error of the disk, nothing more is written and no further error is raised: PyAV prints
    each error that follows another one as a traceback.

    Attributes:
        failure: the first error.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.failure: OSError | None = None

    def write(self, data: bytes) -> int:
        return self._tried(len(data), self._file.write, data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._tried(0, self._file.seek, offset, whence)

    def tell(self) -> int:
        return self._tried(0, self._file.tell)

    def _tried(self, instead: int, method: Any, *given: Any) -> int:
        if self.failure is not None:
            return instead
        try:
            return int(method(*given))
        except OSError as error:
            self.failure = error
            raise
