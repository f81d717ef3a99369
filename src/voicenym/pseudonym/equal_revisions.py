"""Equality of the revisions that keys and pseudonyms carry: do both mean the same voices?"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from voicenym.pseudonym.derivation import FIRST_REVISION


def latest() -> Mapping[str, int]:
    """The latest revision of every system of this release, by name."""
    # keys know no systems: the package, found at run time, does
    found: Mapping[str, int] = import_module("voicenym").revisions()
    return found


def equal(one: Mapping[str, int] | None, other: Mapping[str, int] | None) -> bool:
    """Whether two sets of revisions give the same voices in this release.

    Args:
        one, other: revisions by system; None for the latest. A system that is not named is at
            revision 1, so that ``{}`` and ``{"base": 1}`` are equal.

    Example:
        >>> equal({}, {"base": 1}), equal({}, {"base": 2}), equal(None, None)
        (True, False, True)
    """
    if one == other:
        return True
    return _later(latest() if one is None else one) == _later(latest() if other is None else other)


def _later(revisions: Mapping[str, int]) -> dict[str, int]:
    """The revisions that are not the first."""
    return {name: number for name, number in revisions.items() if number != FIRST_REVISION}
