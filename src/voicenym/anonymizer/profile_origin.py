"""Origin of profiles: the system, the sample rate and the rows of the first pass.

A profile of other rows or another rate fits no stream: some systems would fail within, and others
would give a channel the voice that fits another one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from voicenym.errors import AudioError


@dataclass(frozen=True)
class Origin:
    """First pass that a profile is the result of.

    Args:
        system: its name.
        rate: of the blocks, in Hz.
        rows: of the blocks.
        kind: gives :attr:`voicenym.Anonymizer.profile_kind`.
    """

    system: str
    rate: int
    rows: int
    kind: Callable[[], Hashable | None]


_origins: dict[int, tuple[weakref.ref[Any], Origin]] = {}
"""By identity of the profiles, which need not be hashable; without those that are gone."""


def remember(profile: Any, origin: Origin) -> None:
    """Remembers the origin of a profile while it is there; not of numbers, tuples and the like."""
    number = id(profile)
    try:
        reference = weakref.ref(profile, lambda gone: _origins.pop(number, None))
    except TypeError:
        return
    _origins[number] = reference, origin


def check_profile(profile: Any, wanted: Origin) -> None:
    """Refuses a profile of another system, rate or number of rows, as far as its origin is known.

    Args:
        profile: for a stream.
        wanted: what it must be of.

    Raises:
        AudioError: it does not fit.
    """
    reference, origin = _origins.get(id(profile), (None, None))
    if reference is None or origin is None or reference() is not profile:
        return
    there = f"{origin.system}.profiling({origin.rate}, {origin.rows})"
    here = f"{wanted.system}.profiling({wanted.rate}, {wanted.rows})"
    same = origin.system == wanted.system or (
        (kind := origin.kind()) is not None and kind == wanted.kind()
    )
    if not same or (origin.rate, origin.rows) != (wanted.rate, wanted.rows):
        raise AudioError(f"the profile is of {there}, and this stream needs one of {here}")


def check_type(profile: Any, wanted: type | None, system: str) -> None:
    """Refuses what is no profile of a system, whatever its origin.

    Args:
        profile: of a copy, or of whoever made it, the origin is not known.
        wanted: class of the system's profiles; None where it states none.
        system: its name.

    Raises:
        AudioError: it is of another class.
    """
    if wanted is not None and not isinstance(profile, wanted):
        raise AudioError(
            f"{system}: a {type(profile).__name__} is no profile of it; pass what "
            f"{system}.profiling(rate, channels) gives by result()"
        )
