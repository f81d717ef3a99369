"""Rows of numbers in an unnamed file, which may exceed memory and is deleted after the training."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import TracebackType

import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.private import private_folder


class RowFile:
    """Rows ``[row, width]`` of single precision; use it as a context manager.

    Args:
        folder: determines the disk.
        width: numbers in a row.

    Raises:
        VoicenymError: the folder cannot be written; or later, the disk is full.
    """

    def __init__(self, folder: Path, width: int) -> None:
        self.width = width
        self.count = 0
        self._folder = folder
        try:
            private_folder(folder)
            # without a name: the system deletes the features if the program is killed
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        except OSError as error:
            raise self._failed(error) from None

    def _failed(self, error: OSError) -> VoicenymError:
        return VoicenymError(
            f"{self._folder}: cannot keep features here ({error.strerror}); free some space, "
            "or choose another folder"
        )

    def __enter__(self) -> RowFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, rows: torch.Tensor) -> None:
        """Append rows ``[n, width]``."""
        numbers = np.ascontiguousarray(rows.cpu().numpy(), dtype=np.float32)
        try:
            self._file.write(numbers.tobytes())
        except OSError as error:
            raise self._failed(error) from None
        self.count += len(numbers)

    def rows(self, start: int = 0, stop: int | None = None, step: int = 1) -> torch.Tensor:
        """Rows from ``start`` to ``stop``, every so many, ``[n, width]``: a copy in memory."""
        try:
            self._file.flush()
        except OSError as error:
            raise self._failed(error) from None
        shape = (self.count, self.width)
        if not self.count:
            return torch.zeros(shape)
        whole = np.memmap(self._file, dtype=np.float32, mode="r", shape=shape)
        return torch.from_numpy(np.array(whole[start:stop:step]))
