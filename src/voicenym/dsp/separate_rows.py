"""Rows of one signal that different cores process, such as those of different revisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch


class RowsCore(Protocol):
    """What processes some of the rows; as long in total as what it gets."""

    latency: int

    def push(self, block: torch.Tensor) -> torch.Tensor: ...

    def flush(self) -> torch.Tensor: ...


class SeparateRows:
    """Cores side by side; gives the samples that all have finished.

    Args:
        cores: with the rows of the signal that each gets; every row in one of them.

    Attributes:
        latency: in samples, that of the slowest.
    """

    def __init__(self, cores: Sequence[tuple[RowsCore, Sequence[int]]]) -> None:
        self._cores = [(core, list(rows)) for core, rows in cores]
        self._waiting = [torch.zeros(len(rows), 0) for _, rows in self._cores]
        self.latency = max(core.latency for core, _ in self._cores)

    def push(self, block: torch.Tensor) -> torch.Tensor:
        return self._joined([core.push(block[rows]) for core, rows in self._cores])

    def flush(self) -> torch.Tensor:
        return self._joined([core.flush() for core, _ in self._cores])

    def _joined(self, finished: Sequence[torch.Tensor]) -> torch.Tensor:
        pairs = zip(self._waiting, finished, strict=True)
        waiting = [torch.cat([one.to(more.device), more], dim=1) for one, more in pairs]
        count = min(one.shape[1] for one in waiting)
        out = waiting[0].new_empty(sum(len(one) for one in waiting), count)
        for (_, rows), one in zip(self._cores, waiting, strict=True):
            out[rows] = one[:, :count]
        self._waiting = [one[:, count:] for one in waiting]
        return out
