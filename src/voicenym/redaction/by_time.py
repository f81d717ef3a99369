"""Things that last from one time to another, found by time: a long recording has thousands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")

SLOT = 10.0
"""Seconds by which they are looked up."""


class ByTime(Generic[T]):
    """Things with a start and an end in seconds.

    Args:
        things: ``(start, end, thing)``, in any order.

    Example:
        >>> found = ByTime([(31.0, 32.0, "c"), (1.0, 2.0, "a"), (1.5, 25.0, "b")])
        >>> found.near(19.0, 21.0)
        ['b']
        >>> found.near(2.0, 35.0)
        ['c', 'a', 'b']
    """

    def __init__(self, things: Iterable[tuple[float, float, T]] = ()) -> None:
        self._things: list[T] = []
        self._slots: dict[int, list[int]] = {}
        for thing in things:
            self.add(*thing)

    def add(self, start: float, end: float, thing: T) -> None:
        """Adds a thing."""
        for slot in _slots(start, end):
            self._slots.setdefault(slot, []).append(len(self._things))
        self._things.append(thing)

    def near(self, start: float, end: float) -> list[T]:
        """All that share time with an interval, and others near it, in the order of adding."""
        numbers = {n for slot in _slots(start, end) for n in self._slots.get(slot, ())}
        return [self._things[number] for number in sorted(numbers)]


def _slots(start: float, end: float) -> range:
    return range(int(start // SLOT), int(end // SLOT) + 1)
