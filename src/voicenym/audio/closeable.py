"""Base class of readers and writers: leaving their context closes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """A context manager that is closed, or aborted where an exception ends it."""

    @abstractmethod
    def close(self) -> None:
        """End well."""

    def abort(self) -> None:
        """End after a failure."""
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()
