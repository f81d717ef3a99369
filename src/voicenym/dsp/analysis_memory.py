"""Memory of analyses of signals, so that one recording under many keys is analysed once.

Poles, envelopes, pitch tracks and averages do not depend on a key. Attackers who try keys, or train
on speech under several keys, process the same recordings again and again. Nothing is remembered
unless :func:`keeping_analyses` says so: recordings of users leave no trace in a process.
"""

from __future__ import annotations

import dataclasses
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import torch

MOST_BYTES = 256 << 20

Value = TypeVar("Value")


class AnalysisMemory:
    """Analyses by a digest of the samples; beyond ``most`` bytes the oldest are dropped.

    Args:
        most: bytes of all tensors in it.

    Attributes:
        bytes: of the tensors in it now.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self.bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._known)

    def of(self, name: Hashable, analyse: Callable[[], Any]) -> Any:
        """What is known under a name; it is computed unless it is there."""
        with self._lock:
            if name in self._known:
                self._known.move_to_end(name)
                return self._known[name][0]
        found = analyse()
        size = bytes_of(found)
        with self._lock:
            if name not in self._known:  # another thread may have been faster
                self._known[name] = found, size
                self.bytes += size
            while self.bytes > self._most:
                _, (_, dropped) = self._known.popitem(last=False)
                self.bytes -= dropped
        return found


_MEMORY: ContextVar[AnalysisMemory | None] = ContextVar("analysis memory", default=None)
_ANEW: ContextVar[bool] = ContextVar("no analysis memory counts", default=False)


@contextmanager
def keeping_analyses(memory: AnalysisMemory | None) -> Iterator[None]:
    """Analyses are kept in ``memory``, and found there; with None, none is kept or found."""
    before = _MEMORY.set(memory)
    try:
        yield
    finally:
        _MEMORY.reset(before)


@contextmanager
def analysing_anew() -> Iterator[None]:
    """No memory counts, whoever keeps one: for measurements of speed."""
    before = _ANEW.set(True)
    try:
        yield
    finally:
        _ANEW.reset(before)


def counts() -> bool:
    """Whether what was computed before may be used: not where speed is measured."""
    return not _ANEW.get()


def analysed(signal: torch.Tensor, kind: Hashable, analyse: Callable[[], Value]) -> Value:
    """An analysis of a signal, from memory if there is one.

    Args:
        signal: all samples that the analysis depends on.
        kind: what else it depends on: its name and its parameters.
        analyse: computes it. Nobody changes the result.
    """
    memory = _MEMORY.get()
    if memory is None or _ANEW.get():
        return analyse()
    data = signal.detach().contiguous().cpu().numpy()
    digest = hashlib.blake2b(data.tobytes(), digest_size=20).digest()
    found: Value = memory.of((kind, tuple(signal.shape), digest), analyse)
    return found


def bytes_of(value: Any) -> int:
    """Bytes of all tensors in a value, in tuples, lists, dataclasses and attributes."""
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    own = 0
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = sum(bytes_of(getattr(value, one.name)) for one in dataclasses.fields(value))
    elif hasattr(value, "__dict__"):
        own = sum(map(bytes_of, vars(value).values()))
    if isinstance(value, (tuple, list)):
        own += sum(map(bytes_of, value))
    return own
