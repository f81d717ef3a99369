"""Systems by name: :func:`load`.

A system is a subclass of :class:`Anonymizer` that a package declares as an entry point of the group
``voicenym.systems``, this package and any other alike.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

from voicenym.anonymizer.anonymizer import Anonymizer
from voicenym.anonymizer.declaration import Declaration, NotConstantError, of_class, of_source
from voicenym.anonymizer.system_revisions import listed
from voicenym.anonymizer.wished_voice import check_wish
from voicenym.errors import UnknownSystemError, WeightsError
from voicenym.nets.names_and_paths import as_path
from voicenym.registry import OURS, Registry

T = TypeVar("T")

GROUP = "voicenym.systems"
"""The group of entry points that declares systems."""
SYSTEMS: Registry[Anonymizer] = Registry(
    "system",
    base=Anonymizer,
    group=GROUP,
    error=UnknownSystemError,
    path=as_path,
)


def _warn(name: str, why: str) -> None:
    warnings.warn(f"{name} is left out: {why}", RuntimeWarning, stacklevel=3)


def available() -> list[str]:
    """Names of all systems, in alphabetical order; imports none of them."""
    return SYSTEMS.names()


def system_class(name: str) -> type[Anonymizer]:
    """The class of a system.

    Raises:
        UnknownSystemError: no such system, or another package's that cannot be used.
    """
    cls = cast("type[Anonymizer]", SYSTEMS.get(name))
    card = getattr(cls, "card", None)
    if getattr(card, "name", None) != name:
        raise SYSTEMS.broken(name, f"a card with the name {name!r} is missing")
    if missing := sorted(getattr(cls, "__abstractmethods__", ())):
        raise SYSTEMS.broken(name, f"its method {missing[0]} is missing")
    return cls


def system_classes(
    left_out: Callable[[str, str], None] = _warn,
) -> dict[str, type[Anonymizer]]:
    """The classes of all systems by name, in alphabetical order.

    Args:
        left_out: called with the name of each system of another package that cannot be used, and
            the reason; warns unless given.
    """
    return _found(system_class, left_out)


def _found(find: Callable[[str], T], left_out: Callable[[str, str], None]) -> dict[str, T]:
    """Declarations of all systems."""
    found = {}
    for name in available():
        try:
            found[name] = find(name)
        except UnknownSystemError as error:
            left_out(name, str(error))
    return found


def declaration(name: str) -> Declaration:
    """Declaration of a system's class; imports the class only if its source does not suffice.

    Raises:
        UnknownSystemError: as :func:`system_class`.
    """
    place = SYSTEMS.place(name)
    if SYSTEMS.package(name) == OURS and place.partition(":")[0] not in sys.modules:
        with suppress(NotConstantError):
            found = of_source(place)
            if found.card.name == name:
                return found
    return of_class(system_class(name))


def declarations(
    left_out: Callable[[str, str], None] = _warn,
) -> dict[str, Declaration]:
    """Declarations of all systems by name, in alphabetical order.

    Args:
        left_out: as of :func:`system_classes`.
    """
    return _found(declaration, left_out)


def usable(left_out: Callable[[str, str], None] = lambda name, why: None) -> list[str]:
    """Names of the systems that have the weights they need, in alphabetical order.

    Args:
        left_out: called with the name of each other system, and what it lacks.

    Raises:
        VoicenymError: weights are there, and damaged or do not fit.
    """
    found = []
    for name in system_classes(left_out):
        try:
            load(name).check()
        except (WeightsError, UnknownSystemError) as error:
            left_out(name, str(error))
        else:
            found.append(name)
    return found


def revisions() -> dict[str, int]:
    """The latest revision of every system, by name."""
    return {name: found.revisions[-1] for name, found in declarations().items()}


def load(system: str, /, **parameters: Any) -> Anonymizer:
    """A system by name.

    Args:
        system: one of :func:`available`; parameters may follow it: ``name:field=value,...``.
        parameters: fields of the system, such as ``order=20`` or ``device="cuda"``.

    Raises:
        UnknownSystemError: an unknown name or parameter, a value of another type or out of range,
            or a system of another package that cannot be used.

    Example:
        >>> load("mcadams", low=0.7, high=0.9).low
        0.7
        >>> load("mcadams:low=0.7,high=0.9").low
        0.7
    """
    name, given = SYSTEMS.parse(system)
    cls, given = system_class(name), {**given, **parameters}
    revision = given.get("revision", 0)
    if revision and revision not in cls.revisions:
        raise UnknownSystemError(
            f"{name} has no revision {revision}; it has: {listed(cls.revisions)}"
        )
    made = SYSTEMS.make(name, **given)
    check_wish(made)
    if made.live and not made.works_live:
        raise UnknownSystemError(
            f"{name} does not work live with these settings: they need the whole recording; leave "
            "them out, or choose another system (voicenym systems)"
            if cls.streams
            else f"{name} does not work live: it needs the whole recording; choose word-codes, "
            "base, recast or mcadams (voicenym systems)"
        )
    return made
