"""Phone segments and the two-state phone inventory: two states per phone, and silence.

A frame lies in the first or the second half of a phone; in a stop, these are closure and burst. A
phone of a single frame has its first half only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

SILENCE = "SIL"
QUIET = 0
"""The state of silence."""


class Phone(NamedTuple):
    """Phone segment, or :data:`SILENCE`, from ``start`` to ``end`` in seconds."""

    name: str
    start: float
    end: float


@dataclass(frozen=True)
class States:
    """State inventory: 0 is silence, ``2 n + 1`` and ``2 n + 2`` are the n-th phone's.

    Args:
        phones: their names, silence not among them.

    Example:
        >>> states = States(("AA", "B"))
        >>> states.first("B"), len(states)
        (3, 5)
        >>> states.phones_of([0, 3, 4, 4, 1, 1, 0, 3, 3])
        ['B', 'AA', 'B']
    """

    phones: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "phones", tuple(self.phones))
        if len(set(self.phones)) != len(self.phones) or SILENCE in self.phones or not self.phones:
            raise ValueError(f"states need phones, none of them twice, {SILENCE} not among them")

    def __len__(self) -> int:
        """Number of states."""
        return 2 * len(self.phones) + 1

    def first(self, phone: str) -> int:
        """State of the first half of a phone; that of the second half is the next.

        Raises:
            KeyError: no such phone.
        """
        try:
            return 2 * self.phones.index(phone) + 1
        except ValueError:
            raise KeyError(phone) from None

    def labels(self, phones: Iterable[Phone], count: int, frame: float) -> np.ndarray:
        """State labels of ``count`` frames, ``[frame]``; the k-th is at ``k * frame`` seconds.

        Frames without a phone are silence, and so are unknown phones.
        """
        found = np.full(count, QUIET, dtype=np.int64)
        for name, start, end in phones:
            if name not in self.phones:
                continue
            first = max(0, int(np.ceil(start / frame)))
            last = min(count, int(np.ceil(end / frame)))
            middle = first + (last - first + 1) // 2
            found[first:middle] = self.first(name)
            found[middle:last] = self.first(name) + 1
        return found

    def phones_of(self, states: Sequence[int] | np.ndarray) -> list[str]:
        """Phones of a path of states: one begins at each first half."""
        found: list[str] = []
        before = QUIET
        for state, _ in groupby(int(state) for state in states):
            later = state != QUIET and state % 2 == 0
            if state != QUIET and not (later and before == state - 1):
                found.append(self.phones[(state - 1) // 2])
            before = state
        return found
